/** Attacker: whoever reaches the port of a gateway, a web page among them. They want in, or to fill it up */
import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { createGateway } from "../../src/gateway/gateway_core.ts";
import type { Gateway } from "../../src/gateway/gateway_options.ts";
import { createHttpHandler, type HttpHandlerOptions } from "../../src/gateway/http/handler.ts";

const HOST = { host: "127.0.0.1:4000" };
const JSON_HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
};

const PING = { jsonrpc: "2.0", id: 2, method: "ping" };
const LIST_2026 = {
  jsonrpc: "2.0",
  id: 1,
  method: "tools/list",
  params: { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } },
};

/** A gateway without an office. */
function openGateway(): Gateway {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => undefined);
  const gateway = createGateway(promise);
  reject(new TypeError("Cannot reach an office: there is none"));
  return gateway;
}

function attack(name: string, options: HttpHandlerOptions, work: (port: Port) => Promise<void>): void {
  Deno.test(name, async () => {
    await using gateway = openGateway();
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

  /** Sends a body as it comes. */
  post(body: ReadableStream<Uint8Array>): Promise<Response> {
    const headers = { ...JSON_HEADERS, ...HOST, "mcp-method": "tools/call" };
    return this.#fetch(new Request("http://127.0.0.1:4000/mcp", { method: "POST", headers, body }));
  }

  /** Opens the stream of a session. */
  stream(headers: Record<string, string>): Promise<Response> {
    return this.#fetch(
      new Request("http://127.0.0.1:4000/mcp", { headers: { accept: "text/event-stream", ...headers } }),
    );
  }

  /** Sends a body that has no end; resolves to the status, and to how many bytes were read of it. */
  async flood(headers: Record<string, string>): Promise<{ status: number; read: number }> {
    let read = 0;
    const piece = new TextEncoder().encode("x".repeat(1_000));
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        read += piece.length;
        controller.enqueue(piece);
      },
    }, { highWaterMark: 0 });
    const request = new Request("http://127.0.0.1:4000/mcp", {
      method: "POST",
      headers: { ...JSON_HEADERS, ...headers },
      body,
    });
    const response = await this.#fetch(request);
    await response.body?.cancel();
    return { status: response.status, read };
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
  "beyond the bound, the session that rests longest ends for a new one",
  { maxSessions: 3 },
  async (port) => {
    const ids: string[] = [];
    for (let count = 0; count < 4; count++) {
      ids.push((await port.ask(HOST)).headers.get("mcp-session-id") ?? "");
    }
    assertEquals(new Set(ids).size, 4);
    const statuses = ids.map(async (id) =>
      (await port.ask({ ...HOST, "mcp-session-id": id }, { body: PING })).status
    );
    assertEquals(await Promise.all(statuses), [404, 200, 200, 200]);
  },
);

attack("sessions with an open stream do not end for new ones", { maxSessions: 2 }, async (port) => {
  const streams: Response[] = [];
  for (let count = 0; count < 2; count++) {
    const id = (await port.ask(HOST)).headers.get("mcp-session-id") ?? "";
    streams.push(await port.stream({ ...HOST, "mcp-session-id": id }));
  }
  const full = await port.ask(HOST);
  assertEquals([full.status, full.headers.get("retry-after")], [503, "60"]);
  await Promise.all(streams.map(({ body }) => body?.cancel()));
  assertEquals((await port.ask(HOST)).status, 200);
});

attack("made-up names of Computers take no place from others", {}, async (port) => {
  for (let count = 0; count < 1_200; count++) {
    assertEquals(
      (await port.ask(HOST, { path: `/mcp/c/none-${count}`, body: LIST_2026 })).status < 500,
      true,
    );
  }
  assertEquals((await port.ask(HOST, { path: "/mcp/c/laptop" })).status, 200);
});

attack(
  "a body without an end is refused at the bound, whatever the method",
  { maxBodyBytes: 2_000 },
  async (port) => {
    for (const method of ["subscriptions/listen", "tools/call", "tools/list"]) {
      const { status, read } = await port.flood({ ...HOST, "mcp-method": method });
      assertEquals(status, 413);
      assertEquals(read < 200_000, true);
    }
  },
);

attack(
  "a page is admitted by its whole origin",
  { allowedOrigins: ["https://app.example"] },
  async (port) => {
    assertEquals((await port.ask({ ...HOST, origin: "https://app.example" })).status, 200);
    for (
      const origin of [
        "http://app.example",
        "https://app.example:8443",
        "https://app.example.evil",
        "https://evil.app.example",
      ]
    ) {
      assertEquals((await port.ask({ ...HOST, origin })).status, 403);
    }
  },
);

