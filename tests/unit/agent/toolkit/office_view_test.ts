import { assertEquals } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { OfficeView } from "../../../../src/agent/toolkit/office_view.ts";
import { FakeTimers } from "../../../fixtures/fake_timers.ts";
import { FakeOffice } from "../../gateway/_fake_office.ts";

Deno.test("OfficeView asks again who is in the office when the Server did not answer", async () => {
  using timers = new FakeTimers();
  using view = new OfficeView();
  const office = new FakeOffice(["laptop"]);
  const answer = office.members;
  office.members = () => Promise.reject(new Error("no answer"));
  await view.follow(office);
  assertEquals(view.computers, []);
  office.members = answer;
  timers.advance(2_000);
  await setImmediate();
  assertEquals(view.computers.map(({ name }) => name), ["laptop"]);
});

Deno.test("OfficeView lists the tools of a Computer behind many that do not answer", async () => {
  using timers = new FakeTimers();
  using view = new OfficeView();
  const silent = Array.from({ length: 20 }, (_, index) => `a${String(index).padStart(2, "0")}`);
  const office = new FakeOffice([...silent, "laptop"]);
  const quick = office.computer("laptop");
  office.computer = (name) =>
    name === "laptop" ? quick : { ...quick, getTools: () => new Promise(() => undefined) } as typeof quick;
  void view.follow(office);
  const isListed = () => view.computers.find(({ name }) => name === "laptop")?.tools !== undefined;
  for (let round = 0; round < 2; round++) {
    await setImmediate();
    assertEquals(isListed(), false);
    timers.advance(2_000);
  }
  await setImmediate();
  assertEquals(isListed(), true);
});

Deno.test("OfficeView asks a Computer whose tools cannot be listed once at a time, however often it changes", async () => {
  using timers = new FakeTimers();
  using view = new OfficeView();
  let asked = 0;
  const office = new FakeOffice(["laptop"], {
    getTools: () => {
      asked++;
      return Promise.reject(new Error("no tools"));
    },
  });
  await view.follow(office);
  assertEquals(asked, 1);
  for (let changes = 0; changes < 10; changes++) {
    office.emit("refreshFailed", { computer: "laptop", view: "tools", error: new Error("no tools") });
  }
  timers.advance(1_000);
  await setImmediate();
  assertEquals(asked, 2);
  assertEquals(timers.waiting, 1);
});

/** An office whose Server goes down with all Computers, and comes back without one of them. */
async function openRestart() {
  const timers = new FakeTimers();
  const view = new OfficeView();
  const office = new FakeOffice(["laptop", "desk"]);
  await view.follow(office);
  // The Server has said farewell: all members are about to leave.
  office.isConnected = false;
  office.emit("leaveOffice", { role: "computer", name: "laptop" });
  office.emit("disconnected");
  assertEquals(view.computers.map(({ name }) => name), ["desk", "laptop"]);
  office.isConnected = true;
  office.members = () => Promise.resolve(["desk"]);
  office.emit("reconnected");
  await setImmediate();
  const names = () => view.computers.map(({ name, problem }) => problem === undefined ? name : `${name}?`);
  return {
    timers,
    view,
    office,
    names,
    [Symbol.dispose]: () => {
      view[Symbol.dispose]();
      timers[Symbol.dispose]();
    },
  };
}

Deno.test("OfficeView keeps Computers of a Server that restarts until they are back", async () => {
  using scene = await openRestart();
  const { timers, view, office, names } = scene;
  assertEquals(names(), ["desk", "laptop?"]);
  assertEquals([view.isReachable("desk"), view.isReachable("laptop")], [true, false]);
  timers.advance(14_000);
  office.emit("enterOffice", { role: "computer", name: "laptop" });
  assertEquals(names(), ["desk", "laptop"]);
  timers.advance(60_000);
  assertEquals(names(), ["desk", "laptop"]);
});

