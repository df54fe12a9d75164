import { assertEquals, assertStringIncludes } from "@std/assert";
import { PLAIN } from "../../../../src/terminal/screen.ts";
import { drawTools, toolsText, toolText } from "../../../../src/cli/answers/tools.ts";

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

const setAmount = {
  name: "set_amount",
  description: "Sets an amount",
  params_schema: {},
  return_schema: null,
  server: "shop",
  meta: {
    MCP_TOOL_TITLE: "Set amount",
    MCP_TOOL_EXECUTION: '{"taskSupport":"required"}',
    ui: '{"resourceUri":"ui://shop/cart","visibility":["app"]}',
  },
};

Deno.test("toolsText() shows the title of a tool, and marks a tool that its page alone may call", () => {
  assertEquals(toolsText([setAmount]), "set_amount()  Set amount [app only]\n    Sets an amount");
  const same = { ...setAmount, meta: { MCP_TOOL_TITLE: "set_amount" } };
  assertEquals(toolsText([same]), "set_amount()\n    Sets an amount");
});

Deno.test("drawTools() shows title and mark before the description", () => {
  const drawn = drawTools([setAmount], { columns: 80, palette: PLAIN });
  assertStringIncludes(drawn ?? "", "Set amount [app only]: Sets an amount");
});

Deno.test("toolText() names the MCP server, the page, and whether the tool runs as a task", () => {
  const text = toolText(setAmount);
  assertStringIncludes(text, "MCP server shop\npage ui://shop/cart\nas a task: required\n");
});
