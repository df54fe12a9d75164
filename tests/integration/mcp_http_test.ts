import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { HttpMcpServer } from "../fixtures/http_server.ts";
import { stateOf } from "../fixtures/log_book.ts";
import { ClosedPort } from "../fixtures/tcp_proxy.ts";
import { ComputerOffice } from "./_computer_office.ts";
import { eventually, within } from "../fixtures/within.ts";

const echo = { name: "echo", inputSchema: { type: "object" } };
const KINDS = ["streamable", "sse"] as const;

for (const kind of KINDS) {
  Deno.test(`a ${kind} server that goes away fails the call in flight at once and is used again when it is back`, async () => {
    const script = { tools: [echo], hang: ["tools/call echo"] };
    await using server = new HttpMcpServer(kind, script);
    await using office = await ComputerOffice.open({ servers: { s: server.config() } });
    const retrying = office.log.next(stateOf("s", "retrying"));
    const call = office.laptop.callTool("echo", {}, { timeoutMs: 600_000 });
    await server.until("POST tools/call");
    server.goAway();
    const { meta, content } = await call;
    assertEquals(meta?.error_code, 4003);
    assert(
      content[0]?.text?.startsWith('Tool "echo" failed: Cannot use MCP server "s": retrying ('),
      content[0]?.text,
    );
    await retrying;
    const running = office.log.next(stateOf("s", "running"));
    server.comeBack({ hang: [] });
    await running;
    await eventually(() => office.laptop.callTool("echo"), ({ isError }) => !isError, "a call that succeeds");
  });

  Deno.test(`a ${kind} server that cannot be reached is retried, and no address leaves the Computer`, async () => {
    await using port = await ClosedPort.open();
    const config = { servers: { s: { type: kind, server_parameters: { url: `${port.url}/mcp` } } } };
    await using office = await ComputerOffice.open(config);
    const { fields } = await office.log.until(stateOf("s", "retrying"));
    assertMatch(String(fields["error"]), /^Cannot use the MCP server: not reachable \(http:.*refused/);
    const { content } = await office.laptop.callTool("echo");
    assertEquals(JSON.stringify(content).includes("127.0.0.1"), false);
  });

  Deno.test(`a ${kind} server that answers HTTP 500 fails the request, not the session`, async () => {
    const intercept = ({ method }: { method?: string }) =>
      method === "tools/call" ? new Response("<html>stack", { status: 500 }) : undefined;
    await using server = new HttpMcpServer(kind, { tools: [echo] }, { intercept });
    await using office = await ComputerOffice.open({ servers: { s: server.config() } });
    const { meta, content } = await office.laptop.callTool("echo");
    assertEquals(meta?.error_code, 4003);
    assertEquals(content[0]?.text, 'Tool "echo" failed: Cannot use MCP server "s": HTTP 500');
    assertEquals(office.computer.servers.get("s")?.status, "running");
  });

  Deno.test(`a ${kind} server gets the configured headers with each request`, async () => {
    const seen: unknown[] = [];
    const note = (request: Request) => void seen.push(request.headers.get("x-key"));
    await using server = new HttpMcpServer(kind, { tools: [echo] }, {
      intercept: (_message, request) => note(request),
      interceptGet: note,
    });
    await using office = await ComputerOffice.open({
      servers: { s: server.config({ headers: { "X-Key": 7 } }) },
    });
    await office.laptop.callTool("echo");
    assert(seen.length >= 4);
    assertEquals(new Set(seen), new Set(["7"]));
  });
}

Deno.test("a standing stream ends with its session, whatever has become garbage meanwhile", async () => {
  const ended = Promise.withResolvers<void>();
  const interceptGet = () => {
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode(": hello\n\n")),
      cancel: () => ended.resolve(),
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
  await using server = new HttpMcpServer("streamable", { tools: [echo] }, { interceptGet });
  await using office = await ComputerOffice.open({ servers: { s: server.config() } });
  // So many make the engine collect, and what leads from the session's signal to the socket is held weakly by Deno.
  for (let call = 0; call < 200; call++) await office.computer.callTool("echo");
  await office.computer.close();
  await within(ended.promise, "the end of the stream");
});

/** What a server says that has lost the session; whether the call that met it may have begun. */
const LOSSES: readonly (readonly [status: number, body: (id: unknown) => string, mayHaveBegun: boolean])[] = [
  [404, () => "unknown session", false],
  [404, (id) => JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32001, message: "gone" } }), false],
  [400, () => "", false],
  [400, () => "<p>Bad Request", false],
  [400, () => '{"error":"no such session"}', false],
  [400, () => '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request"}}', false],
  [400, (id) => JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32600, message: "Not ready" } }), false],
  [410, () => "gone", false],
  [422, () => "{}", false],
  [500, () => '{"error":"x"}', true],
];

