import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { parseConfig } from "../../../../src/config/config.ts";
import {
  buildToolDirectory,
  mergeToolMeta,
  otherNamesOf,
  type ServerTools,
} from "../../../../src/computer/tools/directory.ts";
import { readTool } from "../../../../src/mcp/entries.ts";

/** What a server contributes: its tools by name or as `tools/list` has them. */
function server(
  name: string,
  tools: readonly (string | Record<string, unknown>)[],
  config: Record<string, unknown> = {},
  isListed = true,
): ServerTools {
  const entry = { type: "stdio", server_parameters: { command: "x" }, ...config, name };
  const [parsed] = parseConfig({ servers: [entry] }).servers;
  if (parsed === undefined) throw new TypeError("no server");
  const entries = tools.map((tool) =>
    typeof tool === "string" ? { name: tool, inputSchema: { type: "object" } } : tool
  );
  return {
    config: parsed,
    tools: entries.map((tool) => readTool(tool, () => {})).filter((tool) => tool !== undefined),
    isListed,
  };
}

function names(...servers: ServerTools[]): string[] {
  return buildToolDirectory(servers).tools.map(({ name }) => name);
}

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
  const [tool] = buildToolDirectory([server("s", [hello], { default_tool_meta: null })]).tools;
  const expected = {
    name: "hello",
    description: "Say hello to someone.",
    params_schema: hello.inputSchema,
    return_schema: hello.outputSchema,
    meta: { a2c_mcp_server: "s" },
  };
  assertEquals(JSON.stringify(tool), JSON.stringify(expected));
});

