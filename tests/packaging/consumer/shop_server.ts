/** An MCP server with the provider kit, as somebody writes it who has the package from npm. */
// @ts-types="@modelcontextprotocol/sdk/server/mcp"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
// @ts-types="@modelcontextprotocol/sdk/server/stdio"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { provide } from "@a2c-smcp/sdk/provider";

const server = new McpServer({ name: "shop", version: "1.0.0" });
server.registerTool("greet", { description: "Greets" }, () => ({
  content: [{ type: "text" as const, text: "Welcome" }],
}));
const provider = provide(server);
provider.publishWindow({ host: "com.example.shop", path: ["status"], name: "Status", text: "Open" });
provider.publishDocuments({
  host: "com.example.shop",
  list: () => [{ docRef: "prices.txt", title: "Prices" }],
  pages: () => [{ title: "Fruit", elements: [{ category: "text", content: { text: "Apples: 3" } }] }],
});
await server.connect(new StdioServerTransport());
