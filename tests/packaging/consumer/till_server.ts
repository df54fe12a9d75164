/** The same on version 2 of the MCP SDK. */
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { Provider } from "@a2c-smcp/sdk/provider";

const provider = new Provider();
provider.publishWindow({ host: "com.example.till", name: "Till", text: "Empty" });

serveStdio(() => {
  const server = new McpServer({ name: "till", version: "1.0.0" });
  provider.attach(server);
  return server;
});
