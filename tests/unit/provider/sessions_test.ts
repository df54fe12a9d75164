// @ts-types="@modelcontextprotocol/sdk/inMemory"
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { provide, Provider, type ReadRequest } from "../../../src/provider/mod.ts";
import {
  ClientSubscriptions,
  MAX_SUBSCRIPTIONS,
  Outbox,
  topicOf,
} from "../../../src/provider/session/session.ts";
import { newServer, Provided } from "./_provided.ts";
import { within } from "../../fixtures/within.ts";

const STATUS = { uri: "window://app/status", name: "Status", text: "idle" };
const LOG = { uri: "window://app/log", name: "Log", text: "" };

// proves: mcp-subscribe, mcp-updated
Deno.test("each session hears of what it subscribed to, and of no more", async () => {
  const provider = new Provider();
  const [status, log] = [provider.publishWindow(STATUS), provider.publishWindow(LOG)];
  await using one = await Provided.connect(provider);
  await using other = await Provided.connect(provider);
  await one.subscribe(STATUS.uri);
  await other.subscribe(LOG.uri, STATUS.uri);
  await other.client.unsubscribeResource({ uri: STATUS.uri });
  status.update("busy");
  log.update("started");
  assertEquals(await one.heard(), [`updated ${STATUS.uri}`]);
  assertEquals(await other.heard(), [`updated ${LOG.uri}`]);
  assertEquals([await one.text(STATUS.uri), await other.text(STATUS.uri)], ["busy", "busy"]);
});

Deno.test("a session that is over is told nothing, and the server's next session begins without subscriptions", async () => {
  const provider = new Provider();
  const server = newServer();
  provider.attach(server);
  const status = provider.publishWindow(STATUS);
  const first = await Provided.connect(provider, server);
  await first.subscribe(STATUS.uri);
  await first.client.close();
  status.update("busy");
  await using second = await Provided.connect(provider, server);
  status.update("idle");
  assertEquals(await second.heard(), []);
  assertEquals([first.told, first.errors], [[], []]);
});

Deno.test("a client that has not told that it is initialised is not told of lists", async () => {
  const server = newServer();
  const provider = provide(server);
  const [left, right] = InMemoryTransport.createLinkedPair();
  const received: unknown[] = [];
  right.onmessage = (message) => void received.push(message);
  await right.start();
  await server.connect(left);
  provider.publishWindow(STATUS);
  const answered = Promise.withResolvers<void>();
  right.onmessage = (message) => {
    received.push(message);
    answered.resolve();
  };
  await right.send({ jsonrpc: "2.0", id: 1, method: "ping" });
  await within(answered.promise, "the answer");
  assertEquals(received, [{ jsonrpc: "2.0", id: 1, result: {} }]);
  await server.close();
});

Deno.test("a read that its client cancels, or leaves, is aborted and not answered", async () => {
  const reading = [Promise.withResolvers<ReadRequest>(), Promise.withResolvers<ReadRequest>()];
  let reads = 0;
  await using provided = await Provided.open((provider) =>
    void provider.publishWindow({
      uri: STATUS.uri,
      name: "Slow",
      read: (request) => {
        reading[reads++]?.resolve(request);
        const { promise, reject } = Promise.withResolvers<string>();
        request.signal.addEventListener("abort", () => reject(request.signal.reason));
        return promise;
      },
    })
  );
  const call = new AbortController();
  const cancelled = provided.client.readResource({ uri: STATUS.uri }, { signal: call.signal });
  const first = await reading[0]?.promise;
  call.abort(new Error("Changed my mind"));
  await assertRejects(() => cancelled);
  await provided.heard();
  assertEquals(first?.signal.aborted, true);

  const left = provided.client.readResource({ uri: STATUS.uri });
  const second = await reading[1]?.promise;
  await provided.client.close();
  await assertRejects(() => left);
  assertEquals(second?.signal.aborted, true);
  assertEquals(provided.errors, []);
});

Deno.test("whoever listened to a transport before it was connected goes on listening", async () => {
  const server = newServer();
  provide(server);
  const [left, right] = InMemoryTransport.createLinkedPair();
  const seen: string[] = [];
  left.onmessage = (message) => void seen.push("method" in message ? message.method : "answer");
  left.onclose = () => void seen.push("close");
  server.server.onclose = () => void seen.push("server close");
  await server.connect(left);
  await right.start();
  await right.send({ jsonrpc: "2.0", id: 1, method: "ping" });
  await right.close();
  assertEquals(seen, ["ping", "close", "server close"]);
  assertEquals(server.isConnected(), false);
});

Deno.test("whoever connects a transport that cannot start is told why", async () => {
  const server = newServer();
  provide(server);
  const [left] = InMemoryTransport.createLinkedPair();
  left.start = () => Promise.reject(new Error("No port"));
  await assertRejects(() => server.connect(left), Error, "No port");
});

Deno.test("an outbox goes on after a notification that could not be sent", async () => {
  const sent: string[] = [];
  const failures: unknown[] = [];
  const last = Promise.withResolvers<void>();
  const outbox = new Outbox(({ method }) => {
    if (method === "bad") return Promise.reject(new Error("Broken pipe"));
    sent.push(method);
    if (method === "c") last.resolve();
    return Promise.resolve();
  }, (error) => void failures.push(error));
  for (const method of ["a", "bad", "c"]) outbox.post({ method });
  await within(last.promise, "the last message");
  assertEquals([sent, failures.length], [["a", "c"], 1]);
  outbox.post({ method: "late" });
  outbox.close();
  outbox.post({ method: "later" });
  assertEquals(sent, ["a", "c"]);
});

Deno.test("what changes while its notification is sent is told once more, and waits in its place", async () => {
  const sent: string[] = [];
  const first = Promise.withResolvers<void>();
  const last = Promise.withResolvers<void>();
  const outbox = new Outbox(({ method }) => {
    sent.push(method);
    if (sent.length === 3) last.resolve();
    return sent.length > 1 ? Promise.resolve() : first.promise;
  }, () => {});
  outbox.post({ method: "a" });
  await Promise.resolve();
  for (let i = 0; i < 1_000; i++) {
    outbox.post({ method: "b" });
    outbox.post({ method: "a" });
  }
  first.resolve();
  await within(last.promise, "the last message");
  assertEquals(sent, ["a", "b", "a"]);
});

Deno.test("subscriptions are bounded", () => {
  const subscriptions = new ClientSubscriptions();
  for (let i = 0; i < MAX_SUBSCRIPTIONS; i++) subscriptions.add(`file:///${i}`);
  subscriptions.add("file:///0");
  assertThrows(() => subscriptions.add("file:///more"), Error, "Too many subscriptions");
  subscriptions.delete("file:///0");
  subscriptions.delete("file:///0");
  subscriptions.add("file:///more");
});

Deno.test("a document is one topic with its pages and elements, and a window one under any spelling", () => {
  for (const rest of ["", "/", "?depth=pages", "/pages/0", "/elements/a%2Fb?format=text"]) {
    assertEquals(topicOf(`dpe://Docs/a%20b${rest}`), "dpe://docs/a%20b");
  }
  assertEquals(topicOf("dpe://docs/?format=json"), "dpe://docs");
  assertEquals(topicOf("window://Host/%61/?priority=1"), "window://host/a");
  for (const other of ["dpe://docs/a/b", "file:///a", "", "window://"]) assertEquals(topicOf(other), other);
});
