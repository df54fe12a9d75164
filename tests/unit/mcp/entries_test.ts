import { assertEquals } from "@std/assert";
import { readResourceEntry, readTool } from "../../../src/mcp/entries.ts";

function read<T>(
  reader: (entry: unknown, warn: (message: string) => void) => T,
  entry: unknown,
): [T, number] {
  const warnings: string[] = [];
  return [reader(entry, (message) => void warnings.push(message)), warnings.length];
}

Deno.test("a tool is read with all that it says", () => {
  const entry = {
    name: "t",
    description: "d",
    inputSchema: { type: "object" },
    outputSchema: { type: "object" },
    annotations: { readOnlyHint: true },
    _meta: { a: 1 },
    title: "T",
    icons: [{ src: "https://x/i.png" }],
    unknown: "not used",
  };
  const { _meta: meta, unknown: _, ...rest } = entry;
  assertEquals(read(readTool, entry), [{ ...rest, meta }, 0]);
});

Deno.test("a tool without a name is left out, and other members of a wrong type are repaired", () => {
  for (const entry of [null, 1, [], {}, { name: "" }, { name: 7 }]) {
    assertEquals(read(readTool, entry), [undefined, 1]);
  }
  const repaired = {
    name: "t",
    title: undefined,
    description: "",
    inputSchema: { type: "object" },
    outputSchema: null,
    annotations: undefined,
    icons: undefined,
    meta: {},
  };
  const odd = {
    name: "t",
    description: 5,
    inputSchema: [],
    outputSchema: "x",
    annotations: [],
    icons: {},
    _meta: null,
  };
  assertEquals(read(readTool, odd), [repaired, 1]);
  assertEquals(read(readTool, { name: "t", inputSchema: {} }), [{ ...repaired, inputSchema: {} }, 0]);
});

// proves: mcp-resource
Deno.test("a resource needs a URI and is kept as it came", () => {
  const entry = { uri: "x:", annotations: { priority: 80, lastModified: "2026-01-15" }, unknown: [1] };
  assertEquals(read(readResourceEntry, entry), [entry, 0]);
  for (const bad of [null, {}, { uri: "" }, { uri: 1 }]) {
    assertEquals(read(readResourceEntry, bad), [undefined, 1]);
  }
});
