import { assertEquals } from "@std/assert";
import { A2C_COMPUTER, A2C_STALE, toMcpTool } from "../../../../src/agent/toolkit/tool_definition.ts";
import type { SMCPTool } from "../../../../src/protocol/tools.ts";

const place = {
  name: "read",
  computer: "desk",
  isStale: false,
  toClientUri: (uri: string, { computer, mcpServer }: { computer: string; mcpServer: string | undefined }) =>
    `a2c://${computer}/${mcpServer}/${uri}`,
};
const plain: SMCPTool = {
  name: "files__read",
  description: "Reads a file.",
  params_schema: { type: "object", properties: { path: { type: "string" } } },
  return_schema: null,
};

Deno.test("toMcpTool() has the name for clients, the schemas and the name of the Computer", () => {
  const schema = { type: "object", properties: { text: { type: "string" } } };
  assertEquals(toMcpTool({ ...plain, return_schema: schema }, place), {
    name: "read",
    description: "Reads a file.",
    inputSchema: { type: "object", properties: { path: { type: "string" } } },
    outputSchema: schema,
    _meta: { [A2C_COMPUTER]: "desk" },
  });
});

Deno.test("toMcpTool() keeps title, hints, icons and the metadata of the MCP server, each with its structure", () => {
  const icons = [{ src: "https://example.com/i.png" }];
  const meta = {
    a2c_mcp_server: "forged",
    MCP_TOOL_TITLE: "Read",
    MCP_TOOL_ANNOTATION: JSON.stringify({ readOnlyHint: true, own: 1 }),
    MCP_TOOL_ICONS: JSON.stringify(icons),
    "example.com/kind": JSON.stringify({ deep: [1] }),
  };
  const tool = toMcpTool({ ...plain, server: "files", meta }, place);
  assertEquals([tool.title, tool.annotations, tool.icons], ["Read", { readOnlyHint: true, own: 1 }, icons]);
  assertEquals(tool._meta, {
    "example.com/kind": { deep: [1] },
    a2c_mcp_server: "files",
    [A2C_COMPUTER]: "desk",
  });
});

Deno.test("toMcpTool() translates the URI of a tool's page, in the key of today and in the older one", () => {
  const meta = {
    ui: JSON.stringify({ resourceUri: "ui://files/page", visibility: ["model"] }),
    "ui/resourceUri": "ui://files/page",
  };
  const page = "a2c://desk/files/ui://files/page";
  const { _meta } = toMcpTool({ ...plain, server: "files", meta }, place);
  assertEquals(_meta?.["ui"], { resourceUri: page, visibility: ["model"] });
  assertEquals(_meta?.["ui/resourceUri"], page);
});

Deno.test("toMcpTool() makes an input schema that is none of an object acceptable, since clients refuse the whole list for it", () => {
  assertEquals(toMcpTool({ ...plain, params_schema: {} }, place).inputSchema, { type: "object" });
});

Deno.test("toMcpTool() marks a tool whose Computer cannot be reached", () => {
  assertEquals(toMcpTool(plain, { ...place, isStale: true })._meta, {
    [A2C_COMPUTER]: "desk",
    [A2C_STALE]: true,
  });
});
