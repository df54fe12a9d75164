import { assertEquals, assertThrows } from "@std/assert";
import { UsageError } from "../../../../src/cli/outcome.ts";
import {
  argumentCandidates,
  readArgument,
  toArguments,
  type TypedArguments,
} from "../../../../src/cli/answers/arguments.ts";

const SCHEMA = {
  properties: { text: { type: "string" }, times: { type: "integer" }, tags: { type: "array" } },
};

function read(...words: string[]): Record<string, unknown> {
  const typed = words.reduce<TypedArguments | undefined>(
    (earlier, word) => readArgument(word, earlier),
    undefined,
  );
  return toArguments(typed ?? { json: {}, texts: {} }, SCHEMA);
}

Deno.test("a value is a text where the tool wants one, and JSON where it can be read as JSON", () => {
  assertEquals(read("text=3", "times=3", 'tags=["a"]'), { text: "3", times: 3, tags: ["a"] });
  assertEquals(read("other=plain", "flag=true", "empty="), { other: "plain", flag: true, empty: "" });
});

Deno.test("a value is the text where the schema, as deep as it goes, rejects the JSON value and accepts the text", () => {
  const schema = {
    $defs: { id: { type: "string" }, choice: { anyOf: [{ $ref: "#/$defs/id" }, { type: "null" }] } },
    required: ["other"],
    additionalProperties: false,
    properties: {
      optional: { anyOf: [{ type: "string" }, { type: "null" }] },
      listed: { type: ["string", "null"] },
      referred: { $ref: "#/$defs/id" },
      deep: { $ref: "#/$defs/choice" },
      sibling: { $ref: "#/properties/listed" },
      all: { allOf: [{ $ref: "#/$defs/id" }, { minLength: 2 }] },
      one: { oneOf: [{ type: "string" }, { type: "array", items: { type: "integer" } }] },
      named: { enum: ["1", "2", "true"] },
      fixed: { const: "5" },
      mixed: { type: ["string", "integer"] },
      count: { anyOf: [{ type: "integer" }, { type: "null" }] },
      any: {},
    },
  };
  const cases: readonly [string, unknown][] = [
    ["optional=42", "42"],
    ["optional=null", null],
    ['optional="42"', "42"],
    ["optional=12345678901234567890", "12345678901234567890"],
    ["optional=true", "true"],
    ["listed=3.10", "3.10"],
    ["referred=[1]", "[1]"],
    ["deep=1e400", "1e400"],
    ["sibling=007", "007"],
    ["sibling=7", "7"],
    ["all=12", "12"],
    ["one=5", "5"],
    ["one=[5]", [5]],
    ["named=1", "1"],
    ["named=true", "true"],
    ["fixed=5", "5"],
    ["mixed=5", 5],
    ["mixed=5.5", "5.5"],
    ["count=5", 5],
    ["count=x", "x"],
    ["any=5", 5],
  ];
  for (const [word, expected] of cases) {
    assertEquals(Object.values(toArguments(readArgument(word), schema)), [expected], word);
  }
});

Deno.test("the schema of a value may stand at the top, and a number that JSON cannot keep is refused", () => {
  const id = { properties: { q: { type: "string" } }, required: ["other"] };
  for (
    const schema of [
      { $ref: "#/$defs/id", $defs: { id } },
      { allOf: [id, { properties: { n: {} } }] },
      { additionalProperties: { type: "string" } },
      { additionalProperties: { anyOf: [{ type: "null" }, { type: "string" }] } },
    ]
  ) {
    assertEquals(toArguments(readArgument("q=42"), schema), { q: "42" }, JSON.stringify(schema));
  }
  const big = { properties: { n: { type: "integer" }, any: {}, text: { type: ["string", "null"] } } };
  for (const word of ["n=12345678901234567890", "any=-12345678901234567890"]) {
    assertThrows(() => toArguments(readArgument(word), big), UsageError, "digits");
  }
  assertEquals(toArguments(readArgument("text=12345678901234567890"), big), { text: "12345678901234567890" });
  assertEquals(toArguments(readArgument("n=1e300"), big), { n: 1e300 });
});

Deno.test("a value may hold what separates and what begins JSON", () => {
  assertEquals(read("text=a=b", 'text2={"a":1}'), { text: "a=b", text2: { a: 1 } });
});

Deno.test("a JSON object stands for all its members", () => {
  assertEquals(read('{"text":"a=b"}', "times=2"), { text: "a=b", times: 2 });
});

Deno.test("what is neither says how to write it", () => {
  for (const word of ["hello", "=x", "[1]", "{text:1}", "{"]) {
    assertThrows(() => readArgument(word), UsageError, "NAME=VALUE");
  }
});

Deno.test("a parameter is never found where every object has something", () => {
  assertEquals(read("toString=1"), { toString: 1 });
});

Deno.test("argumentCandidates() offers names, then the values that a schema lists, as they are read", () => {
  const schema = {
    properties: {
      mode: { type: "string", enum: ["fast", "3"] },
      level: { enum: ["low", "3", 3, null] },
      dry: { type: "boolean" },
      text: { type: "string" },
    },
  };
  assertEquals(argumentCandidates(schema, "m"), ["mode=", "level=", "dry=", "text="]);
  assertEquals(argumentCandidates(schema, "mode=f"), ["mode=fast", "mode=3"]);
  assertEquals(argumentCandidates(schema, "dry="), ["dry=true", "dry=false"]);
  assertEquals(argumentCandidates(schema, "text=a"), []);
  assertEquals(argumentCandidates(schema, "toString="), []);
  const levels = argumentCandidates(schema, "level=");
  const read = levels.map((word) => toArguments(readArgument(word), schema)["level"]);
  assertEquals(read, ["low", "3", 3, null]);
});
