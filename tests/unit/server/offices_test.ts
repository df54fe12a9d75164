import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Member } from "../../../src/server/office_store.ts";
import { Offices } from "../../../src/server/offices.ts";
import fc from "fast-check";

let nextSid = 0;

/** A member with a connection of its own unless the test says otherwise. */
function member(member: Partial<Member> & Pick<Member, "role" | "name" | "officeId">): Member {
  return {
    sid: `sid-${nextSid++}`,
    principal: "anonymous",
    version: "0.2.0",
    isObserver: false,
    joinedAt: "2026-11-22T08:00:00.000Z",
    ...member,
  };
}

const agent = (name: string, rest: Partial<Member> = {}) =>
  member({ role: "agent", name, officeId: "lab", ...rest });
const computer = (name: string, rest: Partial<Member> = {}) =>
  member({ role: "computer", name, officeId: "lab", ...rest });

async function joined(offices: Offices, candidate: Member): Promise<Member> {
  const outcome = await offices.join(candidate);
  assertEquals(outcome.kind, "joined");
  return candidate;
}

async function refusal(offices: Offices, candidate: Member): Promise<string> {
  const before = await offices.members(candidate.officeId);
  const outcome = await offices.join(candidate);
  assert(outcome.kind === "refused");
  assertEquals(await offices.members(candidate.officeId), before);
  return outcome.reason;
}

Deno.test("join() makes the first connection of a name a member", async () => {
  const offices = new Offices();
  const laptop = computer("laptop");
  assertEquals(await offices.join(laptop), {
    kind: "joined",
    member: laptop,
    left: undefined,
    replaced: undefined,
  });
  assertEquals(await offices.members("lab"), [laptop]);
  assertEquals(await offices.findComputer("lab", "laptop"), laptop);
});

Deno.test("join() refuses a name that another Computer of the office has, and only there", async () => {
  const offices = new Offices();
  await joined(offices, computer("laptop"));
  assertEquals(
    await refusal(offices, computer("laptop")),
    "Computer with name 'laptop' already exists in room 'lab', since 2026-11-22T08:00:00.000Z. " +
      "Use another name, or end that Computer",
  );
  assertEquals(
    await refusal(offices, computer("laptop", { principal: "mallory" })),
    "Computer with name 'laptop' already exists in room 'lab'. Use another name",
  );
  await joined(offices, computer("laptop", { officeId: "den" }));
  await joined(offices, agent("laptop"));
});

Deno.test("join() refuses a second Agent, whatever its name", async () => {
  const offices = new Offices();
  await joined(offices, agent("ada"));
  for (const name of ["bob", "ada"]) {
    assertEquals(
      await refusal(offices, agent(name)),
      'Room already has an agent (4101): "ada", since 2026-11-22T08:00:00.000Z. ' +
        "Use another office, end that Agent, or connect as an observer",
    );
    assertEquals(
      await refusal(offices, agent(name, { principal: "mallory" })),
      "Room already has an agent (4101). Use another office, or connect as an observer",
    );
  }
});

Deno.test("join() gives an observer no seat and lists it nowhere, and holds it to the office's version", async () => {
  const offices = new Offices();
  const observer = (name: string, rest: Partial<Member> = {}) => agent(name, { isObserver: true, ...rest });
  const first = await joined(offices, observer("eve"));
  assertEquals(await offices.members("lab"), []);
  await joined(offices, agent("ada"));
  await joined(offices, observer("ada"));
  assertMatch(await refusal(offices, observer("new", { version: "0.4.0" })), /^Protocol version mismatch/);
  assertEquals((await offices.members("lab")).map(({ name }) => name), ["ada"]);
  await offices.leave(first.sid);
  assertMatch(await refusal(offices, agent("bob")), /^Room already has an agent/);
});

Deno.test("join() admits a bounded number of observers, and forgets an office that the last of them leaves", async () => {
  const offices = new Offices();
  const observers: Member[] = [];
  for (let i = 0; i < 16; i++) observers.push(await joined(offices, agent(`o${i}`, { isObserver: true })));
  assertMatch(await refusal(offices, agent("one more", { isObserver: true })), /^Room is full of observers/);
  for (const { sid } of observers) await offices.leave(sid);
  assertEquals(offices.size, 0);
});

