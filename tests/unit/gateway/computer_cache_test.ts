import { assertEquals } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { OfficeView } from "../../../src/agent/toolkit/office_view.ts";
import { ComputerCache } from "../../../src/gateway/computer_cache.ts";
import { silentLogger } from "../../../src/log.ts";
import { FakeTimers } from "../../fixtures/fake_timers.ts";
import { FakeOffice } from "./_fake_office.ts";

interface Scene extends Disposable {
  readonly office: FakeOffice;
  readonly cache: ComputerCache<string>;
  /** The answers to the first requests. */
  readonly answers: readonly PromiseWithResolvers<string>[];
  readonly counts: { asked: number; late: number };
}

async function openScene(): Promise<Scene> {
  const view = new OfficeView();
  const office = new FakeOffice(["laptop"]);
  await view.follow(office);
  const answers = Array.from({ length: 2 }, () => Promise.withResolvers<string>());
  const counts = { asked: 0, late: 0 };
  const cache = new ComputerCache<string>({
    view,
    what: "resources",
    fetch: () => answers[counts.asked++]?.promise ?? Promise.reject(new Error("asked too often")),
    changes: ["resources"],
    onLate: () => counts.late++,
    logger: silentLogger,
  });
  return { office, cache, answers, counts, [Symbol.dispose]: () => view[Symbol.dispose]() };
}

Deno.test("ComputerCache asks again after a change that came while the Computer was asked", async () => {
  using scene = await openScene();
  const first = scene.cache.get(["laptop"]);
  scene.office.emit("updateResources", { computer: "laptop" });
  const second = scene.cache.get(["laptop"]);
  scene.answers[0]?.resolve("before");
  assertEquals(await first, ["before"]);
  scene.answers[1]?.resolve("after");
  assertEquals(await second, ["after"]);
  assertEquals(await scene.cache.get(["laptop"]), ["after"]);
  assertEquals(scene.counts.asked, 2);
});

Deno.test("ComputerCache drops the list of a Computer that left and came back while it was asked", async () => {
  using scene = await openScene();
  const first = scene.cache.get(["laptop"]);
  scene.office.emit("leaveOffice", { role: "computer", name: "laptop" });
  scene.office.emit("enterOffice", { role: "computer", name: "laptop" });
  scene.answers[0]?.resolve("before");
  await first;
  const second = scene.cache.get(["laptop"]);
  scene.answers[1]?.resolve("after");
  assertEquals(await second, ["after"]);
});

Deno.test("ComputerCache tells of a late list, but not of one that failed", async () => {
  for (const isListed of [true, false]) {
    using scene = await openScene();
    using timers = new FakeTimers();
    const first = scene.cache.get(["laptop"]);
    timers.advance(60_000);
    assertEquals(await first, []);
    const [answer] = scene.answers;
    if (isListed) answer?.resolve("late");
    else answer?.reject(new Error("no answer"));
    await setImmediate();
    assertEquals(scene.counts.late, isListed ? 1 : 0);
  }
});

Deno.test("ComputerCache waits for a late Computer once, and again after it has answered", async () => {
  using scene = await openScene();
  using timers = new FakeTimers();
  const first = scene.cache.get(["laptop"]);
  timers.advance(60_000);
  assertEquals(await first, []);
  // No time passes.
  assertEquals(await scene.cache.get(["laptop"]), []);
  const [one, two] = scene.answers;
  one?.reject(new Error("no answer"));
  await setImmediate();
  assertEquals(await scene.cache.get(["laptop"]), []);
  assertEquals(scene.counts, { asked: 2, late: 0 });
  two?.resolve("at last");
  await setImmediate();
  assertEquals(await scene.cache.get(["laptop"]), ["at last"]);
  assertEquals(scene.counts, { asked: 2, late: 1 });
});

Deno.test("ComputerCache asks some Computers at a time, and those that do not answer keep no other one waiting", async () => {
  using timers = new FakeTimers();
  using view = new OfficeView();
  const names = Array.from({ length: 60 }, (_, index) => `c${String(index).padStart(2, "0")}`);
  await view.follow(new FakeOffice(names));
  let asked = 0;
  const cache = new ComputerCache<string>({
    view,
    what: "resources",
    fetch: ({ name }) => ++asked <= 20 ? new Promise(() => undefined) : Promise.resolve(name),
    changes: ["resources"],
    onLate: () => undefined,
    logger: silentLogger,
  });
  const listed = cache.get(names);
  await setImmediate();
  assertEquals(asked, 16);
  timers.advance(2_000);
  await setImmediate();
  timers.advance(3_000);
  assertEquals((await listed).length, 40);
});
