/** Attacker: an MCP server. It sends too much, too fast or without end, to take its Computer and all others away. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { gzipSync } from "node:zlib";
import { Computer } from "../../src/computer/computer.ts";
import type { ComputerLimits } from "../../src/config/limits.ts";
import { HttpMcpServer, type HttpServerOptions } from "../fixtures/http_server.ts";
import { type LineTest, LogBook, stateOf } from "../fixtures/log_book.ts";
import { RESOURCES_CHANGED, TOOLS_CHANGED } from "../fixtures/script.ts";
import { scripted } from "../fixtures/stdio_config.ts";
import { eventually, within } from "../fixtures/within.ts";

const WAIT_MS = 30_000;
/** A list may take long on a busy machine. */
const LIMITS = { maxMessageBytes: 200_000, maxMessageValues: 5_000, readTimeoutMs: 60_000 };
const echo = { name: "echo", inputSchema: { type: "object" } };
const JSON_TYPE = { "content-type": "application/json" };
const EVENTS_TYPE = { "content-type": "text/event-stream" };

/** A beginning, then the same until nobody reads any more. */
function endless(beginning: string, repeated: string): ReadableStream<Uint8Array> {
  const chunk = new TextEncoder().encode(repeated.repeat(Math.ceil(4_096 / repeated.length)));
  return new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode(beginning)),
    pull: (controller) => controller.enqueue(chunk.slice()),
  });
}

const json = (body: BodyInit) => () => new Response(body, { headers: JSON_TYPE });
const events = (body: BodyInit) => () => new Response(body, { headers: EVENTS_TYPE });
const on = (asked: string, respond: () => Response): HttpServerOptions => ({
  intercept: ({ method }) => method === asked ? respond() : undefined,
});

/** What is sent instead of an answer, and what is said of it. */
const FLOODS: Readonly<
  Record<string, { kind: "streamable" | "sse"; options: () => HttpServerOptions; said: string }>
> = {
  "a JSON answer without end": {
    kind: "streamable",
    options: () => on("tools/list", json(endless('"', "x"))),
    said: "200000 bytes",
  },
  "an initialisation without end": {
    kind: "streamable",
    options: () => on("initialize", json(endless('"', "x"))),
    said: "200000 bytes",
  },
  "a small answer that unpacks to a large one": {
    kind: "streamable",
    options: () =>
      on("tools/list", () =>
        new Response(new Uint8Array(gzipSync(new Uint8Array(5_000_000).fill(0x20))), {
          headers: { ...JSON_TYPE, "content-encoding": "gzip" },
        })),
    said: "200000 bytes",
  },
  "an answer of too many values": {
    kind: "streamable",
    options: () => on("tools/list", json(`{"a":[${"[],".repeat(10_000)}0]}`)),
    said: "5000 values",
  },
  "an answer that is nested too deep": {
    kind: "streamable",
    options: () => on("tools/list", json(`{"a":${"[".repeat(1_500)}${"]".repeat(1_500)}}`)),
    said: "1000 levels",
  },
  "an event that is nested too deep behind brackets that close nothing": {
    kind: "streamable",
    options: () =>
      on("tools/list", events(`x: ${"]".repeat(9_000)}\ndata: ${"[".repeat(1_500)}${"]".repeat(1_500)}\n\n`)),
    said: "1000 levels",
  },
  "an event without end as an answer": {
    kind: "streamable",
    options: () => on("tools/list", events(endless('data: "', "x"))),
    said: "200000 bytes",
  },
  "an event of lines without end": {
    kind: "streamable",
    options: () => on("tools/list", events(endless("", "x\n"))),
    said: "lines",
  },
  "an event without end on the standing stream": {
    kind: "streamable",
    options: () => ({ interceptGet: events(endless('data: "', "x")) }),
    said: "200000 bytes",
  },
  "an endpoint without end": {
    kind: "sse",
    options: () => ({ interceptGet: events(endless("event: endpoint\ndata: /", "x")) }),
    said: "200000 bytes",
  },
};

/** A Computer with a good server beside the hostile one. */
function open(hostile: unknown, limits: Partial<ComputerLimits> = LIMITS) {
  const log = new LogBook();
  const config = { servers: { good: scripted({ tools: [echo] }), hostile } };
  const computer = Computer.open({ name: "laptop", config, limits, logger: log });
  return { computer, log, [Symbol.asyncDispose]: () => computer.close() };
}

async function assertGoodServes(computer: Computer): Promise<void> {
  await computer.ready({ servers: ["good"], timeoutMs: WAIT_MS });
  assertEquals((await computer.callTool("echo")).isError ?? false, false);
}

