/** Servers built on the kit, on both transports, from their authors' calls to what the Agent of an office sees. */
import { Client } from "@modelcontextprotocol/sdk/client";
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
// @ts-types="@modelcontextprotocol/sdk/server/mcp"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
// @ts-types="@modelcontextprotocol/sdk/server/webStandardStreamableHttp"
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { assertEquals, assertRejects } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { SmcpError } from "../../src/protocol/errors.ts";
import { Provider } from "../../src/provider/mod.ts";
import { ComputerOffice } from "./_computer_office.ts";
import { eventually } from "../fixtures/within.ts";

const HOST = "com.example.notes";
const RECENT = `window://${HOST}/recent`;

/** An example server in an office, as a process on stdio. */
async function openExample(name: string): Promise<ComputerOffice> {
  const file = fromFileUrl(new URL(`../../examples/provider/${name}`, import.meta.url));
  const server_parameters = {
    command: Deno.execPath(),
    args: ["run", "-A", "--no-lock", "--no-check", file],
  };
  return await ComputerOffice.open({
    servers: { example: { type: "stdio", default_tool_meta: { auto_apply: true }, server_parameters } },
  });
}

/** A Streamable HTTP server with an `McpServer` for each session, all of which show one provider's publications. */
class HttpProvider implements AsyncDisposable {
  readonly provider: Provider = new Provider();
  readonly #sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  readonly #http = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    (request) => this.#handle(request),
  );
  readonly #subscribed = new Map<string, PromiseWithResolvers<void>>();
  #onStream = () => {};

  get url(): string {
    return `http://127.0.0.1:${this.#http.addr.port}/`;
  }

  get sessionCount(): number {
    return this.#sessions.size;
  }

  /** Resolves when the next client has opened its stream for notifications. */
  nextStream(): Promise<void> {
    return new Promise((resolve) => this.#onStream = resolve);
  }

  /** Resolves when a client has subscribed to a URI. */
  subscribed(uri: string): Promise<void> {
    return this.#waiter(uri).promise;
  }

  async #handle(request: Request): Promise<Response> {
    const body = request.method === "POST" ? await request.clone().json() : {};
    const known = this.#sessions.get(request.headers.get("mcp-session-id") ?? "");
    const response = await (known ?? await this.#open()).handleRequest(request);
    if (request.method === "GET") this.#onStream();
    if (body.method === "resources/subscribe") this.#waiter(body.params.uri).resolve();
    return response;
  }

  #waiter(uri: string): PromiseWithResolvers<void> {
    const waiter = this.#subscribed.get(uri) ?? Promise.withResolvers<void>();
    this.#subscribed.set(uri, waiter);
    return waiter;
  }

  async #open(): Promise<WebStandardStreamableHTTPServerTransport> {
    const transport = new WebStandardStreamableHTTPServerTransport({
      // An answer is complete when `handleRequest()` returns.
      enableJsonResponse: true,
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => void this.#sessions.set(id, transport),
      onsessionclosed: (id) => void this.#sessions.delete(id),
    });
    const server = new McpServer({ name: "shared", version: "1.0.0" });
    this.provider.attach(server);
    await server.connect(transport);
    return transport;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const transport of this.#sessions.values()) await transport.close();
    await this.#http.shutdown();
  }
}

/** An office whose Computer is connected to the server, and hears it. */
async function openHttp(http: HttpProvider): Promise<ComputerOffice> {
  const stream = http.nextStream();
  const office = await ComputerOffice.open({
    servers: { app: { type: "streamable", server_parameters: { url: http.url } } },
  });
  await stream;
  return office;
}

/** Waits until the Agent sees this Desktop; one change may be told in several events. */
async function shows(office: ComputerOffice, expected: readonly string[]): Promise<void> {
  const wanted = JSON.stringify(expected);
  const isWanted = (desktop: unknown) => JSON.stringify(desktop) === wanted;
  await eventually(() => office.laptop.getDesktop(), isWanted, `the Desktop ${wanted}`);
}

// proves: desktop-provide-read, desktop-provide-updated, desktop-flow-content
Deno.test("over stdio, a window that a tool updates reaches the Agent", async () => {
  await using office = await openExample("notes.ts");
  assertEquals(await office.laptop.getDesktop(), [`${RECENT}\n\nNo note yet.`]);
  const update = office.next("updateDesktop");
  await office.laptop.callTool("write_note", { name: "today", text: "Buy milk" });
  await update;
  assertEquals(await office.laptop.getDesktop(), [`${RECENT}\n\ntoday: Buy milk`]);
});

// proves: finder-provide-list-changed, finder-provide-updated, finder-flow-list, finder-flow-content
Deno.test("over stdio, a document that comes, changes and goes reaches the Agent, and is read at each level", async () => {
  await using office = await openExample("notes.ts");
  const { laptop } = office;
  const summaries = async () => (await laptop.getFinder()).documents.map(({ summary }) => summary);
  assertEquals(await summaries(), []);
  let update = office.next("updateFinder");
  await laptop.callTool("write_note", { name: "to do", text: "Buy milk\n\nCall Ada" });
  await update;
  assertEquals(await summaries(), ["Buy milk\n\nCall Ada"]);

  const uri = `dpe://${HOST}/to%20do`;
  const { pages } = await laptop.readDocumentPages(uri);
  assertEquals(pages.map(({ title }) => title), ["Paragraph 1", "Paragraph 2"]);
  assertEquals((await laptop.readPage(uri, 1, { format: "markdown" })).content_markdown, "Call Ada");
  assertEquals((await laptop.readElement(uri, "p0-e0")).content, { text: "Buy milk" });

  update = office.next("updateFinder");
  await laptop.callTool("write_note", { name: "to do", text: "Rest" });
  await update;
  assertEquals(await summaries(), ["Rest"]);

  update = office.next("updateFinder");
  await laptop.callTool("delete_note", { name: "to do" });
  await update;
  assertEquals(await summaries(), []);
});