Deno.test("join() admits an observer that comes back to an office full of observers, its lost connection among them", async () => {
  const offices = new Offices();
  const observer = (name: string) => agent(name, { isObserver: true, session: name });
  for (let i = 0; i < 15; i++) await joined(offices, observer(`o${i}`));
  const ghost = await joined(offices, observer("eve"));
  const back = observer("eve");
  assertEquals(await offices.join(back), { kind: "joined", member: back, left: undefined, replaced: ghost });
  assertMatch(await refusal(offices, observer("one more")), /^Room is full of observers/);
});

Deno.test("join() of the same office, role and name changes nothing", async () => {
  const offices = new Offices();
  for (const candidate of [agent("ada"), computer("laptop")]) {
    await joined(offices, candidate);
    assertEquals(await offices.join({ ...candidate }), { kind: "unchanged", member: candidate });
  }
});

Deno.test("join() of a second office makes a Computer leave the first", async () => {
  const offices = new Offices();
  const first = await joined(offices, computer("laptop"));
  const second = { ...first, name: "desk", officeId: "den" };
  assertEquals(await offices.join(second), {
    kind: "joined",
    member: second,
    left: first,
    replaced: undefined,
  });
  assertEquals(await offices.members("lab"), []);
  assertEquals(offices.size, 1);
});

Deno.test("join() of a second office that refuses leaves a Computer where it is", async () => {
  const offices = new Offices();
  await joined(offices, computer("desk", { officeId: "den" }));
  const laptop = await joined(offices, computer("laptop"));
  assertMatch(await refusal(offices, { ...laptop, name: "desk", officeId: "den" }), /already exists/);
  assertEquals(await offices.members("lab"), [laptop]);
});

Deno.test("join() refuses an Agent that is in another office", async () => {
  const offices = new Offices();
  const ada = await joined(offices, agent("ada"));
  const reason = await refusal(offices, { ...ada, officeId: "den" });
  assertEquals(reason, "Cannot join room 'den': this agent is in room 'lab'");
});

Deno.test("join() refuses another role, and another name in the same office", async () => {
  const offices = new Offices();
  const laptop = await joined(offices, computer("laptop"));
  assertMatch(
    await refusal(offices, { ...laptop, role: "agent", officeId: "den" }),
    /is the computer 'laptop'/,
  );
  assertMatch(await refusal(offices, { ...laptop, name: "desk" }), /is in it as 'laptop'/);
  // None of these may look like a name that is taken: peers would try again.
  for (const change of [{ role: "agent" as const }, { name: "desk" }]) {
    assert(!/already (has an agent|exists)/.test(await refusal(offices, { ...laptop, ...change })));
  }
});

Deno.test("join() admits one MAJOR.MINOR to an office, and peers without a version to any", async () => {
  const offices = new Offices();
  await joined(offices, computer("old", { version: undefined }));
  const ada = await joined(offices, agent("ada", { version: "0.2.7" }));
  await joined(offices, computer("laptop", { version: "0.2.0" }));
  assertMatch(
    await refusal(offices, computer("new", { version: "0.4.0" })),
    /4008.*speaks 0\.2, this connection 0\.4/,
  );
  await joined(offices, computer("older", { version: undefined }));
  await joined(offices, computer("new", { version: "0.4.0", officeId: "den" }));
  // The rule is about who is there now.
  await offices.leave(ada.sid);
  assertMatch(await refusal(offices, computer("new", { version: "0.4.0" })), /4008/);
  const [, last] = await offices.members("lab");
  await offices.leave(last?.sid ?? "");
  await joined(offices, computer("new", { version: "0.4.0" }));
});

Deno.test("join() says a version mismatch, which is final, before a taken name, which is not", async () => {
  const offices = new Offices();
  await joined(offices, computer("laptop"));
  assertMatch(await refusal(offices, computer("laptop", { version: "0.3.0" })), /4008/);
});

Deno.test("join() of the same session, role and principal replaces the old connection", async () => {
  const offices = new Offices();
  for (const make of [agent, computer]) {
    const ghost = await joined(offices, make("ada", { session: "s" }));
    const owner = make("ada", { session: "s" });
    assertEquals(await offices.join(owner), {
      kind: "joined",
      member: owner,
      left: undefined,
      replaced: ghost,
    });
    assertEquals(await offices.leave(ghost.sid), undefined);
    assertEquals((await offices.members("lab")).includes(owner), true);
  }
});

Deno.test("join() replaces the old connection wherever it is, and under whatever name", async () => {
  const offices = new Offices();
  const ghost = await joined(offices, agent("ada", { session: "s", officeId: "den" }));
  const owner = agent("eve", { session: "s" });
  assertEquals(await offices.join(owner), {
    kind: "joined",
    member: owner,
    left: undefined,
    replaced: ghost,
  });
  assertEquals(await offices.members("den"), []);
});

