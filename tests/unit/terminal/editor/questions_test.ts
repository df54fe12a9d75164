import { assertEquals } from "@std/assert";
import { choose, type Dialogue, type Question } from "../../../../src/terminal/editor/line_editor.ts";
import { toQuestionText } from "../../../../src/terminal/editor/questions.ts";

/** Answers questions as a person would, and notes what was asked and what was complained of. */
function person(...answers: (string | undefined)[]) {
  const seen: string[] = [];
  const ask = (question: Question): Promise<string | undefined> => {
    const { above, prompt } = toQuestionText(question);
    seen.push(above ?? "", prompt);
    for (const answer of answers) {
      const complaint = answer === undefined
        ? undefined
        : question.check?.(answer || (question.default ?? ""));
      if (complaint === undefined) return Promise.resolve(answer === "" ? question.default ?? "" : answer);
      seen.push(complaint);
    }
    throw new TypeError("Cannot answer: no answer is left");
  };
  const converse = async ({ first, next }: Dialogue) => {
    const answer = await ask(first);
    if (answer === undefined) return "declined" as const;
    next(answer);
    return "answered" as const;
  };
  return { editor: { converse }, seen };
}

Deno.test("toQuestionText() adds a colon, with the default before it", () => {
  const promptOf = (question: Question) => toQuestionText(question).prompt;
  assertEquals(promptOf({ text: "Name" }), "Name: ");
  assertEquals(promptOf({ text: "Name:" }), "Name: ");
  assertEquals(promptOf({ text: "Who is it?" }), "Who is it? ");
  assertEquals(promptOf({ text: "Name?", default: "ada" }), "Name [ada]: ");
  assertEquals(promptOf({ text: "Name", default: "" }), "Name []: ");
  assertEquals(promptOf({ text: "Key", default: "s3cret", isHidden: true }), "Key: ");
});

Deno.test("toQuestionText() puts all but the last line above the prompt, safe to print", () => {
  assertEquals(toQuestionText({ text: "Call \u001b[2J\nwith {}\nRun it?\n" }), {
    above: "Call �[2J\nwith {}",
    prompt: "Run it? ",
  });
  assertEquals(toQuestionText({ text: "a\u202eb" }), { above: undefined, prompt: "a�b: " });
});

Deno.test("choose() prefers an option over a number, and refuses other answers", async () => {
  const options = ["8080", "1", "\u001b[2Jred"];
  const { editor, seen } = person("4", "0", "blue", "1");
  assertEquals(await choose(editor, { text: "Which one?", options }), "1");
  assertEquals(seen, [
    "  1  8080\n  2  1\n  3  �[2Jred",
    "Which one? ",
    `Invalid choice "4": enter a number from 1 to 3, or one of the options`,
    `Invalid choice "0": enter a number from 1 to 3, or one of the options`,
    `Invalid choice "blue": enter a number from 1 to 3, or one of the options`,
  ]);
  assertEquals(await choose(person("3").editor, { text: "Which?", options }), "\u001b[2Jred");
  assertEquals(await choose(person("").editor, { text: "Which?", options, default: "8080" }), "8080");
  assertEquals(await choose(person(undefined).editor, { text: "Which?", options }), undefined);
});