Deno.test("OfficeView forgets Computers of a Server that restarted when they do not come back", async () => {
  using scene = await openRestart();
  const { timers, view, names } = scene;
  const told: string[] = [];
  view.onChange(({ kind }) => void told.push(kind));
  timers.advance(15_000);
  assertEquals([names(), told], [["desk"], ["members"]]);
  assertEquals(timers.waiting, 0);
});

Deno.test("OfficeView waits for Computers anew when the connection is lost again", async () => {
  using scene = await openRestart();
  const { timers, office, names } = scene;
  office.isConnected = false;
  office.emit("disconnected");
  timers.advance(60_000);
  assertEquals(names(), ["desk", "laptop?"]);
  office.isConnected = true;
  office.emit("reconnected");
  await setImmediate();
  timers.advance(14_000);
  assertEquals(names(), ["desk", "laptop?"]);
  timers.advance(1_000);
  assertEquals(names(), ["desk"]);
});

Deno.test("OfficeView knows who enters and leaves while the Server lists the members", async () => {
  using view = new OfficeView();
  const office = new FakeOffice([]);
  office.members = () => {
    office.emit("enterOffice", { role: "computer", name: "laptop" });
    office.emit("leaveOffice", { role: "computer", name: "desk" });
    return Promise.resolve(["desk"]);
  };
  await view.follow(office);
  assertEquals(view.computers.map(({ name }) => [name, view.isReachable(name)]), [["laptop", true]]);
});

Deno.test("OfficeView waits for nobody once it is disposed of", async () => {
  using timers = new FakeTimers();
  const view = new OfficeView();
  const office = new FakeOffice(["laptop"]);
  await view.follow(office);
  const members = Promise.withResolvers<readonly string[]>();
  office.members = () => members.promise;
  office.emit("reconnected");
  view[Symbol.dispose]();
  members.resolve([]);
  await setImmediate();
  assertEquals(timers.waiting, 0);
});

Deno.test("OfficeView keeps a Computer that fell asleep until it is back, or the Server knows it no more", async () => {
  using view = new OfficeView();
  const office = new FakeOffice(["laptop", "desk"]);
  let asleep = ["laptop"];
  const asleep_since = "2026-11-29T14:02:31Z";
  const listPresence = () => Promise.resolve(asleep.map((computer) => ({ computer, asleep_since })));
  await view.follow(Object.assign(office, { listPresence }));
  const names = () => view.computers.map(({ name }) => name);
  for (const name of ["laptop", "desk"]) office.emit("leaveOffice", { role: "computer", name });
  await setImmediate();
  assertEquals([names(), view.has("laptop"), view.has("desk")], [["laptop"], true, false]);
  assertEquals([view.goneSince("laptop"), view.goneSince("desk") === undefined], [undefined, false]);
  asleep = [];
  // The same machine under another name.
  office.emit("enterOffice", { role: "computer", name: "shelf" });
  await setImmediate();
  assertEquals(names(), ["shelf"]);
});

Deno.test("OfficeView asks once about those that leave at once, and again about who left meanwhile", async () => {
  using view = new OfficeView();
  const office = new FakeOffice(["laptop", "desk", "shelf"]);
  const answers: PromiseWithResolvers<{ computer: string; asleep_since?: string }[]>[] = [];
  const listPresence = () => {
    const answer = Promise.withResolvers<{ computer: string; asleep_since?: string }[]>();
    answers.push(answer);
    return answer.promise;
  };
  await view.follow(Object.assign(office, { listPresence }));
  for (const name of ["laptop", "desk"]) office.emit("leaveOffice", { role: "computer", name });
  // The Server still had it awake when it answered.
  office.emit("leaveOffice", { role: "computer", name: "shelf" });
  answers[0]?.resolve([{ computer: "shelf" }]);
  await setImmediate();
  answers[1]?.resolve([{ computer: "shelf", asleep_since: "2026-11-29T14:02:31Z" }]);
  await setImmediate();
  assertEquals([view.computers.map(({ name }) => name), answers.length], [["shelf"], 2]);
});
