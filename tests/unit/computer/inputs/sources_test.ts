import { assertEquals, assertThrows } from "@std/assert";
import { environmentInputs, findInput } from "../../../../src/computer/inputs/sources.ts";

Deno.test("the variable of an input is A2C_INPUT_ and its id in capitals", () => {
  const source = environmentInputs((name) => name === "A2C_INPUT_MY_API_KEY_2" ? "v" : undefined);
  assertEquals([source("my-api.key 2"), source("other")], ["v", undefined]);
});

Deno.test("findInput() gives the input of an id, or an error that lists the inputs", () => {
  const input = { id: "key", type: "promptString", description: "" } as const;
  assertEquals(findInput("key", [input]), input);
  const error = assertThrows(() => findInput("keys", []), TypeError);
  assertEquals(error.message, 'No input named "keys" (inputs: none)');
});
