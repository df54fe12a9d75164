import { assertEquals, assertStringIncludes } from "@std/assert";
import { askToRun, type CallToRun } from "../../../../src/cli/questions/terminal_answers.ts";
import type { Dialogue, DialogueEnd } from "../../../../src/terminal/editor/line_editor.ts";
import { type } from "./_forms.ts";

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
  for (const line of ["", "n", "sure", "m", "a", "always"]) {
    assertEquals((await decide(CALL, [line])).decision, "no", line);
  }
  assertEquals((await decide({ ...CALL, hasAlways: true }, ["a"])).decision, "always");
  assertEquals((await decide(CALL, [], "declined")).decision, "no");
  assertEquals((await decide(CALL, [], "withdrawn")).end, "withdrawn");
});

Deno.test("a long call runs only after its last page was shown", async () => {
  const call = { ...CALL, params: { text: `${"x".repeat(5_500)}\u202eend` } };
  const { decision, shown } = await decide(call, ["y", "m", "y"]);
  assertEquals(decision, "yes");
  assertStringIncludes(shown[0] ?? "", "left to show before it can run. [m]ore, [N]o: ");
  assertStringIncludes(shown[1] ?? "", '"delete" of "files", continued: xxx');
  assertStringIncludes(shown[2] ?? "", '\\u202eend"}\nRun it?');
  assertEquals((await decide(call, ["n"])).decision, "no");
});