/** What ends the session: what is needed for it, and what never ends beside the requests. */
const ENDING = /^an (?:initialisation|event without end on|endpoint)/;

for (const [name, { kind, options, said }] of Object.entries(FLOODS)) {
  const isEnding = ENDING.test(name);
  Deno.test(`${name} ends ${isEnding ? "the session of its server" : "its request"} alone`, async () => {
    await using server = new HttpMcpServer(kind, { tools: [echo] }, options());
    await using opened = open(server.config());
    const { computer, log } = opened;
    const isFailedList: LineTest = ({ message }) => message === "cannot list tools";
    const { fields } = await within(
      log.until(isEnding ? stateOf("hostile", "retrying") : isFailedList),
      "what comes of it",
    );
    assert(String(fields["error"]).includes(said), String(fields["error"]));
    await assertGoodServes(computer);
    if (!isEnding) assertEquals(computer.servers.get("hostile")?.status, "running");
  });
}

Deno.test("a program whose answer is too large fails its request, and one that goes on so is ended", async () => {
  const raw = (text: string) =>
    `{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"${text}"}]}}`;
  const dense = '{"jsonrpc":"2.0","result":{"content":[' + "[],".repeat(3_000) + '0]},"id":"$ID"}';
  const nested = `{"jsonrpc":"2.0","id":$ID,"result":{"content":${"[".repeat(1_500)}${"]".repeat(1_500)}}}`;
  const script = {
    tools: ["long", "dense", "nested", "fine"].map((name) => ({ ...echo, name })),
    raw: {
      "tools/call long": raw("x*300000"),
      "tools/call dense": dense,
      "tools/call nested": nested,
      "tools/call fine": raw("fine"),
    },
  };
  await using opened = open(scripted(script));
  const { computer, log } = opened;
  await computer.ready({ timeoutMs: WAIT_MS });
  const saids = { long: "200000 bytes", dense: "5000 values", nested: "1000 levels" };
  for (const [tool, said] of Object.entries(saids)) {
    const { isError, content } = await computer.callTool(tool, {}, { timeoutMs: WAIT_MS });
    assertEquals([isError, JSON.stringify(content).includes(said)], [true, true], JSON.stringify(content));
    assertEquals((await computer.callTool("fine")).isError, false);
    await log.until(({ message, fields }) =>
      message.startsWith("dropped") && `${fields["error"]}`.includes(said)
    );
  }
  assert(log.of("warn").some(({ fields }) => `${fields["error"]}`.includes('"maxMessageBytes"')));
  assertEquals(computer.servers.get("hostile")?.restarts, 0);
  const ended = log.next(stateOf("hostile", "retrying"));
  for (let call = 0; call < 8; call++) await computer.callTool("long", {}, { timeoutMs: WAIT_MS });
  assert(String((await ended).fields["error"]).includes("200000 bytes"));
  await assertGoodServes(computer);
});

Deno.test("a line without end ends its server, whose reason is that line", async () => {
  const script = "head -c 100000000 /dev/zero | tr '\\0' x; cat > /dev/null";
  await using opened = open({ type: "stdio", server_parameters: { command: "sh", args: ["-c", script] } });
  const { computer, log } = opened;
  const { fields } = await within(log.until(stateOf("hostile", "retrying")), "its end");
  assert(String(fields["error"]).includes("200000 bytes"), String(fields["error"]));
  await assertGoodServes(computer);
});

Deno.test("a limit of the configuration counts, and that of the program before it", async () => {
  const raw = { "tools/call long": `{"jsonrpc":"2.0","id":$ID,"result":{"content":"x*300000"}}` };
  const config = {
    servers: { s: scripted({ tools: [{ ...echo, name: "long" }], raw }) },
    limits: { maxMessageBytes: 200_000 },
  };
  for (const [limits, isError] of [[{}, true], [{ maxMessageBytes: 400_000 }, false]] as const) {
    await using computer = Computer.open({ name: "laptop", config, limits });
    await computer.ready({ timeoutMs: WAIT_MS });
    assertEquals((await computer.callTool("long", {}, { timeoutMs: WAIT_MS })).isError, isError);
  }
});

