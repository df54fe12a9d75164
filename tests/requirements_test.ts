import { assertEquals } from "@std/assert";
import { requirements } from "./requirements.ts";

const rootUrl = new URL("../", import.meta.url);
const TEST_FOLDERS = ["tests/", "packages/"];
const citationPattern = /^\s*\/\/ proves: (.+)$/;
/** Also those that need a terminal. */
const testPattern = /^\s*(Deno\.test|test[A-Z]\w*\()/;

interface Citation {
  readonly id: string;
  /** The file and line, to be shown to whoever has to mend it. */
  readonly at: string;
  readonly isAtTest: boolean;
}

const citations = (await Promise.all(
  TEST_FOLDERS.map((folder) => Array.fromAsync(testFiles(new URL(folder, rootUrl)), readCitations)),
)).flat(2);

Deno.test("each requirement has an id of its own", () => {
  const ids = requirements.map(({ id }) => id);
  assertEquals(ids.filter((id, index) => ids.indexOf(id) !== index), []);
});

Deno.test("each requirement is cited by a test or marked as missing", () => {
  const cited = new Set(citations.map(({ id }) => id));
  assertEquals(requirements.filter(({ id, missing }) => !missing && !cited.has(id)).map(({ id }) => id), []);
});

Deno.test("no requirement is both cited and marked as missing", () => {
  const missing = new Set(requirements.filter(({ missing }) => missing).map(({ id }) => id));
  assertEquals(citations.filter(({ id }) => missing.has(id)), []);
});

Deno.test("each citation names a requirement that exists", () => {
  const ids = new Set(requirements.map(({ id }) => id));
  assertEquals(citations.filter(({ id }) => !ids.has(id)), []);
});

Deno.test("each citation stands right above a test or inside it", () => {
  assertEquals(citations.filter(({ isAtTest }) => !isAtTest), []);
});

async function* testFiles(folder: URL): AsyncGenerator<URL> {
  for await (const entry of Deno.readDir(folder)) {
    if (entry.isDirectory) yield* testFiles(new URL(`${entry.name}/`, folder));
    else if (entry.name.endsWith("_test.ts")) yield new URL(entry.name, folder);
  }
}

async function readCitations(file: URL): Promise<Citation[]> {
  const name = file.href.slice(rootUrl.href.length);
  const lines = (await Deno.readTextFile(file)).split("\n");
  return lines.flatMap((line, index) => {
    const ids = citationPattern.exec(line)?.[1]?.split(",").map((id) => id.trim()) ?? [];
    const isAtTest = ids.length > 0 && (isAboveTest(lines, index) || isInsideTest(lines, index));
    return ids.map((id) => ({ id, at: `${name}:${index + 1}`, isAtTest }));
  });
}

/** Whether the next line that is no comment begins a test. */
function isAboveTest(lines: readonly string[], index: number): boolean {
  const next = lines.slice(index + 1).find((line) => !/^\s*\/\//.test(line));
  return next !== undefined && testPattern.test(next);
}

/** Whether one of the blocks around this line is a test; formatted code shows its blocks by indentation. */
function isInsideTest(lines: readonly string[], index: number): boolean {
  let innermost = indentationOf(lines[index] ?? "");
  for (const line of lines.slice(0, index).reverse()) {
    const indentation = indentationOf(line);
    if (line.trim() === "" || indentation >= innermost) continue;
    if (testPattern.test(line)) return true;
    innermost = indentation;
  }
  return false;
}

function indentationOf(line: string): number {
  return line.length - line.trimStart().length;
}
