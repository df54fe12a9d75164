import { assertEquals, assertStringIncludes } from "@std/assert";
import { type AnswerOptions, CallAnswers, GivenAnswers } from "../../../../src/cli/questions/call_answers.ts";
import type { ShownQuestion } from "../../../../src/cli/questions/shown_question.ts";
import type { AskingOptions } from "../../../../src/cli/questions/terminal_answers.ts";
import type { Answer } from "../../../../src/protocol/questions.ts";
import { BASE, formOf } from "./_forms.ts";

const NO_OPTIONS: AnswerOptions = { texts: {}, values: undefined, isApproved: false, isOffered: false };
const FORM = formOf({ size: { type: "string", enum: ["s", "m"] }, count: { type: "integer" } }, {
  required: ["size"],
});
const PAGE: ShownQuestion = { ...BASE, mode: "url", url: "https://pay.example.com/" };
const APPROVAL: ShownQuestion = { ...BASE, mode: "approval", params: { a: 1 } };

/** The answers of a call with these options, and what the person was asked; without an answer nobody is there. */
function answersOf(options: Partial<AnswerOptions>, answer?: Answer) {
  const asked: (AskingOptions & { readonly problems: readonly string[] })[] = [];
  const ask = ({ problems }: ShownQuestion, { presets }: AskingOptions = {}) => {
    asked.push({ problems, presets });
    return Promise.resolve(answer);
  };
  const answers = new CallAnswers({ ...NO_OPTIONS, ...options }, {
    ask,
    isHere: answer !== undefined,
    tell() {},
  });
  return { answers, asked };
}

Deno.test("options that suffice answer a form, and nobody is asked", async () => {
  const { answers, asked } = answersOf({ texts: { size: "m" } }, { action: "cancel" });
  assertEquals(await answers.answer?.(FORM), { action: "accept", content: { size: "m" } });
  assertEquals([asked, answers.notes], [[], []]);
});

Deno.test("options that do not suffice are the defaults of the form that the person gets", async () => {
  const { answers, asked } = answersOf({ texts: { count: "2" }, values: { size: "xl" } }, {
    action: "decline",
  });
  assertEquals(await answers.answer?.(FORM), { action: "decline" });
  assertEquals(asked, [{ problems: ['"size" must be one of "s", "m"'], presets: { count: 2 } }]);
});

Deno.test("answers that were refused once are not given again", async () => {
  const { answers, asked } = answersOf({ texts: { size: "m" } }, { action: "cancel" });
  assertEquals(await answers.answer?.({ ...FORM, problems: ["no"] }), { action: "cancel" });
  assertEquals(asked.length, 1);
});

Deno.test("where nobody can be asked, a question is declined, and told with what would answer it", async () => {
  const { answers } = answersOf({ isOffered: true });
  for (const question of [FORM, PAGE, APPROVAL]) {
    assertEquals(await answers.answer?.(question), { action: "decline" });
  }
  const [form, page, approval] = answers.notes;
  assertStringIncludes(
    form?.text ?? "",
    'asks in a call of "order" by Agent "bot": "Where to?". Declined: nobody',
  );
  assertStringIncludes(form?.text ?? "", "--answer NAME=VALUE: size (required, s or m), count (");
  assertStringIncludes(page?.text ?? "", "https://pay.example.com/");
  assertStringIncludes(approval?.text ?? "", "--approve");
  assertEquals(approval?.value, {
    question: { mode: "approval", mcp_server: "shop", tool: "order", message: "Where to?", params: { a: 1 } },
    answer: "decline",
    problems: [],
  });
});

Deno.test("an approval is given by its option alone, or by the person", async () => {
  const { answers } = answersOf({ isApproved: true });
  assertEquals(await answers.answer?.(APPROVAL), { action: "accept" });
  const asked = answersOf({ texts: { a: "1" } }, { action: "accept" });
  assertEquals(await asked.answers.answer?.(APPROVAL), { action: "accept" });
  assertEquals(asked.asked.length, 1);
});

Deno.test("a call offers answers where somebody is, or an option says so", () => {
  const offers = (options: Partial<AnswerOptions>, answer?: Answer) =>
    answersOf(options, answer).answers.answer !== undefined;
  assertEquals([offers({}), offers({}, { action: "cancel" }), offers({ isOffered: true })], [
    false,
    true,
    true,
  ]);
  assertEquals([offers({ isApproved: true }), offers({ texts: { a: "" } }), offers({ values: {} })], [
    true,
    true,
    true,
  ]);
});

Deno.test("an answer that no question asked for is told", () => {
  const { answers } = answersOf({ texts: { a: "1" }, values: { b: 2 } });
  assertEquals(answers.notes, [{
    text: 'No question asked for "a", "b"',
    value: { unused_answers: ["a", "b"] },
  }]);
});

const { fields } = formOf({
  name: { type: "string", minLength: 2 },
  count: { type: "integer", default: 1 },
  tags: { type: "array", items: { type: "string", enum: ["a", "b"] } },
}, { required: ["name"] });

Deno.test("given answers fill in the fields of their names, and defaults the rest", () => {
  const given = new GivenAnswers({ texts: { name: "Ada", tags: "a,2" }, values: { other: 1 } });
  assertEquals(given.fill(fields), { content: { name: "Ada", count: 1, tags: ["a", "b"] } });
  assertEquals(given.unused, ["other"]);
});

Deno.test("values from JSON are taken as they are, and a text of the same name goes over them", () => {
  const given = new GivenAnswers({ texts: { count: "3" }, values: { name: "Ada", count: 2, tags: ["b"] } });
  assertEquals(given.fill(fields), { content: { name: "Ada", count: 3, tags: ["b"] } });
});

Deno.test("what is missing or wrong is told, and what is right is kept", () => {
  const given = new GivenAnswers({ texts: { count: "many" }, values: { tags: ["a"] } });
  assertEquals(given.fill(fields), {
    problems: ['"name" is missing', '"count" must be a whole number, such as 3'],
    presets: { tags: ["a"] },
  });
});

Deno.test("an empty JSON object is an answer: the defaults", () => {
  assertEquals(new GivenAnswers({ texts: {}, values: {} }).isEmpty, false);
  assertEquals(new GivenAnswers({ texts: {}, values: undefined }).isEmpty, true);
});
