import { assertEquals, assertThrows } from "@std/assert";
import { checkContent, fieldProblem } from "../../../src/protocol/form_answer.ts";
import { MAX_FORM_FIELDS, type QuestionField, readForm } from "../../../src/protocol/question_form.ts";

const ORDER = {
  type: "object",
  properties: {
    name: { type: "string", title: "Name", description: "Who orders", minLength: 2, maxLength: 5 },
    email: { type: "string", format: "email" },
    site: { type: "string", format: "uri" },
    day: { type: "string", format: "date" },
    at: { type: "string", format: "date-time" },
    count: { type: "integer", minimum: 1, maximum: 9, default: 2 },
    weight: { type: "number" },
    gift: { type: "boolean", default: false },
    size: { type: "string", enum: ["S", "M"], enumNames: ["Small", "Medium"], default: "M" },
    color: { type: "string", oneOf: [{ const: "r", title: "Red" }, { const: "g", title: "Green" }] },
    extras: { type: "array", minItems: 1, maxItems: 2, items: { type: "string", enum: ["a", "b", "c"] } },
    labels: { type: "array", items: { anyOf: [{ const: "x", title: "X" }] }, default: ["x"] },
  },
  required: ["name"],
};

function field(name: string): QuestionField {
  const found = readForm(ORDER).find((each) => each.name === name);
  if (found === undefined) throw new Error(`No field named "${name}"`);
  return found;
}

// proves: question-form-schema
Deno.test("readForm() reads every kind of field with its title, bounds, options and default", () => {
  const base = { title: undefined, description: undefined, isRequired: false };
  assertEquals(field("name"), {
    name: "name",
    title: "Name",
    description: "Who orders",
    isRequired: true,
    kind: "text",
    format: undefined,
    minLength: 2,
    maxLength: 5,
    default: undefined,
  });
  assertEquals(field("count"), {
    ...base,
    name: "count",
    kind: "number",
    isInteger: true,
    minimum: 1,
    maximum: 9,
    default: 2,
  });
  assertEquals(field("gift"), { ...base, name: "gift", kind: "boolean", default: false });
  const sizes = [{ value: "S", label: "Small" }, { value: "M", label: "Medium" }];
  assertEquals(field("size"), { ...base, name: "size", kind: "choice", options: sizes, default: "M" });
  const colors = [{ value: "r", label: "Red" }, { value: "g", label: "Green" }];
  assertEquals(field("color"), {
    ...base,
    name: "color",
    kind: "choice",
    options: colors,
    default: undefined,
  });
  const labels = {
    ...base,
    name: "labels",
    kind: "choices",
    minItems: undefined,
    maxItems: undefined,
  } as const;
  assertEquals(field("labels"), { ...labels, options: [{ value: "x", label: "X" }], default: ["x"] });
});

Deno.test("readForm() refuses a schema that is not a form of MCP, with the name of the field", () => {
  const refuse = (properties: unknown) => () => readForm({ type: "object", properties });
  assertThrows(refuse(undefined), TypeError, "properties");
  assertThrows(refuse({ home: { type: "object", properties: {} } }), TypeError, '"home"');
  assertThrows(refuse({ home: "text" }), TypeError, '"home"');
  assertThrows(refuse({ tags: { type: "array", items: { type: "string" } } }), TypeError, '"tags"');
  assertThrows(refuse({ size: { type: "string", enum: [] } }), TypeError, '"size"');
  assertThrows(refuse({ size: { type: "string", enum: [1] } }), TypeError, '"size"');
  const many = Array.from({ length: MAX_FORM_FIELDS + 1 }, (_, at) => [`f${at}`, { type: "boolean" }]);
  assertThrows(refuse(Object.fromEntries(many)), TypeError, "fields");
});

Deno.test("checkContent() tells each wrong value with the name of its field", () => {
  const wrong: [string, unknown, string][] = [
    ["name", "x", "at least 2 characters"],
    ["name", "longer", "at most 5 characters"],
    ["name", 7, "text"],
    ["email", "ada", "email"],
    ["site", "no url", "URL"],
    ["day", "2026-02-30", "date"],
    ["at", "2026-02-03 10:00", "date and time"],
    ["count", 0, "at least 1"],
    ["count", 10, "at most 9"],
    ["count", 1.5, "whole number"],
    ["weight", "1", "number"],
    ["gift", "yes", "true or false"],
    ["size", "L", '"S", "M"'],
    ["extras", [], "at least 1 value"],
    ["extras", ["a", "b", "c"], "at most 2 values"],
    ["extras", ["a", "a"], "twice"],
    ["extras", ["z"], '"a", "b", "c"'],
    ["other", 1, "not a field"],
  ];
  for (const [name, value, words] of wrong) {
    const { problems = [] } = checkContent(readForm(ORDER), { name: "Ada", [name]: value });
    assertEquals(problems.length, 1, name);
    assertEquals(problems[0]?.startsWith(`"${name}" `) && problems[0].includes(words), true, problems[0]);
  }
  assertEquals(checkContent(readForm(ORDER), {}).problems, ['"name" is missing']);
});

// proves: question-default
Deno.test("checkContent() gives a field without a value its default, and leaves out one without a default", () => {
  const given = {
    name: "Ada",
    email: "a@b",
    site: "https://a.example",
    day: "2024-02-29",
    at: "2026-01-31T23:59:60+02:00",
    gift: null,
    extras: ["c", "a"],
  };
  assertEquals(checkContent(readForm(ORDER), given).content, {
    ...given,
    count: 2,
    gift: false,
    size: "M",
    labels: ["x"],
  });
});

Deno.test("checkContent() counts characters, not the halves of surrogate pairs", () => {
  assertEquals(fieldProblem(field("name"), "😀😀😀😀😀"), undefined);
});

Deno.test("checkContent() keeps a field that is called as a member of every object", () => {
  const fields = readForm({ properties: { constructor: { type: "string" }, toString: { type: "string" } } });
  assertEquals(
    checkContent(fields, { constructor: "a" }).content,
    Object.fromEntries([["constructor", "a"]]),
  );
});
