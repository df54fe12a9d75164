/** Which version of MCP is used with a server, and what is remembered of it. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { stateOf } from "../fixtures/log_book.ts";
import { HttpMcpServer } from "../fixtures/http_server.ts";
import { kioskCommand, kioskOnStdio } from "../fixtures/kiosk_config.ts";
import { KioskHttp } from "../fixtures/kiosk_http.ts";
import type { Message } from "../fixtures/script.ts";
import { scripted } from "../fixtures/stdio_config.ts";
import { ComputerOffice } from "./_computer_office.ts";

const echo = { name: "echo", inputSchema: { type: "object" } };

/** The requests that open sessions, in order. */
function openings(requests: readonly string[]): string[] {
  return requests.filter((request) => / (?:initialize|server\/discover)$/.test(request));
}

function refuse(code: number, data?: unknown): (message: Message) => Response {
  return ({ id }) => Response.json({ jsonrpc: "2.0", id, error: { code, message: "no", data } });
}

/** What servers of 2025 answer to a request that they do not know, before any handshake. */
const ANSWERS: Readonly<Record<string, (message: Message) => Response>> = {
  "HTTP 400": () => new Response("Bad Request: Server not initialized", { status: 400 }),
  "HTTP 400 with an error of JSON-RPC": ({ id }) =>
    Response.json({ jsonrpc: "2.0", id, error: { code: -32000, message: "No session" } }, { status: 400 }),
  "HTTP 404": () => new Response("unknown session", { status: 404 }),
  "HTTP 405": () => new Response(null, { status: 405 }),
  "HTTP 500": () => new Response("oops", { status: 500 }),
  "HTTP 503": () => new Response(null, { status: 503 }),
  "a page": () => new Response("<p>hello", { headers: { "content-type": "text/html" } }),
  "Method not found": refuse(-32601),
  "Invalid params": refuse(-32602),
  "an odd code": refuse(7),
  "an unsupported version": refuse(-32022, { supported: ["2025-11-25"], requested: "2026-07-28" }),
  "an unsupported version without a list": refuse(-32022),
  "a result without versions": ({ id }) => Response.json({ jsonrpc: "2.0", id, result: {} }),
  "a result with older versions": ({ id }) =>
    Response.json({ jsonrpc: "2.0", id, result: { supportedVersions: ["2025-06-18"] } }),
};

for (const [what, answer] of Object.entries(ANSWERS)) {
  Deno.test(`a server over HTTP that answers the question for its versions by ${what} is used with a session`, async () => {
    await using server = new HttpMcpServer("streamable", { tools: [echo] }, {
      intercept: (message) => message.method === "server/discover" ? answer(message) : undefined,
    });
    await using office = await ComputerOffice.open({ servers: { s: server.config() } });
    assertEquals((await office.laptop.callTool("echo")).isError, false);
    assertEquals(openings(server.requests), ["POST server/discover", "POST initialize"]);
  });
}

Deno.test("a server over HTTP that never says which versions it speaks is used with a session", async () => {
  await using server = new HttpMcpServer("streamable", { tools: [echo], hang: ["server/discover"] });
  await using office = await ComputerOffice.open({ servers: { s: server.config() } }, {
    limits: { pingTimeoutMs: 50 },
  });
  assertEquals((await office.laptop.callTool("echo")).isError, false);
});

Deno.test("a server that speaks only versions to come says so, and of a long list only the beginning", async () => {
  const future = { supported: ["2031-01-01", "x".repeat(100_000)], requested: "2026-07-28" };
  await using server = new HttpMcpServer("streamable", { tools: [echo] }, {
    intercept: (message) =>
      message.method === "server/discover" ? refuse(-32022, future)(message) : undefined,
  });
  await using office = await ComputerOffice.open({ servers: { s: server.config() } });
  const { fields } = await office.log.until(stateOf("s", "retrying"));
  assertStringIncludes(String(fields["error"]), "its versions of MCP are not supported (2031-01-01");
  assert(String(fields["error"]).length < 500);
});

