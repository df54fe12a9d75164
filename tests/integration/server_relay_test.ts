import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { SmcpServer } from "../../server.ts";
import { RawPeer, RecordingLogger } from "./_socket.ts";
import { withConstants } from "../../src/server/options/constants.ts";
import { within } from "../fixtures/within.ts";

const ada = { role: "agent", name: "ada", office_id: "lab" } as const;
const laptop = { role: "computer", name: "laptop", office_id: "lab" } as const;
const request = { agent: "ada", req_id: "r1", computer: "laptop" };

interface ErrorBody {
  readonly code: number;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** The error that an ack carries, in its flat form; both forms must say the same. */
function errorOf([answer, ...rest]: readonly unknown[]): ErrorBody {
  assertEquals(rest, []);
  const { error, code, message, details } = answer as ErrorBody & { error: ErrorBody };
  assertEquals(error, details === undefined ? { code, message } : { code, message, details });
  return error;
}

// proves: guide-server-pure-routing, guide-error-kept, data-agent-call
Deno.test("client:* is relayed by shape: the body as it came, the ack as it comes", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using agent = await RawPeer.join(server.url, ada);
  await using computer = await RawPeer.join(server.url, laptop);
  const bodies: unknown[] = [];
  const answers: readonly unknown[][] = [
    [{ tools: [], req_id: "r1", extra: [null, { a: 1 }] }],
    [{ code: 4202, message: "Page out of range", details: { page_index: 9, page_count: 3 } }],
    [],
    [false, "two arguments", 3],
    [null],
  ];
  for (const [index, answer] of answers.entries()) {
    const event =
      ["client:get_tools", "client:read_resource", "client:foo", "client:put_blob", "client:x"][index];
    assert(event !== undefined);
    computer.serve(event, (body) => {
      bodies.push(body);
      return answer;
    });
    const body = { ...request, agent: "someone", unknown: { deep: ["é", "\u0000", 1e21] }, timeout: 1.5 };
    assertEquals(await agent.request(event, body), answer);
    assertEquals(bodies.at(-1), body);
  }
});

Deno.test("client:* carries binary attachments both ways", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using agent = await RawPeer.join(server.url, ada);
  await using computer = await RawPeer.join(server.url, laptop);
  computer.serve("client:put_blob", (body) => [{ echo: (body as { blob: unknown }).blob }]);
  const [answer] = await agent.request("client:put_blob", { ...request, blob: new Uint8Array([1, 2, 3]) });
  assertEquals([...new Uint8Array((answer as { echo: Uint8Array }).echo)], [1, 2, 3]);
});

Deno.test("client:* without an ack is relayed without one", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using agent = await RawPeer.join(server.url, ada);
  await using computer = await RawPeer.join(server.url, laptop);
  agent.socket.emit("client:hint", request);
  assertEquals(await computer.next("client:hint"), request);
});

// proves: guide-error-shape
Deno.test("A refusal names its request, and of a tool call it is a failed tool result as well", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using agent = await RawPeer.join(server.url, ada);
  const [listing] = await agent.request("client:get_tools", request);
  const message = "Computer with name 'laptop' not found";
  const body = { code: 404, message, details: { computer_name: "laptop" } };
  assertEquals(listing, { ...body, error: body });
  const [call] = await agent.request("client:tool_call", request);
  const content = [{ type: "text", text: message }];
  assertEquals(call, { ...body, isError: true, content, error: body });
});

Deno.test("client:* without an agent is relayed as it is", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using agent = await RawPeer.join(server.url, ada);
  await using computer = await RawPeer.join(server.url, laptop);
  computer.serve("client:get_tools", (body) => [body]);
  const body = { robot_id: "ada", req_id: "r1", computer: "laptop" };
  assertEquals(await agent.request("client:get_tools", body), [body]);
});

