import { assertEquals } from "@std/assert";
import { toolDetails } from "../../../src/protocol/tool_details.ts";

Deno.test("toolDetails() parses what stands in a tool's flat metadata", () => {
  const meta = {
    a2c_mcp_server: "files",
    a2c_tool_meta: '{"auto_apply":true,"alias":null,"tags":["a"],"ret_object_mapper":null}',
    MCP_TOOL_TITLE: "Remove",
    MCP_TOOL_ANNOTATION: '{"title":"Other","destructiveHint":true,"x":1}',
    MCP_TOOL_ICONS: '[{"src":"https://x/i.png","sizes":["48x48"]},{"sizes":[]},null]',
  };
  assertEquals(toolDetails({ meta }), {
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