const VERSIONS = "2025-06-18, 2025-03-26, 2024-11-05";
/** How servers refuse the newest version, with the status of HTTP. */
const REFUSALS:
  readonly (readonly [status: number, error: { code: number; message: string; data?: unknown } | string])[] =
    [
      [400, `Unsupported MCP-Protocol-Version (supported: ${VERSIONS})`],
      [200, { code: -32602, message: "Unsupported protocol version", data: { supported: ["2025-06-18"] } }],
      [200, {
        code: -32600,
        message: "no",
        data: { supportedVersions: ["1.0", "2025-06-18", "2024-11-05"] },
      }],
      [400, {
        code: -32000,
        message: `Bad Request: Unsupported protocol version (supported versions: ${VERSIONS})`,
      }],
      [200, { code: -32602, message: `unsupported version 2025-11-25; this server speaks ${VERSIONS}` }],
    ];

Deno.test("a server that refuses a version and names others is asked again for one of them", async () => {
  for (const [status, error] of REFUSALS) {
    const asked: unknown[] = [];
    const answer = ({ id, params = {} }: Message) => {
      asked.push(params["protocolVersion"]);
      if (params["protocolVersion"] === "2025-06-18") return undefined;
      if (typeof error === "string") return new Response(error, { status });
      return Response.json({ jsonrpc: "2.0", id, error }, { status });
    };
    for (const kind of ["streamable", "sse"] as const) {
      asked.length = 0;
      await using server = new HttpMcpServer(kind, { tools: [echo] }, {
        intercept: (message) => message.method === "initialize" ? answer(message) : undefined,
      });
      // An answer over SSE comes in the stream, so only a refusal by HTTP can be tried here.
      if (kind === "sse" && status === 200) continue;
      await using office = await ComputerOffice.open({ servers: { s: server.config() } });
      assertEquals((await office.laptop.callTool("echo")).isError, false);
      assertEquals(asked, ["2025-11-25", "2025-06-18"]);
    }
  }
});

/** A program that knows one version, and ends after each answer that refuses another one. */
const STRICT = `
for await (const chunk of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
  for (const line of chunk.trim().split("\\n")) {
    const { id, method, params = {} } = JSON.parse(line);
    const say = (answer) => console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
    if (method === "initialize" && params.protocolVersion !== Deno.args[0]) {
      say({ error: { code: -32602, message: "Unsupported", data: { supported: [Deno.args[0]] } } });
      Deno.exit(4);
    }
    if (id !== undefined) say({ result: { protocolVersion: Deno.args[0], capabilities: {}, tools: [] } });
  }
}`;

Deno.test("a program that refuses a version and ends is started again for one that it names, or says which it knows", async () => {
  const program = (version: string) => ({
    type: "stdio",
    server_parameters: { command: Deno.execPath(), args: ["eval", STRICT, version] },
  });
  const servers = { older: program("2024-11-05"), future: program("2031-01-01") };
  await using office = await ComputerOffice.open({ servers });
  assertEquals(office.computer.servers.get("older")?.mcpVersion, "2024-11-05");
  const { fields } = await office.log.until(stateOf("future", "retrying"));
  assertStringIncludes(String(fields["error"]), "its versions of MCP are not supported (2031-01-01)");
});

Deno.test("a program that answers a version of its own is told as that, not as the end of its process", async () => {
  for (
    const [protocolVersion, said] of [["2030-01-01", "(2030-01-01)"], [undefined, "(undefined)"]] as const
  ) {
    const answers = {
      initialize: { protocolVersion, capabilities: {}, serverInfo: { name: "x", version: "1" } },
    };
    await using office = await ComputerOffice.open({ servers: { s: scripted({ answers }) } });
    const { fields } = await office.log.until(stateOf("s", "retrying"));
    assertStringIncludes(String(fields["error"]), `its version of MCP is not supported ${said}`);
  }
});

for (
  const [serves, version] of [["2025", "2025-11-25"], ["2026", "2026-07-28"], ["both", "2026-07-28"]] as const
) {
  Deno.test(`a server over HTTP that serves ${serves} is used with ${version}`, async () => {
    await using kiosk = new KioskHttp({ serves });
    await using office = await ComputerOffice.open({ servers: { kiosk: kiosk.config() } });
    assertEquals((await office.laptop.callTool("echo", { text: "x" })).isError, false);
    assertEquals(office.computer.servers.get("kiosk")?.mcpVersion, version);
  });
}