// proves: guide-server-404
Deno.test("client:* is refused in the order 400, 4103, 403, 404", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using peer = await RawPeer.connect(server.url);
  const ask = async (...args: unknown[]) => errorOf(await peer.request("client:get_tools", ...args));
  assertEquals((await ask()).details, { field: "body" });
  assertEquals((await ask(request, request)).details, { field: "body" });
  assertEquals((await ask("text")).code, 400);
  assertEquals((await ask({ ...request, req_id: undefined })).details, { field: "req_id" });
  assertEquals((await ask({ ...request, computer: 5 })).details, { field: "computer" });
  assertEquals((await ask({ ...request, agent: null })).details, { field: "agent" });
  assertEquals((await ask(request)).code, 4103);
  await peer.request("server:join_office", laptop);
  assertEquals((await ask({ ...request, timeout: 0 })).code, 400);
  assertEquals((await ask({ ...request, computer: "nobody" })).code, 403);
  await peer.request("server:leave_office", { office_id: "lab" });
  await peer.request("server:join_office", ada);
  assertEquals((await ask({ ...request, computer: 7 })).code, 400);
  assertEquals(await ask({ ...request, computer: "zz" }), {
    code: 404,
    message: "Computer with name 'zz' not found",
    details: { computer_name: "zz" },
  });
});

Deno.test("client:* with a timeout other than a number above 0 and up to 86,400 is refused with 400", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using agent = await RawPeer.join(server.url, ada);
  await using computer = await RawPeer.join(server.url, laptop);
  computer.serve("client:x", () => [{ ok: true }]);
  for (const timeout of [0, -1, 86_401, 1e308, "30", [], true]) {
    const error = errorOf(await agent.request("client:x", { ...request, timeout }));
    assertEquals([error.code, error.details], [400, { field: "timeout" }], `timeout ${timeout}`);
  }
  for (const timeout of [0.001, 1, 30, 86_400, null]) {
    assertEquals(await agent.request("client:x", { ...request, timeout }), [{ ok: true }]);
  }
});

Deno.test("A Computer of another office answers as one that does not exist", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using agent = await RawPeer.join(server.url, ada);
  await using foreign = await RawPeer.join(server.url, { ...laptop, office_id: "den" });
  foreign.serve("client:get_tools", () => [{ tools: ["secret"] }]);
  const unknown = errorOf(await agent.request("client:get_tools", request));
  await foreign[Symbol.asyncDispose]();
  assertEquals(errorOf(await agent.request("client:get_tools", request)), unknown);
  assertEquals(unknown.code, 404);
});

for (const way of ["disconnects", "leaves", "joins another office"] as const) {
  Deno.test(`A request in flight is answered 404 at once when its Computer ${way}`, async () => {
    const logger = new RecordingLogger();
    await using server = await SmcpServer.listen({ port: 0, logger });
    await using agent = await RawPeer.join(server.url, ada);
    await using computer = await RawPeer.join(server.url, laptop);
    const arrived = computer.nextRequest("client:tool_call");
    const answer = agent.request("client:tool_call", { ...request, timeout: 3_600 });
    await arrived;
    if (way === "disconnects") await computer.cut();
    else if (way === "leaves") await computer.request("server:leave_office", { office_id: "lab" });
    else await computer.request("server:join_office", { ...laptop, office_id: "den" });
    const { code, details } = errorOf(await answer);
    assertEquals([code, details], [404, { computer_name: "laptop", may_have_run: true }]);
    assert(logger.lines.some(({ fields }) => fields["req_id"] === "r1" && fields["code"] === 404));
  });
}

// proves: guide-error-logged
Deno.test("An error of a Computer is logged with its request and its code, without its content", async () => {
  const logger = new RecordingLogger();
  await using server = await SmcpServer.listen({ port: 0, logger });
  await using agent = await RawPeer.join(server.url, ada);
  await using computer = await RawPeer.join(server.url, laptop);
  const error = { code: 4201, message: "No such document: salaries" };
  for (const answer of [error, { error }]) {
    computer.serve("client:read_resource", () => [answer]);
    await agent.request("client:read_resource", request);
    computer.socket.off("client:read_resource");
    const line = logger.lines.at(-1);
    assertEquals([line?.fields["code"], line?.fields["req_id"], line?.fields["computer"]], [
      4201,
      "r1",
      "laptop",
    ]);
    assert(!JSON.stringify(line).includes("salaries"));
  }
});

