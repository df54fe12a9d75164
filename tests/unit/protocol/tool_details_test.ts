import { assertEquals } from "@std/assert";
import { isForModel, toolDetails } from "../../../src/protocol/tool_details.ts";

Deno.test("toolDetails() parses what stands in a tool's flat metadata", () => {
  const meta = {
    a2c_mcp_server: "forged",
    a2c_tool_meta: '{"auto_apply":true,"alias":null,"tags":["a"],"ret_object_mapper":null}',
    MCP_TOOL_TITLE: "Remove",
    MCP_TOOL_ANNOTATION: '{"title":"Other","destructiveHint":true,"x":1}',
    MCP_TOOL_ICONS: '[{"src":"https://x/i.png","sizes":["48x48"]},{"sizes":[]},null]',
  };
  assertEquals(toolDetails({ meta, server: "files" }), {
    mcpServer: "files",
    title: "Remove",
    annotations: { title: "Other", destructiveHint: true, x: 1 },
    icons: [{ src: "https://x/i.png", sizes: ["48x48"] }],
    toolMeta: { auto_apply: true, alias: null, tags: ["a"], ret_object_mapper: null },
  });
});

Deno.test("toolDetails() finds nothing in what is missing or of another type", () => {
  assertEquals(toolDetails({}), {});
  assertEquals(toolDetails({ meta: null }), {});
  assertEquals(
    toolDetails({
      meta: {
        a2c_mcp_server: 1,
        a2c_tool_meta: '{"alias":1}',
        MCP_TOOL_ANNOTATION: "[",
        MCP_TOOL_ICONS: "{}",
      },
    }),
    {},
  );
  const hints = '{"readOnlyHint":"yes","idempotentHint":false,"title":7}';
  assertEquals(toolDetails({ meta: { MCP_TOOL_ANNOTATION: hints } }), {
    annotations: { idempotentHint: false },
  });
});

Deno.test("toolDetails() takes the title from MCP's annotations where a peer sends no other", () => {
  assertEquals(toolDetails({ meta: { MCP_TOOL_ANNOTATION: '{"title":"Add"}' } }).title, "Add");
});

Deno.test("toolDetails() gives the page of a tool, who may call it, and the rest of the MCP server's _meta", () => {
  const meta = {
    MCP_TOOL_EXECUTION: '{"taskSupport":"required"}',
    ui: '{"resourceUri":"ui://shop/cart","visibility":["app",7],"prefersBorder":true}',
    "com.example/note": "[not JSON",
    "com.example/count": 3,
  };
  const ui = { resourceUri: "ui://shop/cart", visibility: ["app"] as const, prefersBorder: true };
  assertEquals(toolDetails({ meta, bundle_id: "shop" }), {
    mcpServer: "shop",
    ui,
    taskSupport: "required",
    meta: { ui: { ...ui, visibility: ["app", 7] }, "com.example/note": "[not JSON", "com.example/count": 3 },
  });
});

Deno.test("the page of a tool may stand under the older key of MCP Apps", () => {
  const ui = { resourceUri: "ui://shop/cart", visibility: ["model", "app"] as const };
  assertEquals(toolDetails({ meta: { "ui/resourceUri": "ui://shop/cart" } }).ui, ui);
});

Deno.test("isForModel() leaves out only tools that their page alone may call", () => {
  const isFor = (ui: unknown) => isForModel({ meta: { ui: JSON.stringify(ui) } });
  assertEquals(isFor({ visibility: ["app"] }), false);
  assertEquals(isFor({ visibility: ["model"] }), true);
  assertEquals(isFor({ visibility: [] }), true);
  assertEquals(isFor({ visibility: "app" }), true);
  assertEquals(isFor("x"), true);
  assertEquals(isForModel({ meta: null }), true);
});
