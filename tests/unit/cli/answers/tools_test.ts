import { assertEquals } from "@std/assert";
import { toolsText } from "../../../../src/cli/answers/tools.ts";

Deno.test("toolsText() shows parameters and which may be left out", () => {
  const params_schema = {
    type: "object",
    properties: { message: { type: "string" }, times: { type: "integer" }, any: {} },
    required: ["message"],
  };
  assertEquals(
    toolsText([
      { name: "echo", description: "Says it\nagain", params_schema, return_schema: null },
      { name: "now", description: "", params_schema: {}, return_schema: null },
    ]),
    "echo(message: string, times?: integer, any?)\n    Says it\n    again\nnow()",
  );
});
