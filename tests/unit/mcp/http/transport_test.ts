import { assertEquals } from "@std/assert";
import { readResolved } from "../../../../src/config/values.ts";
import { SseTransport } from "../../../../src/mcp/http/sse.ts";
import { StreamableTransport } from "../../../../src/mcp/http/streamable.ts";
import { Inflow } from "../../../../src/mcp/json_rpc.ts";
import { DEFAULT_SERVER_LIMITS } from "../../../../src/mcp/limits.ts";
import { silentLogger } from "../../../../src/log.ts";
import { within } from "../../../fixtures/within.ts";

const request = { method: "tools/call", params: {}, jsonrpc: "2.0", id: 1 } as const;
const EVENTS = { headers: { "content-type": "text/event-stream" } };

/** A transport to a server that answers each HTTP request by `answer`, and the requests that fail. */
async function open(answer: (request: Request) => Response, type: "streamable" | "sse" = "streamable") {
  const http = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, answer);
  const url = `http://127.0.0.1:${http.addr.port}/mcp`;
  const config = readResolved("s", { name: "s", type, server_parameters: { url } });
  if (config.type === "stdio") throw new TypeError("Cannot open: not a server over HTTP");
  const failed: string[] = [];
  const context = {
    log: silentLogger,
    limits: DEFAULT_SERVER_LIMITS,
    inflow: new Inflow(),
    listener: {
      onForgotten() {},
      onGone() {},
      onStreamBroken() {},
      onStreamOpened() {},
      onFailed: (id: unknown, error: Error) => void failed.push(`${id}: ${error.message}`),
      onQuestion() {},
      isAsked: () => false,
    },
  };
  const transport = config.type === "sse"
    ? new SseTransport(config, context)
    : new StreamableTransport(config, context);
  await transport.start();
  const close = async () => {
    await transport.close({ isGone: true });
    await http.shutdown();
  };
  return { transport, failed, [Symbol.asyncDispose]: close };
}

Deno.test("an answer that nobody waits for is not looked for in further streams", async () => {
  let opened = 0;
  await using server = await open(({ method }) => {
    if (method === "GET") opened++;
    return new Response("retry: 0\nid: 1\ndata:\n\n", EVENTS);
  });
  const sent = server.transport.send(request, { isWaiting: () => opened < 2 });
  await within(sent, "the end of the streams");
  assertEquals([opened, server.failed], [2, ["1: Cannot use the MCP server: event stream lost"]]);
});

Deno.test("a stream is resumed after its last event that had an id", async () => {
  const resumed: (string | null)[] = [];
  const streams = [
    "id: 2\ndata:\n\n: hello\n\n",
    "data: {}\n\n",
    'data: {"jsonrpc":"2.0","id":1,"result":{}}\n\n',
  ];
  await using server = await open(({ method, headers }) => {
    if (method === "GET") resumed.push(headers.get("last-event-id"));
    return new Response(method === "GET" ? streams.shift() : "retry: 0\nid: 1\ndata:\n\n", EVENTS);
  });
  const answers: unknown[] = [];
  server.transport.onmessage = (message: unknown) => void answers.push(message);
  await within(server.transport.send(request), "the answer");
  assertEquals(resumed, ["1", "2", "2"]);
  assertEquals(answers, [{ jsonrpc: "2.0", id: 1, result: {} }]);
});

Deno.test("a server over HTTP with SSE may name another endpoint later", async () => {
  const posted = Promise.withResolvers<string>();
  const named = "event: endpoint\ndata: /old\n\nevent: endpoint\ndata: /new?session=1\n\n";
  const standing = () =>
    new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(named)) });
  await using server = await open(({ method, url }) => {
    if (method === "GET") return new Response(standing(), EVENTS);
    const { pathname, search } = new URL(url);
    posted.resolve(pathname + search);
    return new Response(null, { status: 202 });
  }, "sse");
  await server.transport.send(request);
  assertEquals(await within(posted.promise, "the message"), "/new?session=1");
});
