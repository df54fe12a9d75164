import { assertEquals } from "@std/assert";
import { Listeners } from "../../../src/agent/listeners.ts";
import { type Logger, silentLogger } from "../../../src/log.ts";

const change = { type: "updateDesktop", computer: "laptop" } as const;

Deno.test("Listeners calls everybody who listens for an event, in the order of coming", () => {
  const listeners = new Listeners(silentLogger);
  const calls: string[] = [];
  listeners.on("updateDesktop", ({ computer }) => void calls.push(`a ${computer}`));
  listeners.on("updateFinder", () => void calls.push("finder"));
  listeners.on("updateDesktop", ({ computer }) => void calls.push(`b ${computer}`));
  listeners.tell(change);
  assertEquals(calls, ["a laptop", "b laptop"]);
});

Deno.test("Listeners goes on after one that throws or rejects, and logs it", async () => {
  const errors: unknown[] = [];
  const logged = Promise.withResolvers<void>();
  const logger: Logger = {
    ...silentLogger,
    error(_message, fields) {
      errors.push(fields);
      if (errors.length === 2) logged.resolve();
    },
  };
  const listeners = new Listeners(logger);
  let isReached = false;
  listeners.on("updateDesktop", () => {
    throw new TypeError("sync");
  });
  listeners.on("updateDesktop", () => Promise.reject(new TypeError("async")));
  listeners.on("updateDesktop", () => void (isReached = true));
  listeners.tell(change);
  await logged.promise;
  assertEquals(isReached, true);
  assertEquals(errors, [{ event: "updateDesktop", error: "sync" }, {
    event: "updateDesktop",
    error: "async",
  }]);
});

Deno.test("Listeners forgets one that unsubscribes, by call or by `using`", () => {
  const listeners = new Listeners(silentLogger);
  let calls = 0;
  const listener = () => void calls++;
  const unsubscribe = listeners.on("updateDesktop", listener);
  listeners.on("updateDesktop", listener);
  {
    using _ = listeners.on("updateDesktop", listener);
    assertEquals(listeners.has("updateDesktop"), true);
  }
  unsubscribe();
  unsubscribe();
  listeners.tell(change);
  assertEquals([calls, listeners.has("updateFinder")], [1, false]);
});

Deno.test("Listeners is not confused by one that subscribes or unsubscribes while it is told", () => {
  const listeners = new Listeners(silentLogger);
  const calls: string[] = [];
  listeners.on("updateDesktop", () => {
    calls.push("first");
    unsubscribe();
    listeners.on("updateDesktop", () => void calls.push("late"));
  });
  const unsubscribe = listeners.on("updateDesktop", () => void calls.push("second"));
  listeners.tell(change);
  assertEquals(calls, ["first", "second"]);
});
