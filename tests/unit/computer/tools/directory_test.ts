import { assertEquals } from "@std/assert";
import { viewTools } from "../../../../src/computer/tools/directory.ts";
import { serverTools } from "./_server_tools.ts";

// proves: data-meta-empty, data-smcp-tool
Deno.test("a tool without configured metadata is listed as the specification's first scenario", () => {
  const hello = {
    name: "hello",
    description: "Say hello to someone.",
    inputSchema: {
      properties: { name: { default: "World", title: "Name", type: "string" } },
      title: "helloArguments",
      type: "object",
    },
    outputSchema: {
      properties: { result: { title: "Result", type: "string" } },
      required: ["result"],
      title: "helloOutput",
      type: "object",
    },
  };
  const [tool] = viewTools([serverTools("s", [hello], { default_tool_meta: null })]).tools;
  const expected = {
    name: "hello",
    description: "Say hello to someone.",
    params_schema: hello.inputSchema,
    return_schema: hello.outputSchema,
    meta: {},
  };
  assertEquals(JSON.stringify(tool), JSON.stringify(expected));
});

// proves: data-meta-a2c, data-meta-nulls, data-tags
Deno.test("a tool with default metadata is listed as the specification's second scenario", () => {
  const config = { default_tool_meta: { tags: ["browser"], auto_apply: true } };
  const [tool] = viewTools([serverTools("s", ["browser_navigate"], config)]).tools;
  const meta = String(tool?.meta?.["a2c_tool_meta"]);
  assertEquals(JSON.parse(meta), {
    auto_apply: true,
    alias: null,
    tags: ["browser"],
    ret_object_mapper: null,
  });
  assertEquals(Object.keys(JSON.parse(meta)), ["auto_apply", "alias", "tags", "ret_object_mapper"]);
  assertEquals(tool?.return_schema, null);
});

// proves: data-meta-flat, data-meta-native, data-meta-annotation, data-attribute-value
Deno.test("metadata of the MCP server is flattened, without its own value for a2c_tool_meta", () => {
  const tool = {
    name: "t",
    annotations: { title: "T" },
    icons: [{ src: "https://x/i.png" }],
    execution: { taskSupport: "optional" },
    _meta: {
      text: "x",
      number: 1.5,
      yes: true,
      nested: { a: [null] },
      list: ["a"],
      nothing: null,
      a2c_tool_meta: "forged",
    },
  };
  const [listed] = viewTools([serverTools("s", [tool])]).tools;
  assertEquals(listed?.meta, {
    text: "x",
    number: 1.5,
    yes: true,
    nested: '{"a":[null]}',
    list: '["a"]',
    MCP_TOOL_ANNOTATION: '{"title":"T"}',
    MCP_TOOL_TITLE: "T",
    MCP_TOOL_ICONS: '[{"src":"https://x/i.png"}]',
    MCP_TOOL_EXECUTION: '{"taskSupport":"optional"}',
  });
});

Deno.test("metadata may have keys such as __proto__", () => {
  const meta = JSON.parse('{"__proto__": {"polluted": true}, "constructor": "x"}');
  const [tool] = viewTools([serverTools("s", [{ name: "t", _meta: meta }])]).tools;
  assertEquals(Object.keys(tool?.meta ?? {}).toSorted(), ["__proto__", "constructor"]);
  assertEquals(({} as Record<string, unknown>)["polluted"], undefined);
});
