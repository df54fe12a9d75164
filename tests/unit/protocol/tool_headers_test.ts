import { assertEquals, assertMatch } from "@std/assert";
import fc from "../../fixtures/fast_check.ts";
import { readTool } from "../../../src/mcp/entries.ts";
import {
  decodeHeaderValue,
  readHeaderParameters,
  ToolHeaders,
  toParameterHeaders,
} from "../../../src/protocol/tool_headers.ts";

/** The header of a text. */
function headerOf(text: string): string | undefined {
  return toParameterHeaders([{ path: ["a"], name: "A" }], { a: text })["Mcp-Param-A"];
}

Deno.test("marked parameters of any depth are found, under the name of their header", () => {
  const inputSchema = {
    type: "object",
    properties: {
      region: { type: "string", "x-mcp-header": "Region" },
      query: { type: "string" },
      options: { type: "object", properties: { dry: { type: "boolean", "x-mcp-header": "Dry-Run" } } },
    },
  };
  const found = readHeaderParameters(inputSchema);
  assertEquals("parameters" in found && found.parameters.toSorted((a, b) => a.name < b.name ? -1 : 1), [
    { path: ["options", "dry"], name: "Dry-Run" },
    { path: ["region"], name: "Region" },
  ]);
});

for (
  const [what, properties] of Object.entries({
    "an empty name": { a: { type: "string", "x-mcp-header": "" } },
    "a name with a space": { a: { type: "string", "x-mcp-header": "My Region" } },
    "a name with a colon": { a: { type: "string", "x-mcp-header": "Region:Primary" } },
    "a name beyond ASCII": { a: { type: "string", "x-mcp-header": "Région" } },
    "a name with a line break": { a: { type: "string", "x-mcp-header": "A\r\nB" } },
    "a name that is no text": { a: { type: "string", "x-mcp-header": 1 } },
    "a number": { a: { type: "number", "x-mcp-header": "A" } },
    "an object": { a: { type: "object", "x-mcp-header": "A" } },
    "a list": { a: { type: "array", "x-mcp-header": "A" } },
    "null": { a: { type: "null", "x-mcp-header": "A" } },
    "no type": { a: { "x-mcp-header": "A" } },
    "one header twice": {
      a: { type: "string", "x-mcp-header": "A" },
      b: { type: "string", "x-mcp-header": "a" },
    },
    "an item of a list": { a: { type: "array", items: { type: "string", "x-mcp-header": "A" } } },
    "a choice": { a: { anyOf: [{ type: "string", "x-mcp-header": "A" }] } },
    "a definition": { a: { $defs: { b: { properties: { c: { type: "string", "x-mcp-header": "A" } } } } } },
  })
) {
  Deno.test(`a tool is left out that marks ${what}`, () => {
    const warnings: string[] = [];
    const headers = new ToolHeaders();
    const tool = readTool({ name: "t", inputSchema: { type: "object", properties } }, () => {});
    assertEquals(tool && headers.accept(tool, (warning) => void warnings.push(warning)), undefined);
    assertEquals(warnings.length, 1);
  });
}

Deno.test("a schema that is marked itself is refused, and one that is no object has no marks", () => {
  assertEquals("flaw" in readHeaderParameters({ type: "string", "x-mcp-header": "A" }), true);
  for (const schema of [undefined, null, true, "schema", []]) {
    assertEquals(readHeaderParameters(schema), { parameters: [] });
  }
});

/** An object in an object, and so on, with the innermost properties. */
function nested(depth: number, innermost: Record<string, unknown>): Record<string, unknown> {
  let schema: Record<string, unknown> = { type: "object", properties: innermost };
  for (let level = 1; level < depth; level++) schema = { type: "object", properties: { a: schema } };
  return schema;
}

function marked(count: number): Record<string, unknown> {
  const names = Array.from({ length: count }, (_, index) => `n${index}`);
  return Object.fromEntries(names.map((name) => [name, { type: "string", "x-mcp-header": name }]));
}

Deno.test("a tool is left out that marks more parameters than 64, or one more than 32 levels deep", () => {
  const countOf = (schema: unknown) => {
    const found = readHeaderParameters(schema);
    return "flaw" in found ? found.flaw : found.parameters.length;
  };
  assertEquals(countOf(nested(1, marked(64))), 64);
  assertMatch(String(countOf(nested(1, marked(65)))), /more than 64/);
  assertEquals(countOf(nested(32, marked(1))), 1);
  assertMatch(String(countOf(nested(33, marked(1)))), /more than 32 levels/);
});

Deno.test("arguments go into headers as text, and those that are missing or null into none", () => {
  const parameters = ["text", "count", "flag", "gone", "none", "huge"].map((name) => ({
    path: [name],
    name,
  }));
  const args = { text: "us west", count: 42, flag: false, none: null, huge: 2 ** 60 };
  assertEquals(toParameterHeaders(parameters, args), {
    "Mcp-Param-text": "us west",
    "Mcp-Param-count": "42",
    "Mcp-Param-flag": "false",
  });
});

Deno.test("a text that would not arrive unchanged is sent in base64", () => {
  assertEquals(headerOf("us-west1"), "us-west1");
  assertEquals(headerOf("日本"), "=?base64?5pel5pys?=");
  for (const text of ["", " a", "a ", "\ta", "a\nb", "a\r\nb", "=?base64?YQ==?="]) {
    assertEquals(headerOf(text)?.startsWith("=?base64?"), true, JSON.stringify(text));
  }
});

Deno.test("each text can be read back from its header, and each header is one that HTTP allows", () => {
  fc.assert(fc.property(fc.string({ unit: "grapheme" }), (text) => {
    const header = headerOf(text) ?? "";
    const sent = new Headers({ a: header }).get("a") ?? "";
    assertEquals(decodeHeaderValue(sent), text);
  }));
});

Deno.test("the marks of a tool are those of its last list", () => {
  const headers = new ToolHeaders();
  const listed = (properties: unknown) => {
    const tool = readTool({ name: "t", inputSchema: { type: "object", properties } }, () => {});
    return tool && headers.accept(tool, () => {});
  };
  const call = { name: "t", arguments: { a: "x" } };
  listed({ a: { type: "string", "x-mcp-header": "A" } });
  assertEquals(headers.headersOf(call), { "Mcp-Param-A": "x" });
  listed({ a: { type: "string" } });
  assertEquals(headers.headersOf(call), {});
  assertEquals(headers.headersOf({ name: "unknown", arguments: {} }), {});
});
