import { assertEquals } from "@std/assert";
import { readContents, readResourceEntry, readTool } from "../../../src/mcp/entries.ts";

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

// proves: mcp-encode-binary
Deno.test("contents need a URI, and those whose blob is not base64 are told of once and kept", () => {
  const told = (blobs: readonly unknown[]) => {
    const warnings: string[] = [];
    const contents = readContents(blobs.map((blob) => ({ uri: "x:", blob })), (text) => warnings.push(text));
    return [contents.length, warnings.length];
  };
  assertEquals(told(["", "QQ==", "QUI=", "QUJD", undefined, null]), [6, 0]);
  for (const blob of ["QQ=", "Q", "QQ=A", "a b=", "====", "QQ--", "QUJD\n", 7]) {
    assertEquals(told([blob, blob]), [2, 1], String(blob));
  }
  assertEquals(readContents([{ text: "no uri" }, 7], () => {}), []);
  assertEquals(readContents("x", () => {}), []);
});