Deno.test("a server that serves both is used with a session where the configuration says so", async () => {
  await using kiosk = new KioskHttp();
  const config = { ...kiosk.config(), mcp_version: "2025" };
  await using office = await ComputerOffice.open({ servers: { kiosk: config } });
  assertEquals((await office.laptop.callTool("echo", { text: "x" })).isError, false);
  assert(!kiosk.requests.includes("POST server/discover"));
});

Deno.test("a server with sessions is not used where the configuration says that it has none", async () => {
  await using server = new HttpMcpServer("streamable", { tools: [echo] }, {
    intercept: (message) => message.method === "server/discover" ? refuse(-32601)(message) : undefined,
  });
  const config = { ...server.config(), mcp_version: "2026" };
  await using office = await ComputerOffice.open({ servers: { s: config } });
  const { fields } = await office.log.until(stateOf("s", "retrying"));
  assertStringIncludes(String(fields["error"]), "it does not speak MCP 2026-07-28");
});

Deno.test("a server on stdio is used with a session unless the configuration says otherwise", async () => {
  const servers = {
    plain: kioskOnStdio(),
    auto: kioskOnStdio({ mcp_version: "auto" }),
    old: { ...scripted({ tools: [echo] }), mcp_version: "auto" },
    strict: kioskOnStdio({ mcp_version: "auto", server_parameters: kioskCommand("2026") }),
  };
  await using office = await ComputerOffice.open({ servers });
  const versions = Object.keys(servers).map((name) => office.computer.servers.get(name)?.mcpVersion);
  assertEquals(versions, ["2025-11-25", "2026-07-28", "2025-06-18", "2026-07-28"]);
});

Deno.test("a program that ends at the question for its versions is started again, with a session", async () => {
  const config = { ...scripted({ tools: [echo], dieOn: ["server/discover"] }), mcp_version: "auto" };
  await using office = await ComputerOffice.open({ servers: { s: config } });
  assertEquals((await office.laptop.callTool("echo")).isError, false);
});

/** Runs until the MCP server is started again and answers. */
async function restart(office: ComputerOffice, server: string): Promise<void> {
  const running = office.log.next(stateOf(server, "running"));
  office.computer.restartServer(server);
  await running;
}

Deno.test("a server with sessions is not asked again in its next session", async () => {
  await using server = new HttpMcpServer("streamable", {
    tools: [echo],
    answers: { "server/discover": { error: { code: -32601, message: "no" } } },
  });
  await using office = await ComputerOffice.open({ servers: { s: server.config() } });
  const running = office.log.next(stateOf("s", "running"));
  server.forget();
  await office.laptop.callTool("echo");
  await running;
  assertEquals(openings(server.requests), ["POST server/discover", "POST initialize", "POST initialize"]);
});

Deno.test("a server that has no sessions any more is asked again, and so is one that has them again", async () => {
  await using kiosk = new KioskHttp();
  kiosk.serve("2025");
  await using office = await ComputerOffice.open({ servers: { kiosk: kiosk.config() } });
  const versions = [office.computer.servers.get("kiosk")?.mcpVersion];
  for (const serves of ["2026", "2025"] as const) {
    kiosk.serve(serves);
    await restart(office, "kiosk");
    versions.push(office.computer.servers.get("kiosk")?.mcpVersion);
  }
  assertEquals(versions, ["2025-11-25", "2026-07-28", "2025-11-25"]);
});

Deno.test("a server that is too busy to say which versions it speaks is asked again", async () => {
  let isBusy = true;
  const intercept = (request: Request) =>
    isBusy && request.headers.get("mcp-method") === "server/discover"
      ? new Response(null, { status: 429 })
      : undefined;
  await using kiosk = new KioskHttp({ intercept });
  await using office = await ComputerOffice.open({ servers: { kiosk: kiosk.config() } });
  assertEquals(office.computer.servers.get("kiosk")?.mcpVersion, "2025-11-25");
  isBusy = false;
  await restart(office, "kiosk");
  assertEquals(office.computer.servers.get("kiosk")?.mcpVersion, "2026-07-28");
});
