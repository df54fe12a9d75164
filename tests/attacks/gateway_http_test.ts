/** Attacker: whoever reaches the port of a gateway, a web page among them. They want in, or to fill it up */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { createGateway } from "../../src/gateway/gateway.ts";
import { createHttpHandler, type HttpHandlerOptions } from "../../src/gateway/http/handler.ts";

const HOST = { host: "127.0.0.1:4000" };
const JSON_HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
};

/** A gateway without an office. */
function attack(name: string, options: HttpHandlerOptions, work: (port: Port) => Promise<void>): void {
  Deno.test(name, async () => {
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => undefined);
    await using gateway = createGateway(promise);
    reject(new TypeError("Cannot reach an office: there is none"));
    await using handler = createHttpHandler(gateway, options);
    await work(new Port(handler.fetch));
  });
}

/** The port as a stranger sees it. */
class Port {
  readonly #fetch: (request: Request) => Promise<Response>;

  constructor(fetch: (request: Request) => Promise<Response>) {
    this.#fetch = fetch;
  }

  /** Sends a request; resolves to its answer without the body's stream. */
  async ask(
    headers: Record<string, string>,
    { path = "/mcp", body = INITIALIZE, method = "POST" }: {
      path?: string;
      body?: unknown;
      method?: string;
    } = {},
  ): Promise<{ status: number; headers: Headers; text: string }> {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const request = new Request(`http://127.0.0.1:4000${path}`, {
      method,
      headers: { ...JSON_HEADERS, ...headers },
      ...(method === "POST" ? { body: text } : {}),
    });
    const response = await this.#fetch(request);
    return { status: response.status, headers: response.headers, text: await response.text() };
  }
}

attack("a name that resolves to this machine is no name of the gateway", {}, async (port) => {
  for (
    const host of ["evil.example", "evil.example:4000", "127.0.0.1.evil.example", "localhost.evil.example"]
  ) {
    const { status, text } = await port.ask({ host });
    assertEquals(status, 403);
    assertMatch(text, /--allow-host/);
  }
  assertEquals((await port.ask({ host: "localhost:4000" })).status, 200);
});

attack("a page of another site gets nothing, and may not even ask", {}, async (port) => {
  for (const origin of ["https://evil.example", "null", "http://localhost.evil.example", "file://"]) {
    const { status, headers } = await port.ask({ ...HOST, origin });
    assertEquals([status, headers.get("access-control-allow-origin")], [403, null]);
    const preflight = await port.ask({ ...HOST, origin, "access-control-request-method": "POST" }, {
      method: "OPTIONS",
    });
    assertEquals(preflight.status, 403);
  }
  const own = await port.ask({ ...HOST, origin: "http://localhost:5173" });
  assertEquals([own.status, own.headers.get("access-control-allow-origin")], [200, "http://localhost:5173"]);
});

attack(
  "a token that is wrong, empty, longer or of another scheme opens nothing",
  { token: "s3cret" },
  async (port) => {
    const tokens = [
      "",
      "Bearer",
      "Bearer ",
      "Bearer s3cre",
      "Bearer s3cret1",
      "Bearer S3CRET",
      "Basic s3cret",
      "s3cret",
    ];
    for (const authorization of tokens) {
      for (const path of ["/mcp", "/mcp/search", "/mcp/c/laptop", "/elsewhere"]) {
        const { status, text } = await port.ask({ ...HOST, authorization }, { path });
        assertEquals(status, 401);
        assert(!text.includes("s3cret"), text);
      }
    }
    assertEquals((await port.ask({ ...HOST, authorization: "bearer s3cret" })).status, 200);
  },
);

attack(
  "sessions beyond the bound are refused, and an ended one makes room",
  { maxSessions: 3 },
  async (port) => {
    const ids: string[] = [];
    for (let count = 0; count < 3; count++) {
      ids.push((await port.ask(HOST)).headers.get("mcp-session-id") ?? "");
    }
    assertEquals(new Set(ids).size, 3);
    const full = await port.ask(HOST);
    assertEquals([full.status, full.headers.get("retry-after")], [503, "60"]);
    await port.ask({ ...HOST, "mcp-session-id": ids[0] ?? "" }, { method: "DELETE" });
    assertEquals((await port.ask(HOST)).status, 200);
  },
);

attack("a request that begins no session leaves none behind", { maxSessions: 2 }, async (port) => {
  for (let count = 0; count < 10; count++) {
    const { status } = await port.ask(HOST, { body: { jsonrpc: "2.0", id: 1, method: "tools/list" } });
    assertEquals(status, 400);
  }
  assertEquals((await port.ask(HOST)).status, 200);
});

attack("what is no JSON, too long or of another kind is refused, and the next is served", {
  maxBodyBytes: 2_000,
}, async (port) => {
  assertEquals((await port.ask(HOST, { body: "{" })).status, 400);
  assertEquals(
    (await port.ask(HOST, { body: JSON.stringify({ ...INITIALIZE, x: "x".repeat(3_000) }) })).status,
    413,
  );
  assertEquals((await port.ask({ ...HOST, "content-type": "text/plain" })).status, 415);
  assertEquals((await port.ask(HOST, { method: "PUT" })).status >= 400, true);
  assertEquals((await port.ask(HOST, { path: "/mcp/c/%E0%A4%A" })).status, 404);
  assertEquals((await port.ask(HOST, { path: "/mcp/c/a/b" })).status, 404);
  assertEquals((await port.ask(HOST)).status, 200);
});

attack("a state that was made up goes on with no call", {}, async (port) => {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
  };
  const params = {
    name: "list_computers",
    arguments: {},
    requestState: crypto.randomUUID(),
    inputResponses: { question: { action: "accept", content: {} } },
    _meta: meta,
  };
  const headers = {
    ...HOST,
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "list_computers",
  };
  const { text } = await port.ask(headers, { body: { jsonrpc: "2.0", id: 1, method: "tools/call", params } });
  assertMatch(text, /-32602.*its question is not open any more/);
});
