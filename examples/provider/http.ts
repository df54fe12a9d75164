/**
 * One provider for all sessions of a Streamable HTTP server: the window is updated once, and each client that
 * subscribed to it is notified. With `--check` it starts two clients over real sockets, checks this and exits:
 *
 * ```sh
 * deno run -A examples/provider/http.ts --check
 * ```
 *
 * Without `--check` the server listens on 127.0.0.1 and prints its URL.
 */
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
// @ts-types="@modelcontextprotocol/sdk/server/mcp"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
// @ts-types="@modelcontextprotocol/sdk/server/webStandardStreamableHttp"
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { assertEquals } from "@std/assert";
import { Provider } from "../../src/provider/mod.ts";
import { CheckingClient } from "./_check.ts";

const provider = new Provider();
const status = provider.publishWindow({ host: "com.example.shared", name: "Status", text: "open" });

const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();

/** Each session has its own `McpServer`; all of them share the provider. */
async function handle(request: Request): Promise<Response> {
  if (isFromPage(request)) return new Response("Not for web pages", { status: 403 });
  const id = request.headers.get("mcp-session-id");
  if (id !== null) {
    return await sessions.get(id)?.handleRequest(request) ?? new Response("No such session", { status: 404 });
  }
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => crypto.randomUUID(),
    onsessioninitialized: (id) => void sessions.set(id, transport),
    onsessionclosed: (id) => void sessions.delete(id),
  });
  const server = new McpServer({ name: "shared", version: "1.0.0" });
  provider.attach(server);
  await server.connect(transport);
  return await transport.handleRequest(request);
}

/** Whether a web page sent the request. It has an `Origin`, or a `Host` that is a domain name of the page's owner. */
function isFromPage({ headers, url }: Request): boolean {
  return headers.has("origin") || !["127.0.0.1", "localhost"].includes(new URL(url).hostname);
}

async function check(): Promise<void> {
  const streams = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let opened = 0;
  const http = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    const response = await handle(request);
    // Each client opens its stream for notifications some time after it has connected.
    if (request.method === "GET") streams[opened++]?.resolve();
    return response;
  });
  const url = new URL(`http://127.0.0.1:${http.addr.port}/`);
  const transports = [new StreamableHTTPClientTransport(url), new StreamableHTTPClientTransport(url)];
  const clients = await Promise.all(transports.map((transport) => CheckingClient.connect(transport)));
  await Promise.all(streams.map(({ promise }) => promise));

  const told = clients.map((checking) => checking.next("notifications/resources/updated"));
  for (const { client } of clients) await client.subscribeResource({ uri: status.uri });
  status.update("closed");
  assertEquals(await Promise.all(told), [{ uri: status.uri }, { uri: status.uri }]);
  for (const checking of clients) assertEquals(await checking.text(status.uri), "closed");

  for (const transport of transports) await transport.terminateSession();
  for (const checking of clients) await checking[Symbol.asyncDispose]();
  await http.shutdown();
  assertEquals(sessions.size, 0);
  console.log("Two sessions were notified of one change of a window.");
}

if (import.meta.main) {
  if (Deno.args.includes("--check")) await check();
  else Deno.serve({ hostname: "127.0.0.1" }, handle);
}
