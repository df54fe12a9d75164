import { assertEquals, assertRejects } from "@std/assert";
import {
  type ListPage,
  readAllPages,
  readContents,
  readResourceEntry,
  readTool,
} from "../../../src/mcp/entries.ts";
import { ServerTimeoutError } from "../../../src/mcp/errors.ts";

function read<T>(
  reader: (entry: unknown, warn: (message: string) => void) => T,
  entry: unknown,
): [T, number] {
  const warnings: string[] = [];
  return [reader(entry, (message) => void warnings.push(message)), warnings.length];
}

Deno.test("a tool is read with all its members", () => {
  const entry = {
    name: "t",
    description: "d",
    inputSchema: { type: "object" },
    outputSchema: { type: "object" },
    annotations: { readOnlyHint: true },
    _meta: { a: 1 },
    title: "T",
    icons: [{ src: "https://x/i.png" }],
    execution: { taskSupport: "optional" },
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
    execution: undefined,
    meta: {},
  };
  const odd = {
    name: "t",
    description: 5,
    inputSchema: [],
    outputSchema: "x",
    annotations: [],
    icons: {},
    execution: 1,
    _meta: null,
  };
  assertEquals(read(readTool, odd), [repaired, 1]);
  assertEquals(read(readTool, { name: "t", inputSchema: {} }), [{ ...repaired, inputSchema: {} }, 0]);
});

// proves: mcp-resource
Deno.test("a resource needs a URI and is kept unchanged", () => {
  const entry = { uri: "x:", annotations: { priority: 80, lastModified: "2026-01-15" }, unknown: [1] };
  assertEquals(read(readResourceEntry, entry), [entry, 0]);
  for (const bad of [null, {}, { uri: "" }, { uri: 1 }]) {
    assertEquals(read(readResourceEntry, bad), [undefined, 1]);
  }
});

// proves: mcp-encode-binary
Deno.test("contents need a URI, and a blob that is not base64 is kept with one warning", () => {
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

/** Reads numbers; gives them and the warnings. */
async function readNumbers(readPage: (cursor: string | undefined) => Promise<ListPage>, timeoutMs = 60_000) {
  const warnings: string[] = [];
  const items = await readAllPages({
    what: "numbers",
    readPage,
    readEntry: (entry, warn) => typeof entry === "number" ? entry : (warn("no number"), undefined),
    maxBytes: 16 * 1024 * 1024,
    timeoutMs,
    warn: (message) => void warnings.push(message),
  });
  return { items, warnings };
}

const page = (entries: unknown[], nextCursor?: string) => Promise.resolve({ entries, nextCursor });

// proves: mcp-list-cursor
Deno.test("pages are read until one has no cursor, and bad entries are left out", async () => {
  const pages: Record<string, Promise<ListPage>> = { a: page([3, "x"], "b"), b: page([4]) };
  const { items, warnings } = await readNumbers((cursor) =>
    cursor === undefined ? page([1, 2], "a") : pages[cursor] ?? page([])
  );
  assertEquals([items, warnings], [[1, 2, 3, 4], ["no number"]]);
});

Deno.test("an entry that no Server passes on is left out with its name", async () => {
  const nested = (levels: number): unknown => levels === 0 ? 0 : { a: nested(levels - 1) };
  const warnings: string[] = [];
  const items = await readAllPages({
    what: "tools",
    readPage: () => page([{ name: "good", a: nested(199) }, { name: "deep", a: nested(200) }, nested(800)]),
    readEntry: (entry) => (entry as { name?: string }).name,
    maxBytes: 1024 * 1024,
    timeoutMs: 60_000,
    warn: (message) => void warnings.push(message),
  });
  assertEquals(items, ["good"]);
  assertEquals(warnings, [
    'left out an entry "deep" of the list of tools: it is nested more than 200 levels deep',
    "left out an entry of the list of tools: it is nested more than 200 levels deep",
  ]);
});

Deno.test("a list that repeats a cursor ends with what was read so far", async () => {
  const { items, warnings } = await readNumbers(() => page([1], "again"));
  assertEquals([items, warnings.length], [[1, 1], 1]);
});

Deno.test("a list whose cursors never end stops after its time, with what was read so far", async () => {
  let count = 0;
  const { items, warnings } = await readNumbers(() => page([1], `c${count++}`), 1);
  assertEquals([items.length, warnings.length], [count, 1]);
});

Deno.test("a list without end stops at the limit of entries", async () => {
  let count = 0;
  const entries = Array.from({ length: 50_000 }, () => 1);
  const { items, warnings } = await readNumbers(() => page(entries, `c${count++}`), 600_000);
  assertEquals([items.length, warnings.length], [150_000, 1]);
});

Deno.test("a list stops at the limit of bytes of all its pages, cursors included", async () => {
  const text = "x".repeat(1024 * 1024);
  let count = 0;
  const pages = await readNumbers(() => page([1, text], `c${count++}`), 600_000);
  assertEquals([pages.items.length, pages.warnings.at(-1)?.includes("bytes")], [16, true]);
  count = 0;
  const cursors = await readNumbers(() => page([1], `${count++}${text}`), 600_000);
  assertEquals(cursors.items.length, 16);
});

Deno.test("a time-out of a later page keeps the earlier pages, and one of the first page fails the list", async () => {
  const late = () => Promise.reject(new ServerTimeoutError("late"));
  const { items } = await readNumbers((cursor) => cursor === undefined ? page([1], "a") : late());
  assertEquals(items, [1]);
  await assertRejects(() => readNumbers(late), ServerTimeoutError);
});
