/** Servers of MCP 2026-07-28, which has no sessions: version 2 of the SDK on stdio and over HTTP, through the whole chain. */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { SmcpError } from "../../src/protocol/errors.ts";
import { kioskCommand, kioskOnStdio } from "../fixtures/kiosk_config.ts";
import { HttpMcpServer } from "../fixtures/http_server.ts";
import { KioskHttp } from "../fixtures/kiosk_http.ts";
import { stateOf } from "../fixtures/log_book.ts";
import type { Message } from "../fixtures/script.ts";
import { ComputerOffice } from "./_computer_office.ts";

/** The kiosk of 2026-07-28 over one transport. */
class OpenKiosk implements AsyncDisposable {
  readonly config: Record<string, unknown>;
  readonly #http: KioskHttp | undefined;

  constructor(transport: "stdio" | "http") {
    this.#http = transport === "http" ? new KioskHttp({ serves: "2026" }) : undefined;
    this.config = this.#http?.config() ??
      kioskOnStdio({ mcp_version: "2026", server_parameters: kioskCommand("2026") });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#http?.[Symbol.asyncDispose]();
  }
}

function textOf({ content }: { readonly content: readonly { readonly text?: string }[] }): string {
  return content[0]?.text ?? "";
}

for (const transport of ["stdio", "http"] as const) {
  Deno.test(`a server of 2026-07-28 on ${transport} lists its tools and answers calls`, async () => {
    await using kiosk = new OpenKiosk(transport);
    await using office = await ComputerOffice.open({ servers: { kiosk: kiosk.config } });
    const { laptop, computer } = office;
    assertEquals(computer.servers.get("kiosk")?.status, "running");
    const tools = await laptop.getTools();
    assert(tools.some(({ name }) => name === "echo"), JSON.stringify(tools.map(({ name }) => name)));
    assertEquals(textOf(await laptop.callTool("echo", { text: "grüß dich 😀" })), "grüß dich 😀");
    assertEquals((await laptop.callTool("fail")).isError, true);
  });

  Deno.test(`windows and documents of a server of 2026-07-28 on ${transport} arrive and change live`, async () => {
    await using kiosk = new OpenKiosk(transport);
    await using office = await ComputerOffice.open({ servers: { kiosk: kiosk.config } });
    const { laptop } = office;
    const texts = async () => (await laptop.getDesktop()).join("\n");
    assertStringIncludes(await texts(), "Welcome");
    const changed = office.next("updateDesktop");
    await laptop.callTool("show", { text: "Milk is out" });
    await changed;
    assertStringIncludes(await texts(), "Milk is out");
    const hasNewDocument = office.next("updateFinder");
    await laptop.callTool("write", { name: "prices.txt", text: "Tea 2" });
    await hasNewDocument;
    assertStringIncludes(JSON.stringify(await laptop.getFinder()), "prices.txt");
  });

  Deno.test(`a new tool of a server of 2026-07-28 on ${transport} arrives by itself`, async () => {
    await using kiosk = new OpenKiosk(transport);
    await using office = await ComputerOffice.open({ servers: { kiosk: kiosk.config } });
    const names = async () => (await office.laptop.getTools()).map(({ name }) => name);
    assertEquals((await names()).includes("special"), false);
    const changed = office.next("updateToolList");
    await office.laptop.callTool("add_special");
    await changed;
    assertEquals((await names()).includes("special"), true);
    assertEquals(textOf(await office.laptop.callTool("special")), "cocoa");
  });
}

/** A server of 2026-07-28 that announces no changes, whose answers hold for a time. */
function holding(ttlMs: number): HttpMcpServer {
  const uri = "window://com.example.clock/now";
  const fresh = { resultType: "complete", ttlMs, cacheScope: "private" };
  return new HttpMcpServer("streamable", {
    answers: {
      "server/discover": {
        ...fresh,
        supportedVersions: ["2026-07-28"],
        capabilities: { tools: {}, resources: { subscribe: true } },
      },
      "tools/list": { ...fresh, tools: [{ name: "tick", inputSchema: { type: "object" } }] },
      "resources/list": { ...fresh, resources: [{ uri, name: "now" }] },
      "resources/read": { ...fresh, contents: [{ uri, text: "noon" }] },
    },
    hang: ["subscriptions/listen"],
  });
}

Deno.test("what a server says to hold for a while is served from memory", async () => {
  await using server = holding(600_000);
  await using office = await ComputerOffice.open({ servers: { clock: server.config() } });
  for (let i = 0; i < 3; i++) assertStringIncludes((await office.laptop.getDesktop()).join(), "noon");
  const count = (name: string) => server.requests.filter((request) => request === name).length;
  assertEquals([count("POST resources/list"), count("POST resources/read")], [1, 1]);
});

Deno.test("what a server says to hold for no time is read for each request", async () => {
  await using server = holding(0);
  await using office = await ComputerOffice.open({ servers: { clock: server.config() } });
  const count = (name: string) => server.requests.filter((request) => request === name).length;
  const before = [count("POST resources/list"), count("POST resources/read")];
  for (let i = 0; i < 3; i++) await office.laptop.getDesktop();
  const [lists = 0, reads = 0] = before;
  assert(count("POST resources/list") >= lists + 3, server.requests.join());
  assert(count("POST resources/read") >= reads + 3, server.requests.join());
});