for (const kind of KINDS) {
  Deno.test(`a ${kind} server that has lost the session is given another one, and the calls that it has not begun`, async () => {
    for (const [status, body, mayHaveBegun] of LOSSES) {
      let refused: ((id: unknown) => Response) | undefined;
      await using server = new HttpMcpServer(kind, { tools: [echo] }, {
        intercept: ({ method, id }) => {
          if (method === "initialize") refused = undefined;
          return refused?.(id);
        },
      });
      await using office = await ComputerOffice.open({ servers: { s: server.config() } });
      refused = (id) => new Response(body(id), { status });
      const calls = Array.from({ length: 3 }, () => office.computer.callTool("echo"));
      const results = await within(Promise.all(calls), `the results after ${status}`);
      assertEquals(
        results.map(({ isError }) => isError),
        [mayHaveBegun, mayHaveBegun, mayHaveBegun],
        body(1),
      );
      assertEquals((await office.computer.callTool("echo")).isError, false);
      assertEquals(server.requests.filter((request) => request === "POST initialize").length, 2);
    }
  });
}

Deno.test("a server that loses each session at once is not asked without a pause, and says why", async () => {
  await using server = new HttpMcpServer("streamable", { tools: [echo] }, {
    intercept: ({ method }) =>
      method === "tools/call" || method === "ping" ? new Response("no", { status: 404 }) : undefined,
  });
  const limits = { pingIntervalMs: 100 };
  await using office = await ComputerOffice.open({ servers: { s: server.config() } }, { limits });
  const { content: [first] } = await office.computer.callTool("echo");
  assert(first?.type === "text" && first.text.includes("session lost: HTTP 404"), first?.text);
  const { fields } = await office.log.until(stateOf("s", "retrying"));
  assertEquals(fields["error"], "session lost: HTTP 404");
});

Deno.test("a refusal of one request is told with its JSON-RPC error, and the session goes on", async () => {
  const refusals: (readonly [status: number, body: unknown, said: string])[] = [
    [
      400,
      { jsonrpc: "2.0", error: { code: -32602, message: "missing field q" } },
      "missing field q (-32602)",
    ],
    [404, { error: { code: "-32602", message: "missing field q" } }, "missing field q (-32602)"],
    [422, { jsonrpc: "2.0", id: null, error: { code: -1, message: "" } }, "without a message (-1)"],
    [400, { jsonrpc: "2.0", id: 77, error: { code: 1, message: "another" } }, "HTTP 400"],
    [400, { detail: "nothing of JSON-RPC" }, "HTTP 400"],
    [500, { jsonrpc: "2.0", error: { code: -32603, message: "db locked" } }, "db locked (-32603)"],
    [503, { jsonrpc: "2.0", error: { code: -32603, message: "too busy" } }, "too busy (-32603)"],
  ];
  for (const kind of KINDS) {
    for (const [status, body, said] of refusals) {
      await using server = new HttpMcpServer(kind, { tools: [echo] }, {
        intercept: ({ method }) => method === "tools/call" ? Response.json(body, { status }) : undefined,
      });
      await using office = await ComputerOffice.open({ servers: { s: server.config() } });
      const { content: [first], isError } = await office.computer.callTool("echo");
      assert(isError && first?.type === "text" && first.text.includes(said), first?.text);
      assertEquals(server.requests.filter((request) => request === "POST initialize").length, 1);
    }
  }
});

Deno.test("a Streamable HTTP server without a standing stream is used all the same, however it says so", async () => {
  for (const status of [405, 404, 400, 501]) {
    await using server = new HttpMcpServer("streamable", { tools: [echo] }, {
      interceptGet: () => new Response("no stream here", { status }),
    });
    await using office = await ComputerOffice.open({ servers: { s: server.config() } });
    await server.until("GET");
    assertEquals((await office.laptop.callTool("echo")).isError, false);
    assertEquals(office.computer.servers.get("s")?.status, "running");
  }
});

