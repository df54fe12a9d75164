import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { askToOpen, askToRun, type CallToRun } from "../../../../src/cli/questions/terminal_answers.ts";
import type { Dialogue, DialogueEnd } from "../../../../src/terminal/editor/line_editor.ts";
import { BASE, type } from "./_forms.ts";

const CALL: CallToRun = {
  call: 'Agent "bot" calls "delete" of "files"',
  callAgain: '"delete" of "files"',
  params: { path: "/tmp/x" },
  signal: new AbortController().signal,
  hasAlways: false,
};

/** Asks about a call, and types these lines. */
async function decide(call: CallToRun, lines: readonly string[], end: DialogueEnd = "answered") {
  let shown: string[] = [];
  const converse = (dialogue: Dialogue) => {
    shown = type(dialogue, ...lines);
    return Promise.resolve(end);
  };
  return { ...await askToRun({ converse }, call), shown };
}

Deno.test("a call runs after a yes, and not after anything else", async () => {
  const { decision, shown } = await decide(CALL, ["y"]);
  assertEquals([decision, shown[0]], [
    "yes",
    'Agent "bot" calls "delete" of "files" with {"path":"/tmp/x"}\nRun it? [y]es, [N]o: ',
  ]);
  for (const line of ["", "n", "No"]) assertEquals((await decide(CALL, [line])).decision, "no", line);
  assertEquals((await decide({ ...CALL, hasAlways: true }, ["a"])).decision, "always");
  assertEquals((await decide(CALL, [], "declined")).decision, "no");
  assertEquals((await decide(CALL, [], "withdrawn")).end, "withdrawn");
});

Deno.test("any other answer is asked for again, and runs nothing", async () => {
  for (const line of ["maybe", "sure", "m", "a", "always"]) {
    const { decision, shown } = await decide(CALL, [line]);
    assertEquals([decision, shown.at(-1)], ["no", "Invalid answer: enter y or n"], line);
  }
  assertEquals((await decide(CALL, ["maybe", "y"])).decision, "yes");
  const always = await decide({ ...CALL, hasAlways: true }, ["maybe"]);
  assertEquals([always.decision, always.shown.at(-1)], ["no", "Invalid answer: enter y, a or n"]);
});

Deno.test("a long call runs only after its last page was shown", async () => {
  const call = { ...CALL, params: { text: `${"x".repeat(5_500)}\u202eend` } };
  const { decision, shown } = await decide(call, ["y", "m", "y"]);
  assertEquals(decision, "yes");
  assertStringIncludes(shown[0] ?? "", "left to show before it can run. [m]ore, [N]o: ");
  assertStringIncludes(shown[1] ?? "", '"delete" of "files", continued: xxx');
  assertStringIncludes(shown[2] ?? "", '\\u202eend"}\nRun it?');
  assertEquals((await decide(call, ["n"])).decision, "no");
  assertEquals((await decide(call, ["maybe"])).shown.at(-1), "Invalid answer: enter m or n");
});

/** Asks about a page, and types these lines. */
async function ask(url: string, ...lines: readonly string[]) {
  let shown: string[] = [];
  const converse = (dialogue: Dialogue) => {
    shown = type(dialogue, ...lines);
    return Promise.resolve("answered" as const);
  };
  const { action } = await askToOpen({ converse }, { ...BASE, mode: "url", url }, { columns: 80 });
  return { action, shown };
}

Deno.test("a page is shown with its host and its whole address, in one line", async () => {
  const url = `https://pay.example.com/authorize?state=${"x".repeat(500)}`;
  const { shown: [text = ""] } = await ask(url);
  const lines = text.split("\n");
  assertEquals(lines.slice(0, 4), [
    'MCP server "shop" asks you to open a page in a call of "order" by Agent "bot":',
    "  Where to?",
    "Host: pay.example.com",
    url,
  ]);
  assertStringIncludes(lines[4] ?? "", "does not open it");
});

Deno.test("an address that deceives the eye is told apart", async () => {
  const text = async (url: string) => (await ask(url)).shown[0] ?? "";
  assertStringIncludes(
    await text("https://bank.example.com@evil.example/"),
    "Host: evil.example\nCareful: what stands before",
  );
  assertStringIncludes(await text("https://b\u0430nk.example/"), "Host: xn--");
  assertStringIncludes(await text("https://b\u0430nk.example/"), "not written in ASCII");
  assertStringIncludes(await text("http://bank.example/"), "not encrypted");
  assert(!(await text("http://localhost:8080/")).includes("Careful"));
  assert(!(await text("https://x.example/\u202e%1b[2J")).includes("\u202e"));
});

Deno.test("only a clear yes accepts a page", async () => {
  const answer = async (typed: string) => {
    const { action, shown } = await ask("https://x.example/", typed);
    return [action, shown.at(-1)];
  };
  assertEquals(await answer("d"), ["accept", ""]);
  assertEquals(await answer(" Done "), ["accept", ""]);
  assertEquals(await answer(""), ["decline", ""]);
  assertEquals(await answer("n"), ["decline", ""]);
  assertEquals(await answer("later"), ["decline", "Invalid answer: enter d or n"]);
});
