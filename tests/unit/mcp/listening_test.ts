import { assertEquals, assertRejects } from "@std/assert";
import { silentLogger } from "../../../src/log.ts";
import { ServerAnswerError, ServerNotRunningError } from "../../../src/mcp/errors.ts";
import { type ListenedLists, Listening } from "../../../src/mcp/listening.ts";
import type { Result, RpcPeer } from "../../../src/mcp/rpc_peer.ts";
import { within } from "../../fixtures/within.ts";

const LONG = { timeoutMs: 600_000 };
const LISTS: ListenedLists = { toolsListChanged: true };

/** A stream that was asked for. */
interface Asked {
  readonly id: number;
  readonly filter: unknown;
  readonly signal: AbortSignal;
  /** Ends the stream: in good order, or with an error. */
  readonly end: (error?: Error) => void;
}

/** A server, as far as it is listened to; a test acknowledges, refuses and ends its streams. */
class Server implements Pick<RpcPeer, "open"> {
  readonly asked: Asked[] = [];
  readonly listening: Listening;
  reopened = 0;
  #arrival = Promise.withResolvers<void>();

  constructor(lists: ListenedLists = LISTS) {
    const onReopened = () => void this.reopened++;
    this.listening = new Listening({ peer: this, lists, log: silentLogger, onReopened });
  }

  open(
    { params }: Parameters<RpcPeer["open"]>[0],
    { signal = new AbortController().signal }: Parameters<RpcPeer["open"]>[1],
  ): { id: number; result: Promise<Result> } {
    const id = this.asked.length + 40;
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    signal.addEventListener("abort", () => reject(signal.reason));
    this.asked.push({
      id,
      filter: params["notifications"],
      signal,
      end: (error) => error === undefined ? resolve({}) : reject(error),
    });
    this.#arrival.resolve();
    return { id, result: promise };
  }