// proves: guide-error-logged
Deno.test("A request that its Computer does not answer is answered 408 after timeout and grace, and cancelled there", async () => {
  const logger = new RecordingLogger();
  await using server = await SmcpServer.listen({ port: 0, logger, ...withConstants({ graceMs: 20 }) });
  await using agent = await RawPeer.join(server.url, ada);
  await using computer = await RawPeer.join(server.url, laptop);
  let late: ((answer: unknown) => void) | undefined;
  computer.socket.on("client:tool_call", (_body: unknown, ack: (answer: unknown) => void) => late = ack);
  const cancelled = computer.next("notify:tool_call_cancel");
  const startMs = performance.now();
  const error = errorOf(await agent.request("client:tool_call", { ...request, timeout: 0.03 }));
  assert(performance.now() - startMs >= 49);
  assertEquals([error.code, error.details], [408, { computer_name: "laptop", may_have_run: true }]);
  assertEquals(await cancelled, { agent: "ada", req_id: "r1" });
  assert(logger.lines.some(({ fields }) => fields["req_id"] === "r1" && fields["code"] === 408));
  // An answer that comes too late disturbs nobody.
  late?.({ content: [] });
  computer.serve("client:get_tools", () => [{ tools: [] }]);
  assertEquals(await agent.request("client:get_tools", request), [{ tools: [] }]);
});

Deno.test("A Computer that does not answer delays no other, nor itself", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using agent = await RawPeer.join(server.url, ada);
  await using slow = await RawPeer.join(server.url, laptop);
  await using quick = await RawPeer.join(server.url, { ...laptop, name: "phone" });
  for (const computer of [slow, quick]) computer.serve("client:get_tools", () => [{ tools: [] }]);
  const arrived = slow.nextRequest("client:tool_call");
  const stuck = agent.request("client:tool_call", request);
  await arrived;
  assertEquals(await agent.request("client:get_tools", { ...request, computer: "phone" }), [{ tools: [] }]);
  assertEquals(await agent.request("client:get_tools", request), [{ tools: [] }]);
  await slow.cut();
  assertEquals(errorOf(await stuck).code, 404);
});

Deno.test("One more request than a connection may have open is refused with 400, and those that end make room", async () => {
  await using server = await SmcpServer.listen({ port: 0, maxOpenRequests: 3 });
  await using agent = await RawPeer.join(server.url, ada);
  await using computer = await RawPeer.join(server.url, laptop);
  const acks: ((answer: unknown) => void)[] = [];
  computer.socket.on("client:tool_call", (_body: unknown, ack: (answer: unknown) => void) => acks.push(ack));
  const answers = Array.from({ length: 4 }, () => agent.request("client:tool_call", request));
  const error = errorOf(await Promise.race(answers));
  assertEquals([error.code, error.details], [400, { field: "event", limit: 3 }]);
  assertStringIncludes(
    error.message,
    "3 requests of this connection are open, the limit by --max-open-requests (maxOpenRequests)",
  );
  await computer.settled();
  for (const ack of acks) ack({ done: true });
  assertEquals(
    (await Promise.all(answers)).filter(([answer]) => JSON.stringify(answer) === '{"done":true}').length,
    3,
  );
  const again = agent.request("client:tool_call", request);
  await computer.settled();
  acks.at(-1)?.({ done: true });
  assertEquals(await again, [{ done: true }]);
});

Deno.test("An Agent that is gone leaves its requests to end in peace", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const agent = await RawPeer.join(server.url, ada);
  await using computer = await RawPeer.join(server.url, laptop);
  const acked = Promise.withResolvers<(answer: unknown) => void>();
  computer.socket.on(
    "client:tool_call",
    (_body: unknown, ack: (answer: unknown) => void) => acked.resolve(ack),
  );
  agent.socket.emit("client:tool_call", request, () => {});
  const ack = await within(acked.promise, "the request");
  await agent.cut();
  assertEquals(await computer.next("notify:leave_office"), { office_id: "lab", agent: "ada" });
  ack({ content: [] });
  await computer.settled();
  await using next = await RawPeer.join(server.url, ada);
  computer.serve("client:get_tools", () => [{ tools: [] }]);
  assertEquals(await next.request("client:get_tools", request), [{ tools: [] }]);
});