Deno.test("a Streamable HTTP server whose stream broke and which no longer knows the session is started anew", async () => {
  await using server = new HttpMcpServer("streamable", { tools: [echo] });
  await using office = await ComputerOffice.open({ servers: { s: server.config() } });
  await server.until("GET");
  const running = office.log.next(stateOf("s", "running"));
  server.forget();
  server.cut();
  await running;
});

Deno.test("a Streamable HTTP server whose stream broke and which still knows the session goes on", async () => {
  await using server = new HttpMcpServer("streamable", { tools: [echo] });
  await using office = await ComputerOffice.open({ servers: { s: server.config() } });
  await server.until("GET");
  server.cut();
  await server.until("POST ping");
  assertEquals((await office.laptop.callTool("echo")).isError, false);
  assertEquals(office.computer.servers.get("s")?.status, "running");
});

// proves: data-config-sse
Deno.test("an SSE server whose stream ends is started anew in a new session", async () => {
  await using server = new HttpMcpServer("sse", { tools: [echo] });
  await using office = await ComputerOffice.open({ servers: { s: server.config() } });
  const retrying = office.log.next(stateOf("s", "retrying"));
  const running = office.log.next(stateOf("s", "running"));
  server.endStreams();
  assertEquals((await retrying).fields["error"], "event stream lost");
  await running;
  assertEquals(server.requests.filter((request) => request === "POST initialize").length, 2);
});

// proves: data-config-sse-times
Deno.test("an SSE server that falls silent for its sse_read_timeout is started anew", async () => {
  await using server = new HttpMcpServer("sse", { tools: [echo] });
  await using office = await ComputerOffice.open({
    servers: { s: server.config({ sse_read_timeout: 0.2 }) },
  });
  const { fields } = await office.log.until(stateOf("s", "retrying"));
  // The machine may be so busy that the time is over before the server has started.
  assertStringIncludes(String(fields["error"]), "event stream lost");
});

Deno.test("an SSE server that never says where to post is out of time at its start", async () => {
  await using server = new HttpMcpServer("sse", {}, {
    interceptGet: () =>
      new Response(new ReadableStream(), { headers: { "content-type": "text/event-stream" } }),
  });
  await using office = await ComputerOffice.open({ servers: { s: server.config() } }, {
    limits: { startTimeoutMs: 300 },
  });
  const { fields } = await office.log.until(stateOf("s", "retrying"));
  assertEquals(fields["error"], 'Cannot complete "initialize": no answer in 300 ms');
});

const never = () => new Promise<Response>(() => {});

// proves: data-config-durations
Deno.test("timeout ends a Streamable HTTP request that is not answered, initialize like any other", async () => {
  for (const asked of ["initialize", "tools/list"]) {
    const intercept = ({ method }: { method?: string }) => method === asked ? never() : undefined;
    await using server = new HttpMcpServer("streamable", { tools: [echo] }, { intercept });
    await using office = await ComputerOffice.open({ servers: { s: server.config({ timeout: "PT0.2S" }) } });
    const { fields } = await office.log.until(({ fields }) =>
      String(fields["error"]).includes("no HTTP answer")
    );
    assert(String(fields["error"]).includes("200 ms"));
  }
});

// proves: data-config-durations
Deno.test("a tool call may be answered later than timeout, and not later than sse_read_timeout", async () => {
  const done = Promise.withResolvers<void>();
  const result = { content: [{ type: "text", text: "late" }] };
  const answering = (answer: (id: unknown) => Promise<Response>) => ({
    intercept: ({ method, id }: { method?: string; id?: number | string }) =>
      method === "tools/call" ? answer(id) : undefined,
  });
  const late = (id: unknown) => done.promise.then(() => Response.json({ jsonrpc: "2.0", id, result }));
  await using slow = new HttpMcpServer("streamable", { tools: [echo] }, answering(late));
  await using hung = new HttpMcpServer(
    "streamable",
    { tools: [{ ...echo, name: "hang" }] },
    answering(never),
  );
  await using office = await ComputerOffice.open({
    servers: {
      slow: slow.config({ timeout: "PT2S", sse_read_timeout: "PT60S" }),
      hung: hung.config({ timeout: "PT3S", sse_read_timeout: "PT4S" }),
    },
  });
  const call = office.computer.callTool("echo");
  const over = office.computer.callTool("hang", {}, { timeoutMs: 600_000 });
  // A ping that would have been over: so is the time of the call.
  setTimeout(() => done.resolve(), 2_500);
  assertEquals((await call).content[0]?.text, "late");
  const { meta, content } = await over;
  assertEquals([meta?.error_code, meta?.a2c_timeout], [4004, true]);
  assertEquals(content[0]?.text, 'Tool "hang" did not answer in 4 s');
});

