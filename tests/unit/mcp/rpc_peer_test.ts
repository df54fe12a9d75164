import { assertEquals, assertRejects } from "@std/assert";
import { ServerAnswerError, ServerTimeoutError } from "../../../src/mcp/errors.ts";
import { RpcError } from "../../../src/protocol/mcp.ts";
import { Inflow, type RpcMessage, type RpcRequest, type Transport } from "../../../src/mcp/json_rpc.ts";
import { type PeerListener, RpcPeer } from "../../../src/mcp/rpc_peer.ts";
import { within } from "../../fixtures/within.ts";

const LONG = { timeoutMs: 600_000 };

/** The other end of a peer, which a test speaks for. */
class Wire implements Transport {
  readonly sent: RpcMessage[] = [];
  #arrival = Promise.withResolvers<void>();
  onmessage?: ((message: RpcMessage) => void) | undefined;

  start(): Promise<void> {
    return Promise.resolve();
  }

  send(message: RpcMessage): Promise<void> {
    this.sent.push(message);
    this.#arrival.resolve();
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  /** Resolves to the message with this index when it was sent. */
  async message(index: number): Promise<RpcMessage> {
    for (;;) {
      const message = this.sent[index];
      if (message !== undefined) return message;
      this.#arrival = Promise.withResolvers<void>();
      await within(this.#arrival.promise, `message ${index}`);
    }
  }

  says(message: Record<string, unknown>): void {
    this.onmessage?.({ jsonrpc: "2.0", ...message } as RpcMessage);
  }
}

async function open(listener: Partial<PeerListener> = {}): Promise<{ wire: Wire; peer: RpcPeer }> {
  const wire = new Wire();
  const peer = new RpcPeer(wire, {
    inflow: new Inflow(),
    listener: {
      onNotification() {},
      onRequest: () => Promise.resolve({}),
      onClose() {},
      onError(error) {
        throw error;
      },
      ...listener,
    },
  });
  await peer.start();
  return { wire, peer };
}

const call = { method: "tools/call", params: { name: "echo" } };

Deno.test("a request gets the answer with its id, whatever else is answered", async () => {
  const { wire, peer } = await open();
  const first = peer.request(call, LONG);
  const second = peer.request(call, LONG);
  wire.says({ id: 1, result: { of: "second" } });
  wire.says({ id: 7, result: { of: "nobody" } });
  for (const id of ["", " ", "zero", "0x", "-1", "0.5"]) wire.says({ id, result: { of: "another id" } });
  wire.says({ id: 0, result: { of: "first" } });
  wire.says({ id: 0, result: { of: "first again" } });
  assertEquals(await first, { of: "first" });
  assertEquals(await second, { of: "second" });
});

Deno.test("a request gets an answer whose id is a text of the same number", async () => {
  for (const id of ["0", "0.0", " 0 ", "00", "0e0"]) {
    const { wire, peer } = await open();
    const request = peer.request(call, LONG);
    wire.says({ id, result: { of: id } });
    assertEquals(await request, { of: id });
  }
});

Deno.test("the method of a request comes first in its JSON", async () => {
  const { wire, peer } = await open();
  const request = peer.request(call, LONG);
  assertEquals(JSON.stringify(wire.sent[0]).startsWith('{"method":"tools/call"'), true);
  wire.says({ id: 0, result: {} });
  await request;
});

Deno.test("an error keeps its code, message and data", async () => {
  const { wire, peer } = await open();
  const request = peer.request(call, LONG);
  wire.says({ id: 0, error: { code: -32050, message: "Locked", data: { until: "noon" } } });
  const error = await assertRejects(() => request, ServerAnswerError, "Locked");
  assertEquals([error.rpcCode, error.rpcData], [-32050, { until: "noon" }]);
});

Deno.test("a request without an answer in time is cancelled, and a late answer is dropped", async () => {
  const { wire, peer } = await open();
  await assertRejects(() => peer.request(call, { timeoutMs: 0 }), ServerTimeoutError, "tools/call");
  const { method, params } = await wire.message(1) as RpcRequest;
  assertEquals([method, params?.["requestId"]], ["notifications/cancelled", 0]);
  wire.says({ id: 0, result: {} });
});

Deno.test("an aborted request is cancelled, and rejects with the reason", async () => {
  const { wire, peer } = await open();
  const abort = new AbortController();
  const request = peer.request(call, { ...LONG, signal: abort.signal });
  abort.abort(new TypeError("enough"));
  await assertRejects(() => request, TypeError, "enough");
  assertEquals((await wire.message(1) as RpcRequest).method, "notifications/cancelled");
});

Deno.test("the handshake is never cancelled", async () => {
  const { wire, peer } = await open();
  await assertRejects(() => peer.request({ method: "initialize", params: {} }, { timeoutMs: 0 }));
  assertEquals(wire.sent.length, 1);
});

Deno.test("a request of the server is answered, with the error of its refusal if it is refused", async () => {
  const { wire } = await open({
    onRequest: ({ method }) => {
      if (method === "ping") return Promise.resolve({ pong: true });
      if (method === "odd") return Promise.reject(new TypeError("a secret"));
      return Promise.reject(new RpcError(-32601, "Method not found"));
    },
  });
  for (const [id, method] of ["ping", "sampling/createMessage", "odd"].entries()) wire.says({ id, method });
  assertEquals<unknown>(await wire.message(0), { jsonrpc: "2.0", id: 0, result: { pong: true } });
  const refused = { jsonrpc: "2.0", id: 1, error: { code: -32601, message: "Method not found" } };
  assertEquals<unknown>(await wire.message(1), refused);
  const failed = { jsonrpc: "2.0", id: 2, error: { code: -32603, message: "Internal error" } };
  assertEquals<unknown>(await wire.message(2), failed);
});

Deno.test("a request that the server cancels is not answered", async () => {
  const aborted = Promise.withResolvers<void>();
  const { wire } = await open({
    onRequest: async ({ method }, { signal }) => {
      if (method === "ping") return {};
      signal.addEventListener("abort", () => aborted.resolve());
      await aborted.promise;
      return { late: true };
    },
  });
  wire.says({ id: 1, method: "elicitation/create" });
  wire.says({ method: "notifications/cancelled", params: { requestId: 1 } });
  await within(aborted.promise, "the abort");
  wire.says({ id: 2, method: "ping" });
  assertEquals<unknown>(await wire.message(0), { jsonrpc: "2.0", id: 2, result: {} });
});

Deno.test("the end of a session fails all that waits with its reason", async () => {
  const { peer } = await open();
  const requests = [peer.request(call, LONG), peer.request(call, LONG)];
  peer.failAll(new TypeError("gone"));
  for (const request of requests) await assertRejects(() => request, TypeError, "gone");
});
