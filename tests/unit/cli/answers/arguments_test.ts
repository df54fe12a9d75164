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