  /** Resolves to the stream with this index when it was asked for. */
  async stream(index: number): Promise<Asked> {
    for (;;) {
      const asked = this.asked[index];
      if (asked !== undefined) return asked;
      this.#arrival = Promise.withResolvers<void>();
      await within(this.#arrival.promise, `stream ${index}`);
    }
  }

  acknowledge({ id }: Asked, resourceSubscriptions: readonly string[] = []): boolean {
    return this.listening.hear({
      jsonrpc: "2.0",
      method: "notifications/subscriptions/acknowledged",
      params: {
        _meta: { "io.modelcontextprotocol/subscriptionId": id },
        notifications: { resourceSubscriptions },
      },
    });
  }

  [Symbol.dispose](): void {
    this.listening.close();
  }
}

Deno.test("a stream is opened for the lists at once, and not while there is nothing to listen to", async () => {
  using server = new Server();
  const { filter } = await server.stream(0);
  assertEquals(filter, { toolsListChanged: true });
  using idle = new Server({});
  await within(idle.listening.begun, "the beginning without a stream");
  assertEquals(idle.asked.length, 0);
});

Deno.test("a further resource opens another stream, and the former one ends when that is acknowledged", async () => {
  using server = new Server();
  const first = await server.stream(0);
  server.acknowledge(first);
  const subscribed = server.listening.subscribe("a:1", LONG);
  const second = await server.stream(1);
  assertEquals(second.filter, { toolsListChanged: true, resourceSubscriptions: ["a:1"] });
  assertEquals(first.signal.aborted, false);
  server.acknowledge(second, ["a:1"]);
  await within(subscribed, "the subscription");
  assertEquals([first.signal.aborted, second.signal.aborted, server.reopened], [true, false, 0]);
  await server.listening.subscribe("a:1", LONG);
  assertEquals(server.asked.length, 2);
});

Deno.test("resources that are wanted at the same time share a stream", async () => {
  using server = new Server({});
  const uris = Array.from({ length: 100 }, (_, index) => `a:${index}`);
  const subscribed = Promise.all(uris.map((uri) => server.listening.subscribe(uri, LONG)));
  const stream = await server.stream(0);
  server.acknowledge(stream, uris);
  await within(subscribed, "all subscriptions");
  assertEquals([server.asked.length, stream.filter], [1, { resourceSubscriptions: uris }]);
});

Deno.test("a resource that the server does not acknowledge is not subscribed", async () => {
  using server = new Server({});
  const [told, untold] = ["a:1", "a:2"].map((uri) => server.listening.subscribe(uri, LONG));
  server.acknowledge(await server.stream(0), ["a:1"]);
  await told;
  await assertRejects(
    () => within(untold ?? Promise.resolve(), "the refusal"),
    ServerAnswerError,
    "does not tell",
  );
});

Deno.test("only the acknowledgement of the stream that is being opened counts, and other notifications pass", async () => {
  using server = new Server({});
  const subscribed = server.listening.subscribe("a:1", LONG);
  const stream = await server.stream(0);
  assertEquals(server.acknowledge({ ...stream, id: 7 }, ["a:1"]), true);
  assertEquals(server.listening.hear({ jsonrpc: "2.0", method: "notifications/tools/list_changed" }), false);
  server.acknowledge(stream, []);
  await assertRejects(() => subscribed, ServerAnswerError);
});

for (
  const [how, error] of [["in good order", undefined], [
    "by a loss",
    new ServerNotRunningError({ reason: "gone" }),
  ]] as const
) {
  Deno.test(`a stream that ends ${how} is opened again, and what may have been missed is told`, async () => {
    using server = new Server({});
    const subscribed = server.listening.subscribe("a:1", LONG);
    const first = await server.stream(0);
    server.acknowledge(first, ["a:1"]);
    await subscribed;
    first.end(error);
    const second = await server.stream(1);
    assertEquals([second.filter, server.reopened], [first.filter, 0]);
    server.acknowledge(second, ["a:1"]);
    // A stream after that is asked for only when this one was taken.
    const further = server.listening.subscribe("a:2", LONG);
    server.acknowledge(await server.stream(2), ["a:1", "a:2"]);
    await within(further, "the further subscription");
    assertEquals(server.reopened, 1);
  });
}

Deno.test("what may have been missed is told after a stream that ended while another was opened in its place", async () => {
  using server = new Server({});
  const subscribed = server.listening.subscribe("a:1", LONG);
  const first = await server.stream(0);
  server.acknowledge(first, ["a:1"]);
  await subscribed;
  const wider = server.listening.subscribe("a:2", LONG);
  const second = await server.stream(1);
  first.end();
  server.acknowledge(second, ["a:1", "a:2"]);
  await within(wider, "the wider subscription");
  assertEquals(server.reopened, 1);
});

Deno.test("what may have been missed is told after a first stream that could not be opened", async () => {
  using server = new Server();
  (await server.stream(0)).end(new ServerNotRunningError({ reason: "HTTP 503" }));
  await within(server.listening.begun, "the beginning");
  const subscribed = server.listening.subscribe("a:1", LONG);
  server.acknowledge(await server.stream(1), ["a:1"]);
  await within(subscribed, "the subscription");
  assertEquals(server.reopened, 1);
});

Deno.test("a resource that is subscribed again is part of the next stream", async () => {
  using server = new Server({});
  const subscribed = server.listening.subscribe("a:1", LONG);
  const first = await server.stream(0);
  server.acknowledge(first, ["a:1"]);
  await subscribed;
  server.listening.unsubscribe("a:1");
  await server.listening.subscribe("a:1", LONG);
  first.end();
  assertEquals((await server.stream(1)).filter, { resourceSubscriptions: ["a:1"] });
});

Deno.test("a resource for which a stream was refused is not part of the next one", async () => {
  using server = new Server();
  const first = await server.stream(0);
  server.acknowledge(first);
  const refused = server.listening.subscribe("a:1", LONG);
  (await server.stream(1)).end(new ServerAnswerError(-32602, "Unknown resource"));
  await assertRejects(() => within(refused, "the refusal"), ServerAnswerError, "Unknown");
  assertEquals((await server.stream(2)).filter, { toolsListChanged: true });
});

Deno.test("a server without such streams is asked once, and again only for more", async () => {
  using server = new Server();
  const first = await server.stream(0);
  first.end(new ServerAnswerError(-32601, "Method not found"));
  await within(server.listening.begun, "the beginning");
  const subscribed = server.listening.subscribe("a:1", LONG);
  (await server.stream(1)).end(new ServerAnswerError(-32601, "Method not found"));
  await assertRejects(() => within(subscribed, "the refusal"), ServerAnswerError, "not found");
  assertEquals(server.asked.length, 2);
});

Deno.test("a subscription that is ended before it is told ends its wait", async () => {
  using server = new Server();
  await server.stream(0);
  const subscribed = server.listening.subscribe("a:1", LONG);
  server.listening.unsubscribe("a:1");
  await assertRejects(() => within(subscribed, "the end of the wait"), ServerAnswerError, "has ended");
});

Deno.test("a refusal ends the wait of those who subscribe, and a loss does not", async () => {
  using server = new Server({});
  const subscribed = server.listening.subscribe("a:1", LONG);
  (await server.stream(0)).end(new ServerNotRunningError({ reason: "HTTP 503" }));
  server.acknowledge(await server.stream(1), ["a:1"]);
  await within(subscribed, "the subscription at the second attempt");
  const refused = server.listening.subscribe("a:2", LONG);
  (await server.stream(2)).end(new ServerAnswerError(-32603, "Subscription limit reached"));
  await assertRejects(() => within(refused, "the refusal"), ServerAnswerError, "limit");
});

Deno.test("the end of the session ends the stream and all that wait", async () => {
  const server = new Server({});
  const subscribed = server.listening.subscribe("a:1", LONG);
  const { signal } = await server.stream(0);
  server.listening.close();
  await assertRejects(() => subscribed, ServerNotRunningError);
  assertEquals(signal.aborted, true);
});
