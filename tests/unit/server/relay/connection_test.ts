import { assertEquals } from "@std/assert";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { openConnection, openConnectionContext } from "./_connection.ts";

function openPair() {
  const shared = openConnectionContext();
  const [requester, computer] = ["a", "c"].map((sid) => openConnection(sid, shared));
  return { requester, computer, [Symbol.dispose]: () => shared.timeouts.clear() };
}

/** Sends a request, and gives a weak reference to its body. */
function ask({ requester, computer }: ReturnType<typeof openPair>): WeakRef<object> {
  const body = { params: new Array(1_000).fill("x") };
  const request = {
    event: "client:tool_call",
    reqId: "1",
    agent: "ada",
    computer: "laptop",
    officeId: "lab",
    isObserving: false,
    timeoutMs: 60_000,
  };
  if (requester !== undefined) computer?.ask(request, { body, requester: requester.sent, onSettled() {} });
  assertEquals(computer?.targetLoad.requests, 1);
  return new WeakRef(body);
}

Deno.test("a connection does not keep the body of a request that waits for its answer", async () => {
  using pair = openPair();
  const body = ask(pair);
  setFlagsFromString("--expose-gc");
  // A weak reference lives at least as long as the turn of the event loop that made it.
  await new Promise((resolve) => setTimeout(resolve, 0));
  runInNewContext("gc")();
  assertEquals(body.deref(), undefined);
});