Deno.test("join() replaces no connection of another session, role or principal", async () => {
  const offices = new Offices();
  const ghost = await joined(offices, computer("laptop", { session: "s", principal: "p" }));
  for (
    const other of [{ session: "t", principal: "p" }, { session: "s", principal: "q" }, { principal: "p" }]
  ) {
    assertMatch(await refusal(offices, computer("laptop", other)), /already exists/);
  }
  await joined(offices, agent("laptop", { session: "s", principal: "p" }));
  assertEquals(await offices.findComputer("lab", "laptop"), ghost);
});

Deno.test("join() that is refused replaces nobody", async () => {
  const offices = new Offices();
  const ghost = await joined(offices, computer("laptop", { session: "s" }));
  await joined(offices, computer("desk"));
  assertMatch(await refusal(offices, computer("desk", { session: "s" })), /already exists/);
  assertEquals(await offices.findComputer("lab", "laptop"), ghost);
});

Deno.test("join() does not count the version of the connection that it replaces", async () => {
  const offices = new Offices();
  await joined(offices, computer("laptop", { session: "s", version: "0.2.0" }));
  await joined(offices, computer("laptop", { session: "s", version: "0.3.0" }));
});

Deno.test("findComputer() finds no Agent, and nobody of another office", async () => {
  const offices = new Offices();
  await joined(offices, agent("ada"));
  await joined(offices, computer("laptop", { officeId: "den" }));
  assertEquals(await offices.findComputer("lab", "ada"), undefined);
  assertEquals(await offices.findComputer("lab", "laptop"), undefined);
  assertEquals(await offices.findComputer("nowhere", "laptop"), undefined);
});

Deno.test("members() come in the order in which they joined", async () => {
  const offices = new Offices();
  const all = [computer("z"), agent("m"), computer("a")];
  for (const one of all) await joined(offices, one);
  assertEquals(await offices.members("lab"), all);
  assertEquals(await offices.members("nowhere"), []);
});

Deno.test("leave() frees name and seat, and the last to leave ends the office", async () => {
  const offices = new Offices();
  const ada = await joined(offices, agent("ada"));
  const laptop = await joined(offices, computer("laptop"));
  assertEquals(await offices.leave(laptop.sid), laptop);
  assertEquals(await offices.leave(laptop.sid), undefined);
  await joined(offices, computer("laptop", { sid: "again" }));
  await offices.leave("again");
  assertEquals(offices.size, 1);
  await offices.leave(ada.sid);
  assertEquals(offices.size, 0);
});

const candidates = fc.record({
  sid: fc.constantFrom("a", "b", "c", "d", "e"),
  role: fc.constantFrom("agent" as const, "computer" as const),
  name: fc.constantFrom("x", "y", "__proto__"),
  officeId: fc.constantFrom("lab", "den", "constructor"),
  version: fc.constantFrom("0.2.0", "0.3.0", undefined),
  principal: fc.constantFrom("p", "q"),
  session: fc.constantFrom("s", undefined),
  isObserver: fc.constant(false),
  joinedAt: fc.constant("2026-11-22T08:00:00.000Z"),
});
const steps = fc.oneof(candidates, fc.constantFrom("a", "b", "c", "d", "e"));

Deno.test("Whatever joins and leaves, names are unique, seats single, versions agree, and empty offices gone", async () => {
  await fc.assert(fc.asyncProperty(fc.array(steps, { maxLength: 40 }), async (sequence) => {
    const offices = new Offices();
    for (const step of sequence) await (typeof step === "string" ? offices.leave(step) : offices.join(step));
    const rooms = await Promise.all(["lab", "den", "constructor"].map((id) => offices.members(id)));
    for (const room of rooms) {
      assertEquals(new Set(room.map(({ role, name }) => `${role} ${name}`)).size, room.length);
      assert(room.filter(({ role }) => role === "agent").length <= 1);
      assert(new Set(room.flatMap(({ version }) => version ?? [])).size <= 1);
    }
    const sids = rooms.flat().map(({ sid }) => sid);
    assertEquals(new Set(sids).size, sids.length);
    assertEquals(offices.size, rooms.filter((room) => room.length > 0).length);
    for (const sid of sids) await offices.leave(sid);
    assertEquals(offices.size, 0);
  }));
});
