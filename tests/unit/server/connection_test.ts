import { assertEquals } from "@std/assert";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { openConnection, openSurroundings } from "./_connection.ts";

function openPair() {
  const shared = openSurroundings();
  const [asker, computer] = ["a", "c"].map((sid) => openConnection(sid, shared));
  return { asker, computer, [Symbol.dispose]: () => shared.timeouts.clear() };
}

/** Sends a request, and gives a weak reference to its body. */
function ask({ asker, computer }: ReturnType<typeof openPair>): WeakRef<object> {
  const body = { params: new Array(1_000).fill("x") };
  const question = {
    event: "client:tool_call",
    reqId: "1",
    agent: "ada",
    computer: "laptop",
    officeId: "lab",
    isObserving: false,
    timeoutMs: 60_000,
  };
  if (asker !== undefined) computer?.ask(question, { body, asker, onSettled() {} });
  assertEquals(computer?.owed.requests, 1);
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