Deno.test("an origin that no page can have is refused at the start", async () => {
  await using gateway = openGateway();
  for (const origin of ["app.example", "https://app.example/", "*", "null"]) {
    assertThrows(
      () => createHttpHandler(gateway, { allowedOrigins: [origin] }),
      TypeError,
      "Cannot allow origin",
    );
  }
});

Deno.test("nothing is served after close()", async () => {
  await using gateway = openGateway();
  const handler = createHttpHandler(gateway);
  await handler.close();
  const port = new Port(handler.fetch);
  assertEquals((await port.ask(HOST)).status, 503);
  assertEquals((await port.ask(HOST, { body: LIST_2026 })).status, 503);
});

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

attack("bytes that are no text are no JSON", {}, async (port) => {
  const text = (byte: number) => Uint8Array.from([...new TextEncoder().encode('{"a":"'), byte, 0x22, 0x7d]);
  const bodies = [text(0xff), text(0xc3), Uint8Array.of(0x7b, 0x7d, 0xc3)];
  for (const body of bodies) {
    const response = await port.post(ReadableStream.from([body]));
    assertEquals([response.status, (await response.json()).error.code], [400, -32700]);
  }
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

attack(
  "what a client says of itself at the beginning is short, since it stays in memory",
  {},
  async (port) => {
    const title = "x".repeat(300_000);
    const params = { ...INITIALIZE.params, clientInfo: { name: "raw", version: "1", title } };
    assertEquals((await port.ask(HOST, { body: { ...INITIALIZE, params } })).status, 413);
    const id = (await port.ask(HOST)).headers.get("mcp-session-id") ?? "";
    const ping = { ...PING, params: { _meta: { filler: "x".repeat(8_000_000) } } };
    assertEquals((await port.ask({ ...HOST, "mcp-session-id": id }, { body: ping })).status, 200);
  },
);

attack("bodies that come slowly fill the memory up to a bound, and go again", {}, async (port) => {
  const bodies: ReadableStreamDefaultController<Uint8Array>[] = [];
  const half = new Uint8Array(8 * 1024 * 1024);
  const open = () => port.post(new ReadableStream({ start: (controller) => void bodies.push(controller) }));
  const slow = Array.from({ length: 40 }, open);
  for (const body of bodies) body.enqueue(half);
  const { status, headers } = await Promise.any(slow);
  assertEquals([status, headers.get("retry-after")], [503, "5"]);
  assertEquals((await port.ask(HOST)).status, 200);
  for (const body of bodies) {
    // Those that were refused are not read any more.
    try {
      body.error(new Error("gone"));
    } catch {
      continue;
    }
  }
  const statuses = (await Promise.all(slow)).map((response) => response.status);
  assertEquals(statuses.filter((each) => each === 503).length, 32);
  assertEquals(statuses.filter((each) => each === 408).length, 8);
  assertEquals((await port.ask(HOST)).status, 200);
});

/** JSON that takes far more memory or time than its bytes, or would not arrive whole, and what it is refused with. */
const HEAVY: Readonly<Record<string, readonly [status: number, text: string]>> = {
  "lists in lists": [400, "[".repeat(300)],
  "objects in objects": [400, '{"a":'.repeat(300)],
  "deep arguments": [400, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${'{"a":['.repeat(150)}`],
  "empty objects": [413, `[${"{},".repeat(400_000)}{}]`],
  "empty lists": [413, `[${"[],".repeat(400_000)}[]]`],
  "numbers": [413, `{"a":[${"1,".repeat(1_000_000)}1]}`],
  "new names": [413, `{"params":{"a":{${Array.from({ length: 120_000 }, (_, index) => `"k${index}":1`)}}}}`],
  "members of a message": [413, `{${Array.from({ length: 2_000 }, (_, index) => `"k${index}":1`)}}`],
  "an argument that would be lost": [
    400,
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"__proto__":1}}}',
  ],
  "members of arguments": [
    413,
    `{"params":{"arguments":{${Array.from({ length: 2_000 }, (_, index) => `"k${index}":1`)}}}}`,
  ],
};

for (const [name, [wanted, body]] of Object.entries(HEAVY)) {
  attack(`JSON that is heavy for its size, or would lose a member, is refused: ${name}`, {}, async (port) => {
    const id = (await port.ask(HOST)).headers.get("mcp-session-id") ?? "";
    const eras: Record<string, string>[] = [{ "mcp-session-id": id }, { "mcp-method": "tools/call" }];
    for (const era of eras) {
      assertEquals((await port.ask({ ...HOST, ...era }, { body })).status, wanted);
    }
    assertEquals((await port.ask(HOST)).status, 200);
  });
}

attack("a body that would begin a session is refused by its declared size, unread", {}, async (port) => {
  const { status, read } = await port.flood({ ...HOST, "content-length": "300000" });
  assertEquals([status, read], [413, 0]);
  assertEquals((await port.flood(HOST)).read < 400_000, true);
});
