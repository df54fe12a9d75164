import { assertEquals } from "@std/assert";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { FakeTimers } from "../../../fixtures/fake_timers.ts";
import { openConnection, openConnectionContext } from "./_connection.ts";
import { deferEvents } from "./_deferred_events.ts";

function openPair() {
  const shared = openConnectionContext();
  const [requester, computer] = ["a", "c"].map((sid) => openConnection(sid, shared));
  return { requester, computer, [Symbol.dispose]: () => shared.timeouts.clear() };
}

const request = {
  event: "client:tool_call",
  reqId: "1",
  agent: "ada",
  computer: "laptop",
  officeId: "lab",
  isObserving: false,
  timeoutMs: 60_000,
};

/** Sends a request, and gives a weak reference to its body. */
function ask({ requester, computer }: ReturnType<typeof openPair>): WeakRef<object> {
  const body = { params: new Array(1_000).fill("x") };
  if (requester !== undefined) computer?.ask(request, { body, sides: [requester.sent], onSettled() {} });
  assertEquals(computer?.inFlight, { requests: 1, bytes: 10 });
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

Deno.test("a call whose Agent was lost is cancelled, unless the same call is sent again", () => {
  const cancelsAfter = (repeated: Partial<typeof request>, { fails = false, isLostLater = false } = {}) => {
    using clock = new FakeTimers();
    const shared = openConnectionContext();
    const sent: string[] = [];
    const computer = openConnection("c", shared, (event) => {
      if (fails && sent.length > 0 && event === request.event) throw new RangeError("nested too deep");
      sent.push(event);
    });
    const { sent: asked } = openConnection("a", shared);
    const context = { body: {}, sides: [asked], onSettled() {} };
    computer.ask(request, context);
    const lost = [...asked];
    const lose = () => lost.forEach((pending) => pending.drop({ mayReturn: true }));
    if (!isLostLater) lose();
    computer.ask({ ...request, ...repeated }, context);
    if (isLostLater) lose();
    clock.advance(1_000);
    shared.timeouts.clear();
    return sent.filter((event) => event === "notify:tool_call_cancel").length;
  };
  assertEquals(cancelsAfter({}), 0);
  assertEquals(cancelsAfter({}, { isLostLater: true }), 0);
  assertEquals(cancelsAfter({ event: "client:ask_tool_call" }), 0);
  assertEquals(cancelsAfter({}, { fails: true }), 1);
  assertEquals(cancelsAfter({ event: "client:get_tools" }), 1);
  assertEquals(cancelsAfter({ agent: "eve" }), 1);
  assertEquals(cancelsAfter({ agent: "eve" }, { isLostLater: true }), 1);
});

const small = { event: "e", args: [{}] };
const large = { event: "e", args: ["x".repeat(2_000_000)] };

Deno.test("deferred events are handled in the order in which they came, with what waits besides them", () => {
  const { deferred } = deferEvents();
  const handled: string[] = [];
  assertEquals(deferred.take(small, () => handled.push("a")), true);
  assertEquals(deferred.defer(10, () => handled.push("b")), true);
  deferred.after(() => handled.push("c"));
  assertEquals(deferred.take(small, () => handled.push("d")), true);
  assertEquals(handled, []);
  deferred.release();
  assertEquals(handled, ["a", "b", "c", "d"]);
});

Deno.test("deferred events are bounded in number", () => {
  const { deferred } = deferEvents();
  for (let i = 0; i < 64; i++) assertEquals(deferred.take(small, () => {}), true);
  assertEquals(deferred.take(small, () => {}), false);
});

Deno.test("deferred events are bounded in bytes, but a first one of any size fits", () => {
  const { deferred } = deferEvents();
  assertEquals(deferred.take(large, () => {}), true);
  assertEquals(deferred.take(small, () => {}), false);
});

Deno.test("deferred events of all connections of a principal have its share of the memory, until they are handled", () => {
  const { deferred, memory, owner } = deferEvents(3_000_000);
  owner.incompleteBytes = 2_000_000;
  assertEquals([deferred.take(large, () => {}), memory.usedBytes, owner.incompleteBytes], [
    false,
    0,
    2_000_000,
  ]);
  owner.incompleteBytes = 0;
  assertEquals(deferred.take(large, () => {}), true);
  assertEquals([memory.usedBytes >= 2_000_000, owner.incompleteBytes >= 2_000_000], [true, true]);
  deferred.release();
  assertEquals([memory.usedBytes, owner.incompleteBytes], [0, 0]);
});
