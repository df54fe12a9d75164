/** An MCP server on stdio: a shop with tools that read, show a picture and sell, and a window with the stock. */
// @ts-types="@modelcontextprotocol/sdk/server/mcp"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
// @ts-types="@modelcontextprotocol/sdk/server/stdio"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { provide } from "@a2c-smcp/sdk/provider";
import process from "node:process";
import { z } from "zod";

/** A red pixel. */
const PICTURE =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

const server = new McpServer({ name: "shop", version: "1.0.0" });
let apples = 3;
const window = provide(server).publishWindow({
  host: "com.example.shop",
  path: ["stock"],
  name: "Stock",
  read: () => `Apples: ${apples}`,
});

server.registerTool("stock", {
  description: "Tells how many apples there are.",
  annotations: { readOnlyHint: true },
}, () => ({ content: [{ type: "text", text: `There are ${apples} apples` }] }));

server.registerTool("photo", {
  description: "Takes a picture of an apple.",
  annotations: { readOnlyHint: true },
}, () => ({
  content: [{ type: "text", text: "An apple" }, { type: "image", data: PICTURE, mimeType: "image/png" }],
}));

server.registerTool("sell", {
  description: "Sells apples.",
  inputSchema: { count: z.number().int().min(1) },
  annotations: { destructiveHint: true },
}, ({ count }) => {
  if (count > apples) {
    return { isError: true, content: [{ type: "text", text: `Only ${apples} apples are left` }] };
  }
  apples -= count;
  window.update();
  return { content: [{ type: "text", text: `Sold ${count}, ${apples} are left` }] };
});

process.stdin.once("end", () => process.exit(0));
await server.connect(new StdioServerTransport());
