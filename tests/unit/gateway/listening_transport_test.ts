import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/server";
import { assertEquals } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { ListeningTransport } from "../../../src/gateway/listening_transport.ts";

/** A transport whose client is the test. What is followed is followed when the test says so. */
function openScene() {
  const sent: JSONRPCMessage[] = [];
  const inner: Transport = {
    start: () => Promise.resolve(),
    send: (message) => Promise.resolve(void sent.push(message)),
    close: () => Promise.resolve(inner.onclose?.()),
  };
  const follows: { uris: readonly string[]; stands: () => void }[] = [];
  const ended: string[] = [];
  const transport = new ListeningTransport(inner, (uris) => {
    const { promise, resolve } = Promise.withResolvers<() => void>();
    follows.push({ uris, stands: () => resolve(() => void ended.push(...uris)) });
    return promise;
  });
  const passed: JSONRPCMessage[] = [];
  transport.onmessage = (message) => void passed.push(message);
  const receive = (message: JSONRPCMessage) => inner.onmessage?.(message);
  return { transport, follows, ended, passed, sent, receive };
}

const listen = (id: number, uri: string): JSONRPCMessage => ({
  jsonrpc: "2.0",
  id,
  method: "subscriptions/listen",
  params: { notifications: { resourceSubscriptions: [uri] } },
});
const cancel = (requestId: number): JSONRPCMessage => ({
  jsonrpc: "2.0",
  method: "notifications/cancelled",
  params: { requestId },
});

Deno.test("a request to listen is served once its resources are followed, until it is cancelled", async () => {
  const { follows, ended, passed, receive } = openScene();
  receive(listen(1, "window://a/b"));
  assertEquals([follows.map(({ uris }) => uris), passed], [[["window://a/b"]], []]);
  follows[0]?.stands();
  await setImmediate();
  assertEquals(passed, [listen(1, "window://a/b")]);
  receive(cancel(1));
  await setImmediate();
  assertEquals([passed.length, ended], [2, ["window://a/b"]]);
});

Deno.test("a request to listen that is cancelled before its resources are followed is not served", async () => {
  const { follows, ended, passed, receive } = openScene();
  receive(listen(1, "window://a/b"));
  receive(cancel(1));
  follows[0]?.stands();
  await setImmediate();
  assertEquals([passed, ended], [[cancel(1)], ["window://a/b"]]);
});

Deno.test("what a client listens to ends with its transport", async () => {
  const { transport, follows, ended, passed, receive } = openScene();
  receive(listen(1, "window://a/b"));
  receive(listen(2, "window://a/c"));
  follows[0]?.stands();
  await setImmediate();
  await transport.close();
  follows[1]?.stands();
  await setImmediate();
  assertEquals([passed, ended], [[listen(1, "window://a/b")], ["window://a/b", "window://a/c"]]);
});

Deno.test("an argument that the SDK would leave out is refused", () => {
  const { passed, sent, receive } = openScene();
  receive(
    JSON.parse('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{"__proto__":1}}}'),
  );
  assertEquals(passed, []);
  assertEquals(sent.map((message) => "error" in message ? message.error.code : undefined), [-32602]);
});
