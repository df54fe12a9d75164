import { assertEquals, assertStringIncludes } from "@std/assert";
import { PLAIN } from "../../../../src/terminal/screen.ts";
import { drawTools, toolText } from "../../../../src/cli/answers/tools.ts";

const params_schema = {
  type: "object",
  properties: { message: { type: "string" }, times: { type: "integer" }, any: {} },
  required: ["message"],
};

const setAmount = {
  name: "set_amount",
  description: "Sets an amount\nof goods",
  params_schema,
  return_schema: null,
  server: "shop",
  meta: {
    MCP_TOOL_TITLE: "Set amount",
    MCP_TOOL_EXECUTION: '{"taskSupport":"required"}',
    ui: '{"resourceUri":"ui://shop/cart","visibility":["app"]}',
  },
};

Deno.test("drawTools() shows parameters, title and mark, each description on one line", () => {
  const now = { name: "now", description: "", params_schema: {}, return_schema: null };
  assertEquals(
    `\n${drawTools([setAmount, now], { columns: Infinity, palette: PLAIN })}\n`,
    `
shop  1 tool
  set_amount(message: string, times?: integer, any?)
      Set amount [app only]: Sets an amount of goods

1 tool
  now()

"tools NAME" shows one tool in full
`,
  );
});

Deno.test("toolText() shows the description, the MCP server, the page, and whether the tool runs as a task", () => {
  const text = toolText(setAmount);
  assertStringIncludes(
    text,
    `set_amount(message: string, times?: integer, any?)  Set amount [app only]
    Sets an amount
    of goods

MCP server shop
page ui://shop/cart
as a task: required
`,
  );
  assertStringIncludes(
    toolText({ ...setAmount, meta: { MCP_TOOL_TITLE: "set_amount" } }),
    "any?)\n    Sets an amount\n",
  );
});