Deno.test("a list that is too large keeps its last state, and a later one is used", async () => {
  const uri = "window://hostile/w";
  const script = { resources: [{ uri, name: "w" }], contents: { [uri]: "calm" } };
  await using opened = open(scripted(script));
  const { computer, log } = opened;
  await computer.ready({ timeoutMs: WAIT_MS });
  assertEquals(await computer.getDesktop(), [`${uri}\n\ncalm`]);
  const tooMany = [{ uri, name: "x".repeat(300_000) }];
  await computer.callTool("hostile__become", { resources: tooMany, tell: [RESOURCES_CHANGED] });
  await log.until(({ message }) => message === "cannot list resources");
  assertEquals(await computer.getDesktop(), [`${uri}\n\ncalm`]);
  await computer.callTool("hostile__become", { resources: [], tell: [RESOURCES_CHANGED] });
  await eventually(() => computer.getDesktop(), (windows) => windows.length === 0, "the next list");
  assertEquals(computer.servers.get("hostile")?.restarts, 0);
});

Deno.test("a result that is nested 100,000 levels deep fails its call alone", async () => {
  const nested = new URL("./_nested_mcp_server.ts", import.meta.url).pathname;
  const server_parameters = { command: Deno.execPath(), args: ["run", nested] };
  await using opened = open(
    { type: "stdio", server_parameters, default_tool_meta: { auto_apply: true } },
    {},
  );
  const { computer, log } = opened;
  await computer.ready({ timeoutMs: WAIT_MS });
  const result = await computer.callTool("nest");
  assertEquals(result.meta?.error_code, 4003);
  await within(log.until(({ fields }) => String(fields["error"]).includes("1000 levels")), "the reason");
  await assertGoodServes(computer);
});

for (
  const [name, respond] of Object.entries({
    "a JSON answer": () => json(endless('"', "x"))(),
    "an event": () => events(endless('data: "', "x"))(),
  })
) {
  Deno.test(`${name} without end to a read or a call costs that request alone`, async () => {
    const options: HttpServerOptions = {
      intercept: ({ method }) =>
        method === "tools/call" || method === "resources/read" ? respond() : undefined,
    };
    const script = {
      tools: [{ ...echo, name: "hostile_echo" }],
      resources: [{ uri: "file:///x", name: "x" }],
    };
    await using server = new HttpMcpServer("streamable", script, options);
    await using opened = open(server.config());
    const { computer } = opened;
    await computer.ready({ timeoutMs: WAIT_MS });
    const { isError, content } = await computer.callTool("hostile_echo", {}, { timeoutMs: WAIT_MS });
    assertEquals([isError, JSON.stringify(content).includes("200000 bytes")], [true, true]);
    const read = computer.readResource("file:///x", { mcpServer: "hostile", timeoutMs: WAIT_MS });
    const { message } = await assertRejects(() => read, Error);
    assert(message.includes("200000 bytes"), message);
    const { status, restarts } = computer.servers.get("hostile") ?? {};
    assertEquals([status, restarts], ["running", 0]);
    await assertGoodServes(computer);
  });
}

Deno.test("a server that asks and never reads is not read any more, and costs no other one", async () => {
  const deaf = new URL("./_deaf_mcp_server.ts", import.meta.url).pathname;
  const server_parameters = { command: Deno.execPath(), args: ["run", deaf] };
  await using opened = open({ type: "stdio", server_parameters }, {});
  const { computer, log } = opened;
  const { fields } = await within(log.until(stateOf("hostile", "retrying")), "a full pipe");
  assertEquals(fields["error"], "exit code 9");
  await assertGoodServes(computer);
});

Deno.test("a server that does not read what it is asked is ended before much waits for it", async () => {
  const script = "read -r line; echo '" + JSON.stringify({
    jsonrpc: "2.0",
    id: 0,
    result: {
      protocolVersion: "2025-06-18",
      capabilities: { resources: {} },
      serverInfo: { name: "x", version: "1" },
    },
  }) + "'; while :; do sleep 60; done";
  const server_parameters = { command: "sh", args: ["-c", script] };
  await using opened = open({ type: "stdio", server_parameters }, LIMITS);
  const { computer, log } = opened;
  await computer.ready({ timeoutMs: WAIT_MS });
  const asked = Array.from({ length: 8 }, () => {
    const uri = `file:///${"x".repeat(100_000)}`;
    return computer.readResource(uri, { mcpServer: "hostile", timeoutMs: WAIT_MS }).catch(() => {});
  });
  await within(log.until(({ message }) => message.includes("does not read its stdin")), "its end");
  await within(Promise.all(asked), "the failure of all requests");
  await assertGoodServes(computer);
});

