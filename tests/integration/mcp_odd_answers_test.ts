/** Answers of MCP servers that break the rules of JSON-RPC, of HTTP or of event streams. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { Computer } from "../../src/computer/computer.ts";
import { HttpMcpServer } from "../fixtures/http_server.ts";
import { LogBook, stateOf } from "../fixtures/log_book.ts";
import type { Script } from "../fixtures/script.ts";
import { scripted } from "../fixtures/stdio_config.ts";
import { within } from "../fixtures/within.ts";

const LONG = { timeoutMs: 600_000 };
const TEXT = '{"content":[{"type":"text","text":"fine"}]}';
/** Answers to calls by the name of their tool: the text, and what is said of it. */
const ANSWERS: Readonly<Record<string, readonly [answer: string, said: RegExp]>> = {
  text_id: [`{"jsonrpc":"2.0","id":"$ID","result":${TEXT}}`, /^fine$/],
  float_id: [`{"jsonrpc":"2.0","id":$ID.0,"result":${TEXT}}`, /^fine$/],
  no_version: [`{"id":$ID,"result":${TEXT}}`, /^fine$/],
  null_error: [`{"jsonrpc":"2.0","id":$ID,"result":${TEXT},"error":null}`, /^fine$/],
  with_method: [`{"jsonrpc":"2.0","id":$ID,"method":"tools/call","result":${TEXT}}`, /^fine$/],
  batch: [`[{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":$ID,"result":${TEXT}}]`, /^fine$/],
  both: [
    `{"jsonrpc":"2.0","id":$ID,"result":${TEXT},"error":{"code":1,"message":"no"}}`,
    /failed: no \(1\)$/,
  ],
  null_result: ['{"jsonrpc":"2.0","id":$ID,"result":null}', /cannot be read/],
  no_result: ['{"jsonrpc":"2.0","id":$ID}', /cannot be read/],
  text_result: ['{"jsonrpc":"2.0","id":$ID,"result":"x"}', /cannot be read/],
  list_result: ['{"jsonrpc":"2.0","id":$ID,"result":[]}', /cannot be read/],
  no_message: ['{"jsonrpc":"2.0","id":$ID,"error":{"code":-32000}}', /cannot be read.*-32000/],
  text_code: ['{"jsonrpc":"2.0","id":$ID,"error":{"code":"E","message":"full"}}', /cannot be read: full/],
  text_error: ['{"jsonrpc":"2.0","id":"$ID","error":"full"}', /cannot be read: full/],
  nan: ['{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"v":NaN}}', /cannot be read/],
  nan_first: ['{"result":{"content":[],"v":NaN},"jsonrpc":"2.0","id":"$ID"}', /cannot be read/],
  cut_off: ['{"jsonrpc":"2.0","id":$ID,"result":{"content":[', /cannot be read/],
  plain_content: ['{"jsonrpc":"2.0","id":$ID,"result":{"content":"plain"}}', /^plain$/],
  null_content: ['{"jsonrpc":"2.0","id":$ID,"result":{"content":null}}', /failed: .*cannot be read/],
  one_item: ['{"jsonrpc":"2.0","id":$ID,"result":{"content":{"type":"text","text":"one"}}}', /^one$/],
};
const script: Script = {
  tools: Object.keys(ANSWERS).map((name) => ({ name })),
  raw: Object.fromEntries(Object.entries(ANSWERS).map(([name, [answer]]) => [`tools/call ${name}`, answer])),
};

