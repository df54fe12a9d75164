/**
 * A server on version 2 of the MCP SDK, for clients of MCP 2026-07-28 and of the revisions before: over HTTP, or with
 * `--stdio` on stdio. With `--check` it starts a client of each revision over real sockets, checks that both are
 * notified of one change of a window, and exits:
 *
 * ```sh
 * deno run -A examples/provider/both_revisions.ts --check
 * ```
 */
import { Client, type ClientOptions, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import {
  createMcpHandler,
  isLegacyRequest,
  McpServer,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { assertEquals } from "@std/assert";
import { z } from "zod";
import { Provider } from "../../src/provider/mod.ts";

const provider = new Provider();
const status = provider.publishWindow({ host: "com.example.shop", name: "Status", text: "open" });

/** All servers share the provider, and with it what it publishes. */
function newServer(): McpServer {
  const server = new McpServer({ name: "shop", version: "1.0.0" });
  provider.attach(server);
  server.registerTool("set_status", {
    description: "Opens or closes the shop.",
    inputSchema: z.object({ status: z.enum(["open", "closed"]) }),
  }, ({ status: text }) => {
    status.update(text);
    return { content: [{ type: "text", text: "Done" }] };
  });
  return server;
}

/** Serves 2026-07-28: a server for each request. The handler is attached, too: it notifies the clients. */
const handler = createMcpHandler(newServer, { legacy: "reject" });
provider.attach(handler);

/** Serves the revisions before: a server for each session. */
const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();

async function handle(request: Request): Promise<Response> {
  if (isFromPage(request)) return new Response("Not for web pages", { status: 403 });
  if (!await isLegacyRequest(request)) return await handler.fetch(request);
  const id = request.headers.get("mcp-session-id");
  if (id !== null) {
    return await sessions.get(id)?.handleRequest(request) ?? new Response("No such session", { status: 404 });
  }
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: () => crypto.randomUUID(),
    onsessioninitialized: (id) => void sessions.set(id, transport),
    onsessionclosed: (id) => void sessions.delete(id),
  });
  await newServer().connect(transport);
  return await transport.handleRequest(request);
}

/** Whether a web page sent the request. It has an `Origin`, or a `Host` that is a domain name of the page's owner. */
function isFromPage({ headers, url }: Request): boolean {
  return headers.has("origin") || !["127.0.0.1", "localhost"].includes(new URL(url).hostname);
}

/** A client of one revision, and the next URI that it is told has changed. */
async function connect(url: URL, options: ClientOptions): Promise<{ client: Client; told: Promise<string> }> {
  const client = new Client({ name: "check", version: "1.0.0" }, options);
  const told = Promise.withResolvers<string>();
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => told.resolve(params.uri));
  await client.connect(new StreamableHTTPClientTransport(url));
  return { client, told: told.promise };
}

async function check(): Promise<void> {
  const stream = Promise.withResolvers<void>();
  const http = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    const response = await handle(request);
    // The client of 2025 opens its stream for notifications some time after it has connected.
    if (request.method === "GET") stream.resolve();
    return response;
  });
  const url = new URL(`http://127.0.0.1:${http.addr.port}/`);
  const before = await connect(url, { versionNegotiation: { mode: "legacy" } });
  await stream.promise;
  await before.client.subscribeResource({ uri: status.uri });
  const since = await connect(url, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
  const listening = await since.client.listen({ resourceSubscriptions: [status.uri] });

  await since.client.callTool({ name: "set_status", arguments: { status: "closed" } });
  assertEquals(await Promise.all([before.told, since.told]), [status.uri, status.uri]);
  for (const { client } of [before, since]) {
    const { contents: [content] } = await client.readResource({ uri: status.uri });
    assertEquals(content !== undefined && "text" in content ? content.text : "", "closed");
  }

  await listening.close();
  for (const { client } of [before, since]) await client.close();
  await handler.close();
  for (const transport of sessions.values()) await transport.close();
  await http.shutdown();
  console.log("A client of each revision was notified of one change of a window.");
}

if (import.meta.main) {
  if (Deno.args.includes("--check")) await check();
  else if (Deno.args.includes("--stdio")) serveStdio(newServer);
  else Deno.serve({ hostname: "127.0.0.1" }, handle);
}
