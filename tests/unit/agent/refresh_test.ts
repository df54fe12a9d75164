import { assertEquals } from "@std/assert";
import type { AgentEvent, ComputerViewName } from "../../../src/agent/events.ts";
import { Listeners } from "../../../src/agent/listeners.ts";
import { MAX_CONCURRENT_REFRESHES, Refresher } from "../../../src/agent/refresh.ts";
import { silentLogger } from "../../../src/log.ts";
import { FakeTimers } from "../../fixtures/fake_timers.ts";

/** A refresher whose fetches are answered by hand, and whose clock is moved by hand. */
function setUp(computers: readonly string[] = []) {
  const timers = new FakeTimers();
  const listeners = new Listeners(silentLogger);
  const fetches: { computer: string; view: ComputerViewName; answer: PromiseWithResolvers<void> }[] = [];
  const refresher = new Refresher(listeners, {
    async fetch({ computer, view }): Promise<AgentEvent | undefined> {
      const answer = Promise.withResolvers<void>();
      fetches.push({ computer, view, answer });
      await answer.promise;
      if (view === "desktop") return { type: "desktopRefreshed", computer, desktops: [] };
      if (view === "tools") return { type: "toolsRefreshed", computer, tools: [] };
      if (view === "config") return { type: "configRefreshed", computer, config: { servers: {} } };
      if (view === "resources") return undefined;
      return { type: "finderRefreshed", computer, documents: [], totalCount: 0 };
    },
    listComputers: () => Promise.resolve(computers),
  }, { logger: silentLogger });
  const started = () => fetches.map(({ computer, view }) => `${computer} ${view}`);
  return { listeners, fetches, refresher, started, timers, [Symbol.dispose]: () => timers[Symbol.dispose]() };
}

/** Lets everything that is ready happen. */
async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

Deno.test("Refresher fetches nothing that nobody listens for", () => {
  using world = setUp();
  const { listeners, started } = world;
  listeners.on("finderRefreshed", () => {});
  listeners.tell({ type: "updateDesktop", computer: "laptop" });
  listeners.tell({ type: "enterOffice", office: "lab", role: "computer", name: "laptop" });
  assertEquals(started(), ["laptop finder"]);
});

// proves: desktop-agent-refresh
Deno.test("Refresher fetches the desktop after a change and tells of it", async () => {
  using world = setUp();
  const { listeners, fetches, started } = world;
  const told: string[] = [];
  listeners.on("desktopRefreshed", ({ computer }) => void told.push(computer));
  listeners.tell({ type: "updateDesktop", computer: "laptop" });
  assertEquals([started(), told], [["laptop desktop"], []]);
  fetches[0]?.answer.resolve();
  await settle();
  assertEquals(told, ["laptop"]);
});

Deno.test("Refresher fetches exactly once more when changes come during a fetch", async () => {
  using world = setUp();
  const { listeners, fetches, started, timers } = world;
  listeners.on("desktopRefreshed", () => {});
  const change = () => listeners.tell({ type: "updateDesktop", computer: "laptop" });
  change();
  change();
  change();
  assertEquals(started(), ["laptop desktop"]);
  fetches[0]?.answer.resolve();
  await settle();
  timers.advance(200);
  await settle();
  assertEquals(started(), ["laptop desktop", "laptop desktop"]);
  fetches[1]?.answer.resolve();
  await settle();
  timers.advance(60_000);
  assertEquals(fetches.length, 2);
});

Deno.test("Refresher fetches a view that changes all the time at growing distances, and the last change as well", async () => {
  using world = setUp();
  const { listeners, fetches, timers } = world;
  listeners.on("toolsRefreshed", () => {});
  const fetchedAt: number[] = [];
  for (let nowMs = 0; nowMs < 20_000; nowMs += 100) {
    listeners.tell({ type: "updateToolList", computer: "laptop" });
    if (fetches.length > fetchedAt.length) fetchedAt.push(nowMs);
    fetches.at(-1)?.answer.resolve();
    await settle();
    timers.advance(100);
    await settle();
  }
  assertEquals(fetchedAt.slice(0, 6), [0, 200, 600, 1_400, 3_000, 6_200]);
  assertEquals(fetchedAt.slice(5, 8).map((at, index) => at - (fetchedAt[index + 4] ?? 0)), [
    3_200,
    3_200,
    3_200,
  ]);
  const before = fetches.length;
  timers.advance(3_200);
  await settle();
  assertEquals(fetches.length, before + 1);
});

Deno.test("Refresher fetches a change at once again after a view has rested without one", async () => {
  using world = setUp();
  const { listeners, fetches, timers } = world;
  listeners.on("desktopRefreshed", () => {});
  for (let changes = 1; changes <= 5; changes++) {
    listeners.tell({ type: "updateDesktop", computer: "laptop" });
    assertEquals(fetches.length, changes);
    fetches.at(-1)?.answer.resolve();
    await settle();
    timers.advance(200);
    await settle();
  }
  assertEquals(timers.waiting, 0);
});