Deno.test("a list without end is cut at so many bytes, and what came before is used", async () => {
  const tools = [{ ...echo, name: "first", description: "d".repeat(20_000) }, { name: "later" }];
  await using opened = open(scripted({ tools, endless: true }), { ...LIMITS, maxListBytes: 100_000 });
  const { computer, log } = opened;
  await within(log.until(({ message }) => message.includes("100000 bytes")), "the warning");
  await computer.ready({ timeoutMs: WAIT_MS });
  assert(computer.toolsOf("hostile").includes("first"));
  await assertGoodServes(computer);
});

Deno.test("notifications above the rate are passed on once a second, with one warning", async () => {
  const uri = "window://hostile/w";
  const update = { method: "notifications/resources/updated", params: { uri } };
  const script = {
    tools: [{ ...echo, name: "storm" }],
    resources: [{ uri, name: "w" }],
    contents: { [uri]: "calm" },
    tellOn: { "tools/call storm": Array(500).fill(update) },
  };
  await using opened = open(scripted(script), { maxNotificationsPerSecond: 10 });
  const { computer, log } = opened;
  await computer.ready({ timeoutMs: WAIT_MS });
  await computer.callTool("storm");
  const said = await within(
    log.until(({ message }) => message.includes("too many notifications")),
    "the warning",
  );
  assert(Number(said.fields["held"]) >= 480, String(said.fields["held"]));
  assertEquals(await computer.getDesktop(), [`${uri}\n\ncalm`]);
  await assertGoodServes(computer);
});

/** Calls the good server for a second: what the hostile one does meanwhile costs it nothing. */
async function serveForASecond(computer: Computer): Promise<void> {
  const endMs = performance.now() + 1_000;
  const call = async () => assertEquals((await computer.callTool("echo")).isError ?? false, false);
  await eventually(call, () => performance.now() > endMs, "the end of the second");
}

for (const [what, noise] of Object.entries({ "empty lines": "\n", comments: ":\n" })) {
  Deno.test(`an event stream of nothing but ${what} is read at a bounded pace`, async () => {
    const chunk = new TextEncoder().encode(noise.repeat(65_536 / noise.length));
    let sentBytes = 0;
    const interceptGet = events(
      new ReadableStream({
        pull(controller) {
          sentBytes += chunk.length;
          controller.enqueue(chunk.slice());
        },
      }),
    );
    await using server = new HttpMcpServer("streamable", { tools: [echo] }, { interceptGet });
    await using opened = open(server.config(), {});
    const { computer } = opened;
    await computer.ready({ timeoutMs: WAIT_MS });
    await serveForASecond(computer);
    // What the sockets between hold is 10 to 30 MiB; without a bound it would be a hundred.
    assert(sentBytes < 48 * 1024 * 1024, `${sentBytes} bytes were read`);
  });
}

Deno.test("a server that prints empty lines for ever is read at a bounded pace", async () => {
  const flooding = new URL("./_empty_lines_mcp_server.ts", import.meta.url).pathname;
  const server_parameters = { command: Deno.execPath(), args: ["run", flooding] };
  await using opened = open({ type: "stdio", server_parameters }, {});
  const { computer } = opened;
  await computer.ready({ timeoutMs: WAIT_MS });
  await serveForASecond(computer);
  const told = computer.serverLog("hostile").findLast((line) => line.includes(" written "));
  assert(Number(told?.split(" ").at(-1) ?? 0) <= 1_000_000, told);
});

Deno.test("a list that changes all the time is read the less often the longer it is", async () => {
  const tools = ["a", "b", "c", "d"].map((name) => ({ ...echo, name, description: "d".repeat(900_000) }));
  await using server = new HttpMcpServer("sse", { tools, tellOn: { "tools/list": [TOOLS_CHANGED] } });
  await using opened = open(server.config(), {});
  const { computer } = opened;
  const startMs = performance.now();
  await computer.ready({ timeoutMs: WAIT_MS });
  await serveForASecond(computer);
  const count = () => server.requests.filter((name) => name.includes("tools/list")).length;
  const lists = await eventually(count, (count) => count >= 2, "a second list");
  // 3.6 MB at 1 MiB in a second.
  const most = 2 + (performance.now() - startMs) / 3_400;
  assert(lists <= most, `listed ${lists} times, at most ${most}`);
});

Deno.test("an error message of 4 MiB is no answer of 4 MiB", async () => {
  const message = "m".repeat(4 * 1024 * 1024);
  await using server = new HttpMcpServer("streamable", {
    tools: [{ ...echo, name: "fail" }],
    answers: { "tools/call": { error: { code: -32000, message } } },
  });
  await using opened = open(server.config(), {});
  const { computer } = opened;
  await computer.ready({ timeoutMs: WAIT_MS });
  const result = await computer.callTool("fail");
  assert(JSON.stringify(result).length < 20_000);
});