// proves: data-config-durations
Deno.test("sse_read_timeout ends the event stream of an answer that says nothing, and the request with it", async () => {
  const script = { tools: [echo], hang: ["tools/call echo"] };
  await using server = new HttpMcpServer("streamable", script);
  await using office = await ComputerOffice.open({
    servers: { s: server.config({ sse_read_timeout: "PT3S" }) },
  });
  const { content, isError } = await office.computer.callTool("echo", {}, { timeoutMs: 600_000 });
  assertEquals(isError, true);
  assert(content[0]?.text?.includes("event stream lost"), content[0]?.text);
  assertEquals(office.computer.servers.get("s")?.status, "running");
});

// proves: data-config-sse-times
Deno.test("timeout ends the opening of an SSE stream that is not answered", async () => {
  await using server = new HttpMcpServer("sse", {}, { interceptGet: never });
  await using office = await ComputerOffice.open({ servers: { s: server.config({ timeout: 0.2 }) } });
  const { fields } = await office.log.until(stateOf("s", "retrying"));
  assert(String(fields["error"]).includes("no HTTP answer in 200 ms"), String(fields["error"]));
});

// proves: data-config-terminate
Deno.test("terminate_on_close says whether the session is ended on the server", async () => {
  for (const terminate_on_close of [true, false]) {
    await using server = new HttpMcpServer("streamable", {});
    const office = await ComputerOffice.open({ servers: { s: server.config({ terminate_on_close }) } });
    await office[Symbol.asyncDispose]();
    assertEquals(server.requests.includes("DELETE"), terminate_on_close);
  }
});

Deno.test("an answer whose stream breaks off is awaited in the stream that resumes it, and lost when there is none", async () => {
  const answer = (id: unknown) =>
    JSON.stringify({ jsonrpc: "2.0", id, result: { content: [{ type: "text", text: "late" }] } });
  const events = (text: string) => new Response(text, { headers: { "content-type": "text/event-stream" } });
  for (const isResumed of [true, false]) {
    let called: unknown;
    await using server = new HttpMcpServer("streamable", { tools: [echo] }, {
      intercept: ({ method, id }) => {
        if (method !== "tools/call") return undefined;
        called = id;
        return events("id: 7\nretry: 10\ndata:\n\n");
      },
      interceptGet: ({ headers }) => {
        const isOfCall = headers.get("last-event-id") === "7";
        return isResumed && isOfCall
          ? events(`data: ${answer(called)}\n\n`)
          : new Response("", { status: 405 });
      },
    });
    await using office = await ComputerOffice.open({ servers: { s: server.config() } });
    const call = office.computer.callTool("echo", {}, { timeoutMs: 600_000 });
    const { content: [first] } = await within(call, "the end of the call");
    assertMatch(first?.type === "text" ? first.text : "", isResumed ? /^late$/ : /event stream lost/);
    assertEquals(office.computer.servers.get("s")?.status, "running");
  }
});

Deno.test("a redirect within the origin is followed", async () => {
  await using server = new HttpMcpServer("streamable", { tools: [echo] }, {
    intercept: (_message, { url }) => url.endsWith("/") ? undefined : Response.redirect(`${url}/`, 307),
  });
  await using office = await ComputerOffice.open({ servers: { s: server.config() } });
  assertEquals((await office.laptop.callTool("echo")).isError, false);
});

Deno.test("a server whose URL is none of HTTP is failed, and the message does not show it", async () => {
  const config = {
    servers: { s: { type: "sse", server_parameters: { url: "${input:url}" } } },
    inputs: [{ type: "promptString", id: "url" }],
  };
  await using office = await ComputerOffice.open(config, { inputs: () => "ftp://user:secret@host/" });
  const { lastError, status } = office.computer.servers.get("s") ?? {};
  assertEquals(status, "failed");
  assertStringIncludes(lastError ?? "", "server_parameters.url");
  assert(!lastError?.includes("secret"));
});