Deno.test("tools of a server that announces no changes are listed again when their time is over and an Agent asks", async () => {
  await using server = holding(0);
  await using office = await ComputerOffice.open({ servers: { clock: server.config() } });
  const again = server.next("POST tools/list");
  await office.laptop.getTools();
  await again;
});

Deno.test("a stream of changes that the server ends is opened again, and what changed meanwhile arrives", async () => {
  await using kiosk = new KioskHttp({ serves: "2026" });
  await using office = await ComputerOffice.open({ servers: { kiosk: kiosk.config() } });
  await office.laptop.getDesktop();
  const again = kiosk.next("POST subscriptions/listen");
  const changed = office.next("updateDesktop");
  await kiosk.endStreams();
  kiosk.kiosk.window.update("Closed for lunch");
  await again;
  await changed;
  assertStringIncludes((await office.laptop.getDesktop()).join(), "Closed for lunch");
  const live = office.next("updateDesktop");
  await office.laptop.callTool("show", { text: "Open again" });
  await live;
});

Deno.test("a server of 2026-07-28 that hangs is noticed and used with a new connection", async () => {
  let isOpen = false;
  let isHung = false;
  const over = Promise.withResolvers<void>();
  const hang = () => over.promise.then(() => new Response(null, { status: 503 }));
  // The first that is not answered is a ping: with another request on its way, there would be none.
  const isPing = ({ headers }: Request) => headers.get("mcp-method") === "server/discover";
  const intercept = (request: Request) => {
    isHung ||= isOpen && isPing(request);
    return isHung ? hang() : undefined;
  };
  await using kiosk = new KioskHttp({ serves: "2026", intercept });
  using _end = { [Symbol.dispose]: () => over.resolve() };
  await using office = await ComputerOffice.open({ servers: { kiosk: kiosk.config() } }, {
    limits: { pingIntervalMs: 20, pingTimeoutMs: 1_000 },
  });
  const retrying = office.log.next(stateOf("kiosk", "retrying"));
  isOpen = true;
  assertStringIncludes(String((await retrying).fields["error"]), "pings");
});

Deno.test("arguments go into HTTP headers where the tool says so, and again as it says when it has changed", async () => {
  const fresh = { resultType: "complete", ttlMs: 600_000, cacheScope: "private" };
  const marked = (name: string) => ({
    name: "query",
    inputSchema: {
      type: "object",
      properties: { region: { type: "string", "x-mcp-header": name } },
    },
  });
  let header = "Region";
  const seen: (string | null)[] = [];
  const intercept = ({ id, method }: Message, { headers }: Request) => {
    if (method === "tools/list") {
      return Response.json({ jsonrpc: "2.0", id, result: { ...fresh, tools: [marked(header)] } });
    }
    if (method !== "tools/call") return undefined;
    seen.push(headers.get("mcp-method"), headers.get("mcp-name"), headers.get(`mcp-param-${header}`));
    if (headers.has(`mcp-param-${header}`)) return undefined;
    const error = { code: -32020, message: "Header mismatch" };
    return Response.json({ jsonrpc: "2.0", id, error }, { status: 400 });
  };
  const discovered = { ...fresh, supportedVersions: ["2026-07-28"], capabilities: { tools: {} } };
  await using server = new HttpMcpServer("streamable", { answers: { "server/discover": discovered } }, {
    intercept,
  });
  await using office = await ComputerOffice.open({ servers: { s: server.config() } });
  assertEquals((await office.laptop.callTool("query", { region: "Zürich" })).isError, false);
  assertEquals(seen, ["tools/call", "query", "=?base64?WsO8cmljaA==?="]);
  seen.length = 0;
  header = "Place";
  assertEquals((await office.laptop.callTool("query", { region: "Bern" })).isError, false);
  assertEquals(seen, ["tools/call", "query", null, "tools/call", "query", "Bern"]);
});

Deno.test("a server that never has a prompt or a resource costs no more than the time of the request", async () => {
  const needed = { resultType: "input_required", requestState: "not yet" };
  await using server = new HttpMcpServer("streamable", {
    answers: {
      "server/discover": {
        supportedVersions: ["2026-07-28"],
        capabilities: { prompts: {}, resources: {} },
      },
      "resources/list": { resources: [] },
      "prompts/get": needed,
      "resources/read": needed,
    },
  });
  await using office = await ComputerOffice.open({ servers: { slow: server.config() } });
  const error = await assertRejects(
    () => office.computer.mcp.getPrompt("any", {}, { mcpServer: "slow", timeoutMs: 3_000 }),
    SmcpError,
  );
  assertEquals(error.code, 408);
  await assertRejects(() => office.laptop.readResource("any://thing", { mcpServer: "slow", timeoutMs: 100 }));
  const asked = server.requests.filter((each) => each === "POST prompts/get").length;
  assert(asked > 1 && asked < 20, `${asked} requests`);
});