// proves: data-meta-a2c, data-meta-nulls, data-tags
Deno.test("a tool with default metadata is listed as the specification's second scenario", () => {
  const config = { default_tool_meta: { tags: ["browser"], auto_apply: true } };
  const [tool] = buildToolDirectory([server("s", ["browser_navigate"], config)]).tools;
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

// proves: data-config-tool-meta, data-config-default-meta, data-ret-object-mapper
Deno.test("a tool's own metadata goes over the default key by key, and null does not override", () => {
  const { config } = server("s", [], {
    default_tool_meta: { auto_apply: true, tags: ["a"], ret_object_mapper: { x: "y" }, own: 1 },
    tool_meta: { t: { auto_apply: null, tags: ["b"], alias: "u" }, off: { auto_apply: false } },
  });
  const shared = { ret_object_mapper: { x: "y" }, own: 1 } as const;
  assertEquals(mergeToolMeta(config, "t"), { auto_apply: true, alias: "u", tags: ["b"], ...shared });
  assertEquals(mergeToolMeta(config, "off"), { auto_apply: false, alias: null, tags: ["a"], ...shared });
  assertEquals(mergeToolMeta(config, "other"), { auto_apply: true, alias: null, tags: ["a"], ...shared });
  assertEquals(mergeToolMeta(server("s", []).config, "t"), undefined);
});

// proves: data-meta-flat, data-meta-native, data-meta-annotation, data-attribute-value
Deno.test("the server's own metadata is kept flat, and what it writes under our key is not", () => {
  const tool = {
    name: "t",
    annotations: { title: "T" },
    icons: [{ src: "https://x/i.png" }],
    _meta: {
      text: "x",
      number: 1.5,
      yes: true,
      nested: { a: [null] },
      list: ["a"],
      nothing: null,
      a2c_tool_meta: "forged",
      a2c_mcp_server: "forged",
    },
  };
  const [listed] = buildToolDirectory([server("s", [tool])]).tools;
  assertEquals(listed?.meta, {
    text: "x",
    number: 1.5,
    yes: true,
    nested: '{"a":[null]}',
    list: '["a"]',
    MCP_TOOL_ANNOTATION: '{"title":"T"}',
    MCP_TOOL_TITLE: "T",
    MCP_TOOL_ICONS: '[{"src":"https://x/i.png"}]',
    a2c_mcp_server: "s",
  });
});

// proves: data-alias
Deno.test("an alias replaces the listed and the callable name", () => {
  const { tools, routes } = buildToolDirectory([
    server("s", ["old"], { tool_meta: { old: { alias: "new" } } }),
  ]);
  assertEquals(tools.map(({ name }) => name), ["new"]);
  assertEquals(routes.get("new")?.tool, "old");
  assertEquals(routes.get("old"), undefined);
});

Deno.test("an alias that is another name or alias of the same server is ignored with a warning", () => {
  const aliases = {
    tool_meta: { a: { alias: "b" }, c: { alias: "d" }, e: { alias: "d" }, f: { alias: "f" } },
  };
  const { tools, warnings } = buildToolDirectory([server("s", ["a", "b", "c", "e", "f"], aliases)]);
  assertEquals(tools.map(({ name }) => name), ["a", "b", "d", "e", "f"]);
  assertEquals(warnings.length, 2);
  assert(warnings[0]?.includes('alias "b" of tool "a"'));
});

// proves: data-config-forbidden
Deno.test("a forbidden tool is neither listed nor callable, and leaves its name to others", () => {
  const config = { forbidden_tools: ["rm"], tool_meta: { rm: { alias: "delete" } } };
  const { tools, routes, forbidden } = buildToolDirectory([
    server("s", ["rm", "ls"], config),
    server("t", ["rm"]),
  ]);
  assertEquals(tools.map(({ name }) => name), ["ls", "rm"]);
  assertEquals([routes.get("delete"), routes.get("rm")?.server], [undefined, "t"]);
  assertEquals([...forbidden], ["delete"]);
});

// proves: data-alias-conflict
Deno.test("where tools are allowed by name, all others are forbidden, and a forbidden one stays so", () => {
  const tools = ["read", "read_all", "list_files", "list", "delete"];
  const listed = (allowed_tools: unknown, forbidden_tools: string[] = []) =>
    names(server("s", tools, { allowed_tools, forbidden_tools }));
  assertEquals(listed(["read", "list_*", "absent"]), ["read", "list_files"]);
  assertEquals(listed(["read*", "*e*"], ["read_all"]), ["read", "list_files", "delete"]);
  assertEquals([listed([]), listed(null), listed(["*"])], [[], tools, tools]);
  const { forbidden } = buildToolDirectory([
    server("s", tools, { allowed_tools: ["l*s*s", "lis*ist"] }),
  ]);
  assertEquals([...forbidden], ["read", "read_all", "list", "delete"]);
});

Deno.test("of two servers with one tool name the later one is listed with its name in front, with a warning", () => {
  const { tools, routes, warnings } = buildToolDirectory([server("a", ["x"]), server("b", ["x", "y"])]);
  assertEquals(tools.map(({ name }) => name), ["x", "b__x", "y"]);
  const { server: owner, tool } = routes.get("b__x") ?? {};
  assertEquals([routes.get("x")?.server, owner, tool], ["a", "b", "x"]);
  assertEquals(warnings, [
    'server "b": tools are listed by other names, since earlier servers have theirs: "x" as "b__x"',
  ]);
});

Deno.test("a server that lists what another one lists is one warning, however many tools these are", () => {
  const tools = ["a", "b", "c", "d", "e", "f", "g"];
  const { warnings } = buildToolDirectory([server("s", tools), server("t", tools)]);
  assertEquals(warnings.length, 1);
  assertStringIncludes(warnings[0] ?? "", '"a" as "t__a", "b" as "t__b"');
  assertStringIncludes(warnings[0] ?? "", "and 2 more");
});

Deno.test("a tool is found by its own name and by its server's name in front, where it is listed by another", () => {
  const aliases = { tool_meta: { old: { alias: "new" } } };
  const directory = buildToolDirectory([server("a", ["x", "old"], aliases), server("b", ["x"])]);
  const found = ["a__x", "old", "a__old", "a__new", "b__new", "x__a"].map((name) =>
    otherNamesOf(name, directory)
  );
  assertEquals(found, [["x"], ["new"], ["new"], ["new"], [], []]);
  const stopped = buildToolDirectory([server("a", ["x"], {}, false), server("b", ["x"])]);
  assertEquals(otherNamesOf("x", stopped), ["b__x"]);
});

Deno.test("a tool whose name is taken in both forms is left out with a warning", () => {
  const { tools, warnings } = buildToolDirectory([server("a", ["x", "b__x"]), server("b", ["x"])]);
  assertEquals([tools.map(({ name }) => name), warnings.length], [["x", "b__x"], 1]);
});

Deno.test("a tool that one server lists twice is listed once, with a warning", () => {
  const { tools, warnings } = buildToolDirectory([server("a", ["x", "x"])]);
  assertEquals([tools.map(({ name }) => name), warnings.length], [["x"], 1]);
});

Deno.test("a server that is failed or stopped shows no tools and keeps its names", () => {
  assertEquals(names(server("a", ["x"], {}, false), server("b", ["x"])), ["b__x"]);
});

Deno.test("a tool with the name of a member of every object has the metadata that is configured, and no other", () => {
  const odd = ["__proto__", "constructor", "toString"];
  const { tools } = buildToolDirectory([server("s", odd)]);
  assertEquals(
    tools.map(({ name, meta }) => [name, meta]),
    odd.map((name) => [name, { a2c_mcp_server: "s" }]),
  );
  const config = { tool_meta: { constructor: { alias: "build" } } };
  assertEquals(names(server("s", odd, config)), ["__proto__", "build", "toString"]);
});

Deno.test("metadata with odd keys harms nothing", () => {
  const meta = JSON.parse('{"__proto__": {"polluted": true}, "constructor": "x"}');
  const [tool] = buildToolDirectory([server("s", [{ name: "t", _meta: meta }])]).tools;
  assertEquals(Object.keys(tool?.meta ?? {}).toSorted(), ["__proto__", "a2c_mcp_server", "constructor"]);
  assertEquals(({} as Record<string, unknown>)["polluted"], undefined);
});

Deno.test("a route carries the tool as it was listed and the server's VRL script, of which a blank one is none", () => {
  const listed = server("a", ["x"], { vrl: ".a = 1" });
  const route = buildToolDirectory([listed]).routes.get("x");
  assertEquals([route?.definition === listed.tools[0], route?.vrl], [true, ".a = 1"]);
  assertEquals(buildToolDirectory([server("a", ["x"], { vrl: " \n" })]).routes.get("x")?.vrl, undefined);
});
