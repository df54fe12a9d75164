import { assertEquals, assertRejects } from "@std/assert";
import { type Face, People } from "../../../../../src/cli/computer/people/people.ts";
import { digestOf } from "../../../../../src/cli/computer/people/waiting.ts";
import { silentLogger } from "../../../../../src/log.ts";
import type { ConfirmRequest } from "../../../../../src/computer/tools/confirmation.ts";

function requestOf(changes: Partial<ConfirmRequest> = {}): ConfirmRequest {
  const definition = {
    title: undefined,
    description: "",
    inputSchema: {},
    outputSchema: null,
    annotations: undefined,
  };
  return {
    agent: "ada",
    claimedAgent: "ada",
    client: undefined,
    isLocal: false,
    mustAsk: false,
    reqId: "1",
    callId: "c1",
    server: "shell",
    tool: "run",
    name: "run",
    title: undefined,
    description: "",
    annotations: {},
    fingerprint: "f",
    definition,
    changes: [],
    params: {},
    timeLeftMs: 1_000,
    signal: new AbortController().signal,
    ...changes,
  };
}

function peopleAt(clock: { nowMs: number }): People {
  return new People({ now: () => clock.nowMs, log: silentLogger });
}

/** A face that never answers, and remembers why it was not needed. */
function silentFace(): { readonly face: Face; readonly why: () => unknown } {
  let asked: AbortSignal | undefined;
  const wait = <T>(signal: AbortSignal) => {
    asked = signal;
    return Promise.withResolvers<T>().promise;
  };
  const face = {
    place: "nowhere",
    decide: (_: unknown, signal: AbortSignal) => wait<"no">(signal),
    answer: (_: unknown, signal: AbortSignal) => wait<never>(signal),
  };
  return { face, why: () => asked?.reason };
}

Deno.test("who has looked in the last minute is asked, and nobody after that", async () => {
  const clock = { nowMs: 0 };
  const people = peopleAt(clock);
  assertEquals(await people.confirm(requestOf()), undefined);
  people.look();
  clock.nowMs = 59_999;
  const asked = people.confirm(requestOf());
  const [{ id } = { id: "" }] = people.waiting;
  people.decide(id, { decision: "no", place: "on the page" });
  assertEquals(await asked, false);
  clock.nowMs = 60_000;
  assertEquals(await people.confirm(requestOf()), undefined);
});

Deno.test("who watches is asked, also a minute after they have left", async () => {
  const clock = { nowMs: 0 };
  const people = peopleAt(clock);
  const told: unknown[] = [];
  using _following = people.follow(({ waiting, gone }) => told.push([waiting.id, gone]));
  const watching = people.watch();
  clock.nowMs = 1e9;
  const asked = people.confirm(requestOf());
  const [call] = people.waiting;
  if (call?.kind !== "call") throw new Error("no call waits");
  people.decide(call.id, { decision: "yes", shown: digestOf(call), place: "on the page" });
  assertEquals(await asked, true);
  assertEquals(told, [[call.id, undefined], [call.id, "answered on the page"]]);
  watching[Symbol.dispose]();
  clock.nowMs += 59_999;
  const last = new AbortController();
  const ended = people.confirm(requestOf({ signal: last.signal }));
  assertEquals(people.waiting.length, 1);
  last.abort(new Error("the call is over"));
  await assertRejects(() => Promise.resolve(ended), Error, "the call is over");
  assertEquals(people.waiting, []);
  clock.nowMs += 60_000;
  assertEquals(await people.confirm(requestOf()), undefined);
});

Deno.test("all faces are asked, and learn who has answered", async () => {
  const people = peopleAt({ nowMs: 0 });
  const { face, why } = silentFace();
  people.addFace(face);
  people.addFace({ ...face, place: "at the door", decide: () => Promise.resolve("yes") });
  assertEquals(await people.confirm(requestOf()), true);
  assertEquals(why(), "answered at the door");
});

Deno.test("a call that demands a person is asked about each time, and never allowed for good", async () => {
  const people = peopleAt({ nowMs: 0 });
  people.addFace({ ...silentFace().face, decide: () => Promise.resolve("always") });
  assertEquals(await people.confirm(requestOf({ mustAsk: true })), true);
  assertEquals(await people.confirm(requestOf()), "always");
  assertEquals(await people.confirm(requestOf()), true);
});

Deno.test("what is allowed for good is so for the calls of it that wait, and for no others", async () => {
  const people = peopleAt({ nowMs: 0 });
  people.look();
  const first = people.confirm(requestOf());
  const same = people.confirm(requestOf({ callId: "c2" }));
  void people.confirm(requestOf({ callId: "c3", fingerprint: "g" }));
  void people.confirm(requestOf({ callId: "c4", client: "other" }));
  void people.confirm(requestOf({ callId: "c5", mustAsk: true }));
  people.decide("c1", {
    decision: "always",
    shown: digestOf(people.callOf("c1")),
    place: "on the page",
  });
  assertEquals([await first, await same], ["always", true]);
  assertEquals(people.waiting.map(({ id }) => id), ["c3", "c4", "c5"]);
});

Deno.test("the digest is another one for all that a person reads, and the same for the time that is left", () => {
  const digest = (changes: Partial<ConfirmRequest>) =>
    digestOf({ id: "1", since: new Date(), kind: "call", request: requestOf(changes), changed: undefined });
  assertEquals(digest({}), digest({ timeLeftMs: 5, signal: AbortSignal.abort() }));
  const others: Partial<ConfirmRequest>[] = [
    { agent: "eve" },
    { claimedAgent: "eve" },
    { client: "c" },
    { isLocal: true },
    { mustAsk: true },
    { server: "s" },
    { callId: "c2" },
    { tool: "t" },
    { name: "n" },
    { title: "T" },
    { description: "D" },
    { annotations: { readOnlyHint: true } },
    { fingerprint: "g" },
    { params: { a: 1 } },
  ];
  assertEquals(new Set([{}, ...others].map(digest)).size, others.length + 1);
});

Deno.test("what is allowed for good is asked about again once that is taken back", async () => {
  const people = peopleAt({ nowMs: 0 });
  people.addFace({ ...silentFace().face, decide: () => Promise.resolve("always") });
  const tool = { server: "shell", tool: "run" };
  assertEquals([people.isAllowed(tool), people.forget(tool)], [false, false]);
  await people.confirm(requestOf());
  assertEquals([people.isAllowed(tool), people.isAllowed({ ...tool, server: "other" })], [true, false]);
  assertEquals([people.forget(tool), people.isAllowed(tool)], [true, false]);
  assertEquals(await people.confirm(requestOf()), "always");
});
