import { assertEquals } from "@std/assert";
import { GivenAnswers } from "../../../../src/cli/questions/call_answers.ts";
import { formOf } from "./_forms.ts";

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