Deno.test("Refresher keeps Computers and views apart", () => {
  using world = setUp();
  const { listeners, started } = world;
  for (const type of ["desktopRefreshed", "finderRefreshed"] as const) listeners.on(type, () => {});
  listeners.tell({ type: "updateDesktop", computer: "a" });
  listeners.tell({ type: "updateDesktop", computer: "b" });
  listeners.tell({ type: "updateFinder", computer: "a" });
  assertEquals(started(), ["a desktop", "b desktop", "a finder"]);
});

Deno.test("Refresher fetches the tools, too, when the configuration changed", () => {
  using world = setUp();
  const { listeners, started } = world;
  for (const type of ["configRefreshed", "toolsRefreshed"] as const) listeners.on(type, () => {});
  listeners.tell({ type: "updateConfig", computer: "a" });
  assertEquals(started(), ["a config", "a tools"]);
});

Deno.test("Refresher tells of a fetch that fails, and the next change tries again", async () => {
  using world = setUp();
  const { listeners, fetches, timers } = world;
  const failures: unknown[] = [];
  listeners.on("desktopRefreshed", () => {});
  listeners.on("refreshFailed", ({ computer, view, error }) => void failures.push([computer, view, error]));
  listeners.tell({ type: "updateDesktop", computer: "laptop" });
  const error = new TypeError("broken");
  fetches[0]?.answer.reject(error);
  await settle();
  assertEquals(failures, [["laptop", "desktop", error]]);
  timers.advance(200);
  await settle();
  listeners.tell({ type: "updateDesktop", computer: "laptop" });
  assertEquals(fetches.length, 2);
});

Deno.test("Refresher fetches the wanted views of every Computer once the connection is back", async () => {
  using world = setUp(["a", "b"]);
  const { listeners, started } = world;
  listeners.on("toolsRefreshed", () => {});
  listeners.tell({ type: "reconnected", office: "lab" });
  await settle();
  assertEquals(started(), ["a tools", "b tools"]);
});

Deno.test("Refresher forgets what waits for a Computer that left", async () => {
  using world = setUp();
  const { listeners, fetches, started, timers } = world;
  listeners.on("desktopRefreshed", () => {});
  listeners.tell({ type: "updateDesktop", computer: "a" });
  listeners.tell({ type: "updateDesktop", computer: "a" });
  listeners.tell({ type: "leaveOffice", office: "lab", role: "computer", name: "a" });
  fetches[0]?.answer.resolve();
  await settle();
  timers.advance(200);
  await settle();
  assertEquals(started(), ["a desktop"]);
});

Deno.test("Refresher runs a bounded number of fetches at a time", async () => {
  using world = setUp();
  const { listeners, fetches } = world;
  listeners.on("desktopRefreshed", () => {});
  for (let i = 0; i < MAX_CONCURRENT_REFRESHES + 3; i++) {
    listeners.tell({ type: "updateDesktop", computer: `c${i}` });
  }
  assertEquals(fetches.length, MAX_CONCURRENT_REFRESHES);
  fetches[0]?.answer.resolve();
  await settle();
  assertEquals(fetches.length, MAX_CONCURRENT_REFRESHES + 1);
});

Deno.test("Refresher lets Computers that do not answer keep no other one waiting", async () => {
  using world = setUp();
  const { listeners, fetches, refresher, started, timers } = world;
  listeners.on("desktopRefreshed", () => {});
  const change = (computer: string) => listeners.tell({ type: "updateDesktop", computer });
  for (let i = 0; i < MAX_CONCURRENT_REFRESHES; i++) change(`silent${i}`);
  change("laptop");
  change("silent0");
  assertEquals(fetches.length, MAX_CONCURRENT_REFRESHES);
  timers.advance(5_000);
  await settle();
  assertEquals(started().slice(MAX_CONCURRENT_REFRESHES), ["laptop desktop"]);
  fetches[0]?.answer.resolve();
  await settle();
  timers.advance(200);
  await settle();
  assertEquals(started().at(-1), "silent0 desktop");
  refresher.stop();
  // What was asked ends with the connection.
  for (const { answer } of fetches) answer.resolve();
  await settle();
  assertEquals(timers.waiting, 0);
});

Deno.test("Refresher says nothing more once it is stopped", async () => {
  using world = setUp();
  const { listeners, fetches, refresher } = world;
  const told: string[] = [];
  listeners.on("desktopRefreshed", ({ computer }) => void told.push(computer));
  listeners.on("refreshFailed", ({ computer }) => void told.push(computer));
  listeners.tell({ type: "updateDesktop", computer: "a" });
  listeners.tell({ type: "updateDesktop", computer: "b" });
  refresher.stop();
  fetches[0]?.answer.resolve();
  fetches[1]?.answer.reject(new TypeError("closed"));
  listeners.tell({ type: "updateDesktop", computer: "c" });
  await settle();
  assertEquals([told, fetches.length], [[], 2]);
});