// proves: guide-4201-origin, guide-4202-origin, guide-4203-origin, guide-error-kept
Deno.test("over stdio, the errors of a source reach the Agent with their details", async () => {
  await using office = await openExample("notes.ts");
  await office.laptop.callTool("write_note", { name: "a", text: "A" });
  const refusal = async (rest: string) => {
    const read = () => office.laptop.readResource(`dpe://${HOST}/${rest}`);
    const { code, details } = await assertRejects(read, SmcpError);
    return [code, details];
  };
  assertEquals(await refusal("b"), [4201, { doc_ref: "b" }]);
  assertEquals(await refusal("a/pages/1"), [4202, { doc_ref: "a", page_index: 1, page_count: 1 }]);
  assertEquals(await refusal("a/elements/x"), [4203, { doc_ref: "a", element_id: "x" }]);
});

// proves: guide-test-e2e-queries, dpe-query-format, dpe-query-depth, finder-provide-categories
Deno.test("over stdio, the Agent reads with each parameter of the query", async () => {
  await using office = await openExample("finder.ts");
  const read = async (rest: string): Promise<Record<string, unknown>> => {
    const { contents } = await office.laptop.readResource(`dpe://com.example.docs/rpt-2026${rest}`);
    return JSON.parse(contents[0]?.text ?? "");
  };
  const index = await read("?depth=pages&offset=1&limit=1");
  assertEquals([index["page_offset"], index["page_limit"], index["page_total"]], [1, 1, 2]);
  const page = await read("/pages/0?categories=heading&format=markdown");
  assertEquals([page["element_count"], page["content_markdown"]], [1, "# 2026 年度总结"]);
  assertEquals((await read("/elements/h-001?format=text"))["content_text"], "2026 年度总结");
});

// proves: desktop-provide-list, desktop-provide-list-changed, desktop-provide-updated
Deno.test("over Streamable HTTP, windows that come, change and go reach the Agent", async () => {
  await using http = new HttpProvider();
  const { provider } = http;
  const low = provider.publishWindow({ uri: "window://app/low", name: "Low", priority: 0.1, text: "low" });
  await using office = await openHttp(http);
  await http.subscribed(low.uri);
  await shows(office, ["window://app/low\n\nlow"]);

  let update = office.next("updateDesktop");
  const high = provider.publishWindow({
    uri: "window://app/high",
    name: "High",
    priority: 0.2,
    text: "high",
  });
  await update;
  await shows(office, ["window://app/high\n\nhigh", "window://app/low\n\nlow"]);
  update = office.next("updateDesktop");
  low.set({ fullscreen: true });
  await update;
  await shows(office, ["window://app/low\n\nlow"]);
  update = office.next("updateDesktop");
  low.update("lower");
  await update;
  await shows(office, ["window://app/low\n\nlower"]);
  low.set({ fullscreen: false });
  high.remove();
  await shows(office, ["window://app/low\n\nlower"]);
});

Deno.test("over Streamable HTTP, of 10,000 updates the Agent hears, and sees the last", async () => {
  await using http = new HttpProvider();
  const log = http.provider.publishWindow({ uri: "window://app/log", name: "Log", text: "0" });
  await using office = await openHttp(http);
  await http.subscribed(log.uri);
  const update = office.next("updateDesktop");
  for (let i = 1; i <= 10_000; i++) {
    log.update(String(i));
    if (i % 100 === 0) await Promise.resolve();
  }
  await update;
  await shows(office, ["window://app/log\n\n10000"]);
});

// proves: mcp-subscribe, mcp-updated
Deno.test("over Streamable HTTP, each session hears of what it subscribed to, and is forgotten when it ends", async () => {
  await using http = new HttpProvider();
  const documents = http.provider.publishDocuments({
    host: HOST,
    list: () => [{ docRef: "a" }, { docRef: "b" }],
    pages: () => [],
  });
  const told: string[][] = [[], []];
  const marked = told.map(() => Promise.withResolvers<void>());
  const transports: StreamableHTTPClientTransport[] = [];
  for (const [index, docRef] of ["a", "b"].entries()) {
    const client = new Client({ name: docRef, version: "1.0.0" });
    client.fallbackNotificationHandler = ({ params }) => {
      const uri = String(params?.["uri"]);
      if (uri === "marker:") marked[index]?.resolve();
      else told[index]?.push(uri);
      return Promise.resolve();
    };
    const transport = new StreamableHTTPClientTransport(new URL(http.url));
    transports.push(transport);
    const stream = http.nextStream();
    await client.connect(transport);
    await stream;
    await client.subscribeResource({ uri: documents.uri(docRef) });
    await client.subscribeResource({ uri: "marker:" });
  }
  for (const docRef of ["a", "b", "a"]) documents.changed(docRef);
  http.provider.resourceUpdated("marker:");
  await Promise.all(marked.map(({ promise }) => promise));
  assertEquals(told, [[`dpe://${HOST}/a`], [`dpe://${HOST}/b`]]);
  for (const transport of transports) {
    await transport.terminateSession();
    await transport.close();
  }
  assertEquals(http.sessionCount, 0);
  documents.changed("a");
  documents.listChanged();
});
