import { assertEquals, assertThrows } from "@std/assert";
import { fromWire, parseAnswer, toWire } from "../../../../../src/cli/computer/control/asked_question.ts";
import type { ShownQuestion } from "../../../../../src/cli/questions/shown_question.ts";
import { BASE, formOf } from "../../questions/_forms.ts";

const { signal } = BASE;

/** What is left of a value on its way through the socket. */
function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

Deno.test("a question comes out of the socket as it went in", () => {
  const form = formOf({ size: { type: "string", enum: ["s", "m"] }, count: { type: "integer" } });
  const questions: ShownQuestion[] = [
    {
      ...form,
      problems: ["too small"],
      asker: { computer: "pc", server: undefined, tool: "t", caller: "user" },
    },
    { ...BASE, mode: "url", url: "https://example.com/" },
    { ...BASE, mode: "approval", params: { a: [1] } },
  ];
  for (const question of questions) {
    assertEquals(asJson(fromWire(asJson(toWire({ question })), signal).question), asJson(question));
  }
  const wire = asJson(toWire({ question: form, presets: { count: 2, size: "xl" } }));
  assertEquals(fromWire(wire, signal).presets, { count: 2 }, "a preset that does not fit is left out");
});

Deno.test("what is not a question is refused", () => {
  const question = JSON.parse(
    JSON.stringify(toWire({ question: { ...BASE, mode: "url", url: "https://x/" } })),
  );
  const wrong = [null, {}, { ...question, mode: "other" }, { ...question, url: 1 }, {
    ...question,
    asker: "x",
  }];
  for (const wire of wrong) assertThrows(() => fromWire(wire, signal), TypeError, "Cannot read the question");
});

Deno.test("an answer is read, and anything else is nobody's", () => {
  assertEquals(parseAnswer('{"action":"accept","content":{"a":1}}'), { action: "accept", content: { a: 1 } });
  assertEquals(parseAnswer('{"action":"accept"}'), { action: "accept" });
  assertEquals(parseAnswer('{"action":"cancel"}'), { action: "cancel" });
  for (const line of [null, "", "yes", '{"action":"run"}']) assertEquals(parseAnswer(line), undefined);
});
