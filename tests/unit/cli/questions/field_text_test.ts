import { assertEquals, assertStringIncludes } from "@std/assert";
import { describeField, promptOf, readTyped, valueText } from "../../../../src/cli/questions/field_text.ts";
import { type QuestionField, readForm } from "../../../../src/protocol/question_form.ts";

function fieldOf(
  property: Readonly<Record<string, unknown>>,
  required: readonly string[] = [],
): QuestionField {
  const [field] = readForm({ type: "object", properties: { f: property }, required });
  if (field === undefined) throw new TypeError("no field");
  return field;
}

/** The value of a typed line, or the message about it. */
function read(property: Readonly<Record<string, unknown>>, typed: string): unknown {
  const { value, problem } = readTyped(fieldOf(property), typed);
  return problem ?? value;
}

Deno.test("a text is taken as it is typed, and one with a format without the spaces around it", () => {
  assertEquals(read({ type: "string" }, " a b "), " a b ");
  assertEquals(read({ type: "string" }, '""'), "");
  assertEquals(read({ type: "string", format: "email" }, " a@b.c "), "a@b.c");
  assertStringIncludes(`${read({ type: "string", format: "date" }, "2026-02-30")}`, "must be a date");
});

Deno.test("a number is written in decimal, with a point", () => {
  const number = { type: "number" };
  assertEquals(["1", " -2.5 ", "+.5", "1e3"].map((typed) => read(number, typed)), [1, -2.5, 0.5, 1000]);
  for (const typed of ["1,5", "0x10", "one", "1e999", "Infinity", "1 2"]) {
    assertEquals(read(number, typed), '"f" must be a number, such as 1.5', typed);
  }
  assertStringIncludes(`${read({ type: "integer" }, "1.5")}`, "whole number");
  assertStringIncludes(`${read({ type: "integer", minimum: 3 }, "2")}`, "at least 3");
});

Deno.test("a yes or no is typed as either, in any case", () => {
  const boolean = { type: "boolean" };
  assertEquals(["y", "YES", "true", "n", "No", "false"].map((typed) => read(boolean, typed)), [
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
  assertEquals(read(boolean, "1"), '"f" must be y or n');
});

Deno.test("an option is chosen by its value, its text in any case, or its number", () => {
  const size = { type: "string", oneOf: [{ const: "s", title: "Small" }, { const: "1", title: "One" }] };
  assertEquals(["s", "Small", "small", "2", "1"].map((typed) => read(size, typed)), [
    "s",
    "s",
    "s",
    "1",
    "1",
  ]);
  assertEquals(read(size, "0"), '"f" must be a number from 1 to 2, or one of the options');
});

Deno.test("several options are typed with commas between them", () => {
  const extras = { type: "array", maxItems: 2, items: { type: "string", enum: ["a", "b, c", "d"] } };
  assertEquals(read(extras, "a"), ["a"]);
  assertEquals(read(extras, "b, c"), ["b, c"], "an option with a comma, alone");
  assertEquals(read(extras, "3, 2,"), ["d", "b, c"]);
  assertEquals(read(extras, "a, 1"), ["a"], "twice is once");
  assertEquals(read(extras, '""'), []);
  assertStringIncludes(`${read(extras, "a, x")}`, "with commas between them");
  assertStringIncludes(`${read(extras, "1, 2, 3")}`, "at most 2");
});

Deno.test("an empty line stands for the preset, or for no value where none is required", () => {
  assertEquals(readTyped(fieldOf({ type: "string" }), " "), { value: undefined });
  assertEquals(readTyped(fieldOf({ type: "string" }, ["f"]), ""), { problem: '"f" is required' });
  assertEquals(readTyped(fieldOf({ type: "integer" }, ["f"]), "", 3), { value: 3 });
  assertStringIncludes(
    readTyped(fieldOf({ type: "integer", minimum: 5 }), "", 3).problem ?? "",
    "at least 5",
  );
});

Deno.test("the prompt says what a field takes, and what an empty line stands for", () => {
  const prompt = (property: Readonly<Record<string, unknown>>, preset?: string | number | string[]) =>
    promptOf(fieldOf(property), preset);
  assertEquals(prompt({ type: "string", minLength: 1, maxLength: 9 }), '"f" (1 to 9 characters): ');
  assertEquals(prompt({ type: "string", format: "uri" }, "https://x/"), '"f" (URL) [https://x/]: ');
  assertEquals(prompt({ type: "integer", maximum: 9 }, 3), '"f" (whole number, at most 9) [3]: ');
  assertEquals(
    prompt({ type: "array", minItems: 1, items: { anyOf: [{ const: "a", title: "A" }] } }, ["a"]),
    '"f" (numbers or texts, with commas, at least 1 option) [A]: ',
  );
  assertEquals(valueText(fieldOf({ type: "string" }), ""), '""');
});

Deno.test("a field on one line names its options by their values, so that a script can give one", () => {
  const text = (property: Readonly<Record<string, unknown>>) => describeField(fieldOf(property, ["f"]));
  assertEquals(text({ type: "string" }), "f (required)");
  assertEquals(text({ type: "integer", minimum: 1 }), "f (required, whole number, at least 1)");
  assertEquals(text({ type: "string", enum: ["a"] }), "f (required, a)");
  assertEquals(
    text({ type: "string", enum: ["a", "b", "c"], enumNames: ["A", "B", "C"] }),
    "f (required, a, b or c)",
  );
  const many = Array.from({ length: 12 }, (_, i) => `v${i}`);
  assertStringIncludes(text({ type: "string", enum: many }), "v9 or 2 more options)");
  const several = { type: "array", maxItems: 2, items: { type: "string", enum: ["a", "b\n"] } };
  assertEquals(text(several), "f (required, a or b, with commas, at most 2 options)");
});