/** Opens a Computer with one server, by the transport. */
async function open(transport: string, script: Script, asEvents = false) {
  await using stack = new AsyncDisposableStack();
  const log = new LogBook();
  const server = transport === "stdio"
    ? undefined
    : stack.use(new HttpMcpServer(transport === "sse" ? "sse" : "streamable", script, { asEvents }));
  const config = { servers: { s: server === undefined ? scripted(script) : server.config() } };
  const computer = stack.use(
    Computer.open({ name: "laptop", config, logger: log, limits: { restartDelayMs: 50 } }),
  );
  const all = stack.move();
  return { computer, log, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

for (const transport of ["stdio", "sse", "streamable", "streamable with events"]) {
  Deno.test(`an answer of a wrong shape ends its call at once, and nothing else, over ${transport}`, async () => {
    await using opened = await open(transport, script, transport.endsWith("events"));
    const { computer } = opened;
    await computer.ready();
    for (const [tool, [, said]] of Object.entries(ANSWERS)) {
      const call = computer.callTool(tool, {}, LONG);
      const { content, isError } = await within(call, `the end of ${tool}`);
      const [first] = content;
      assertMatch(first?.type === "text" ? first.text : "", said, tool);
      assertEquals(isError, /failed|cannot/.test(said.source), tool);
    }
    const { status, restarts } = computer.servers.get("s") ?? {};
    assertEquals([status, restarts], ["running", 0]);
  });

  Deno.test(`an unreadable answer to initialize, a list or a read is told at once over ${transport}`, async () => {
    const [answer] = ANSWERS["null_result"] ?? [""];
    const asEvents = transport.endsWith("events");
    await using refused = await open(transport, { raw: { initialize: answer } }, asEvents);
    const { fields } = await refused.log.until(stateOf("s", "retrying"));
    assert(String(fields["error"]).includes("cannot be read"), String(fields["error"]));
    const raw = { "tools/list": answer, "resources/read": answer, ping: answer };
    await using opened = await open(transport, { raw, resources: [] }, asEvents);
    await opened.log.until(({ message, fields }) =>
      message === "cannot list tools" && String(fields["error"]).includes("cannot be read")
    );
    const read = opened.computer.readResource("file:///x", { mcpServer: "s", ...LONG }).catch(String);
    assertMatch(String(await within(read, "the read")), /cannot be read/);
  });
}

/** Bodies of wrong types or forms: what is said of them. */
const BODIES: Readonly<Record<string, readonly [type: string, body: string, said: RegExp]>> = {
  "JSON as events": ["text/event-stream", `{"jsonrpc":"2.0","id":$ID,"result":${TEXT}}`, /^fine$/],
  "JSON of many lines as events": [
    "text/event-stream",
    `{\n "jsonrpc": "2.0",\n\n "id": $ID,\n "result": ${TEXT}\n}\n`,
    /^fine$/,
  ],
  "events as JSON": [
    "application/json",
    `event: message\ndata: {"jsonrpc":"2.0","id":$ID,"result":${TEXT}}\n\n`,
    /^fine$/,
  ],
  "JSON as text": ["text/plain", `\ufeff{"jsonrpc":"2.0","id":$ID,"result":${TEXT}}`, /^fine$/],
  "an event without its last line": [
    "text/event-stream",
    `data: {"jsonrpc":"2.0","id":$ID,"result":${TEXT}}\n`,
    /^fine$/,
  ],
  "an event of an odd name": [
    "text/event-stream",
    `event: response\ndata: {"jsonrpc":"2.0","id":$ID,"result":${TEXT}}\n\n`,
    /^fine$/,
  ],
  "an error without id": [
    "application/json",
    '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no"}}',
    /failed: no \(1\)/,
  ],
  "another id": ["application/json", '{"jsonrpc":"2.0","id":999,"result":{}}', /cannot be read/],
  "a page": ["text/html", "<p>hello</p>", /cannot be read/],
  "JSON of something else": ["application/json", '{"status":"ok"}', /cannot be read/],
  "nothing": ["application/json", "", /cannot be read/],
  "events of something else": [
    "text/event-stream",
    'event: ping\ndata: {}\n\ndata: {"a":1}\n\n',
    /event stream lost/,
  ],
};

Deno.test("a body over HTTP is read as what it is, or ends its request at once", async () => {
  const tools = Object.keys(BODIES).map((_name, index) => ({ name: `t${index}` }));
  await using server = new HttpMcpServer("streamable", { tools }, {
    intercept: ({ method, id, params }) => {
      if (method !== "tools/call") return undefined;
      const [type = "", body = ""] = Object.values(BODIES)[Number(String(params?.["name"]).slice(1))] ?? [];
      const text = body.replaceAll("$ID", String(id));
      return new Response(text, { headers: { "content-type": type } });
    },
  });
  await using computer = Computer.open({ name: "laptop", config: { servers: { s: server.config() } } });
  await computer.ready();
  for (const [index, [name, [, , said]]] of Object.entries(BODIES).entries()) {
    const { content: [first] } = await within(computer.callTool(`t${index}`, {}, LONG), `the end of ${name}`);
    assertMatch(first?.type === "text" ? first.text : "", said, name);
  }
  assertEquals(computer.servers.get("s")?.restarts, 0);
});

Deno.test("an answer of a wrong shape of MCP 2026-07-28 ends its call at once, as JSON and as an event", async () => {
  for (const asEvents of [false, true]) {
    const supported = { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } };
    await using server = new HttpMcpServer("streamable", script, {
      asEvents,
      intercept: ({ method, id }) =>
        method === "server/discover"
          ? Response.json({ jsonrpc: "2.0", id: String(id), result: supported })
          : undefined,
    });
    await using computer = Computer.open({ name: "laptop", config: { servers: { s: server.config() } } });
    await computer.ready();
    assertEquals(computer.servers.get("s")?.mcpVersion, "2026-07-28");
    for (const [tool, [, said]] of Object.entries(ANSWERS)) {
      const { content: [first] } = await within(computer.callTool(tool, {}, LONG), `the end of ${tool}`);
      assertMatch(first?.type === "text" ? first.text : "", said, tool);
    }
    assertEquals(computer.servers.get("s")?.restarts, 0);
  }
});
