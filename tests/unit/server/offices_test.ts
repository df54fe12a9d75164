import { assert, assertEquals, assertMatch } from "@std/assert";
import { type Member, Offices } from "../../../src/server/offices.ts";
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

function joined(offices: Offices, candidate: Member): Member {
  const outcome = offices.join(candidate);
  assertEquals(outcome.kind, "joined");
  return candidate;
}

function refusal(offices: Offices, candidate: Member): string {
  const before = offices.members(candidate.officeId);
  const outcome = offices.join(candidate);
  assert(outcome.kind === "refused");
  assertEquals(offices.members(candidate.officeId), before);
  return outcome.reason;
}

Deno.test("join() makes the first connection of a name a member", () => {
  const offices = new Offices();
  const laptop = computer("laptop");
  assertEquals(offices.join(laptop), {
    kind: "joined",
    member: laptop,
    left: undefined,
    replaced: undefined,
  });
  assertEquals(offices.members("lab"), [laptop]);
  assertEquals(offices.findComputer("lab", "laptop"), laptop);
});

Deno.test("join() refuses a name that another Computer of the office has, and only there", () => {
  const offices = new Offices();
  joined(offices, computer("laptop"));
  assertEquals(
    refusal(offices, computer("laptop")),
    "Computer with name 'laptop' already exists in room 'lab', since 2026-11-22T08:00:00.000Z. " +
      "Use another name, or end that Computer",
  );
  assertEquals(
    refusal(offices, computer("laptop", { principal: "mallory" })),
    "Computer with name 'laptop' already exists in room 'lab'. Use another name",
  );
  joined(offices, computer("laptop", { officeId: "den" }));
  joined(offices, agent("laptop"));
});

Deno.test("join() refuses a second Agent, whatever its name", () => {
  const offices = new Offices();
  joined(offices, agent("ada"));
  for (const name of ["bob", "ada"]) {
    assertEquals(
      refusal(offices, agent(name)),
      'Room already has an agent (4101): "ada", since 2026-11-22T08:00:00.000Z. ' +
        "End that Agent, wait until it leaves, or use another office",
    );
    assertEquals(
      refusal(offices, agent(name, { principal: "mallory" })),
      "Room already has an agent (4101). Wait until it leaves, or use another office",
    );
  }
});

Deno.test("join() gives an observer no seat and lists it nowhere, and holds it to the office's version", () => {
  const offices = new Offices();
  const observer = (name: string, rest: Partial<Member> = {}) => agent(name, { isObserver: true, ...rest });
  const first = joined(offices, observer("eve"));
  assertEquals(offices.members("lab"), []);
  joined(offices, agent("ada"));
  joined(offices, observer("ada"));
  assertMatch(refusal(offices, observer("new", { version: "0.4.0" })), /^Protocol version mismatch/);
  assertEquals((offices.members("lab")).map(({ name }) => name), ["ada"]);
  offices.leave(first.sid);
  assertMatch(refusal(offices, agent("bob")), /^Room already has an agent/);
});

Deno.test("join() admits a bounded number of observers, and forgets an office that the last of them leaves", () => {
  const offices = new Offices();
  const observers: Member[] = [];
  for (let i = 0; i < 16; i++) observers.push(joined(offices, agent(`o${i}`, { isObserver: true })));
  assertMatch(refusal(offices, agent("one more", { isObserver: true })), /^Room is full of observers/);
  for (const { sid } of observers) offices.leave(sid);
  assertEquals(offices.size, 0);
});

Deno.test("join() admits an observer that comes back to an office full of observers, its lost connection among them", () => {
  const offices = new Offices();
  const observer = (name: string) => agent(name, { isObserver: true, session: name });
  for (let i = 0; i < 15; i++) joined(offices, observer(`o${i}`));
  const ghost = joined(offices, observer("eve"));
  const back = observer("eve");
  assertEquals(offices.join(back), { kind: "joined", member: back, left: undefined, replaced: ghost });
  assertMatch(refusal(offices, observer("one more")), /^Room is full of observers/);
});

Deno.test("join() of the same office, role and name changes nothing", () => {
  const offices = new Offices();
  for (const candidate of [agent("ada"), computer("laptop")]) {
    joined(offices, candidate);
    assertEquals(offices.join({ ...candidate }), { kind: "unchanged", member: candidate });
  }
});

Deno.test("join() of a second office makes a Computer leave the first", () => {
  const offices = new Offices();
  const first = joined(offices, computer("laptop"));
  const second = { ...first, name: "desk", officeId: "den" };
  assertEquals(offices.join(second), {
    kind: "joined",
    member: second,
    left: first,
    replaced: undefined,
  });
  assertEquals(offices.members("lab"), []);
  assertEquals(offices.size, 1);
});

Deno.test("join() of a second office that refuses leaves a Computer where it is", () => {
  const offices = new Offices();
  joined(offices, computer("desk", { officeId: "den" }));
  const laptop = joined(offices, computer("laptop"));
  assertMatch(refusal(offices, { ...laptop, name: "desk", officeId: "den" }), /already exists/);
  assertEquals(offices.members("lab"), [laptop]);
});

Deno.test("join() refuses an Agent that is in another office", () => {
  const offices = new Offices();
  const ada = joined(offices, agent("ada"));
  const reason = refusal(offices, { ...ada, officeId: "den" });
  assertEquals(reason, "Cannot join room 'den': this agent is in room 'lab'");
});

Deno.test("join() refuses another role, and another name in the same office", () => {
  const offices = new Offices();
  const laptop = joined(offices, computer("laptop"));
  assertMatch(
    refusal(offices, { ...laptop, role: "agent", officeId: "den" }),
    /as computer 'laptop'/,
  );
  assertMatch(refusal(offices, { ...laptop, name: "desk" }), /as 'laptop'/);
  // None of these may look like a name that is taken: peers would try again.
  for (const change of [{ role: "agent" as const }, { name: "desk" }]) {
    assert(!/already (has an agent|exists)/.test(refusal(offices, { ...laptop, ...change })));
  }
});

Deno.test("join() admits one MAJOR.MINOR to an office, and peers without a version to any", () => {
  const offices = new Offices();
  joined(offices, computer("old", { version: undefined }));
  const ada = joined(offices, agent("ada", { version: "0.2.7" }));
  joined(offices, computer("laptop", { version: "0.2.0" }));
  assertMatch(
    refusal(offices, computer("new", { version: "0.4.0" })),
    /4008.*uses 0\.2, this connection 0\.4/,
  );
  joined(offices, computer("older", { version: undefined }));
  joined(offices, computer("new", { version: "0.4.0", officeId: "den" }));
  // The rule is about who is there now.
  offices.leave(ada.sid);
  assertMatch(refusal(offices, computer("new", { version: "0.4.0" })), /4008/);
  const [, last] = offices.members("lab");
  offices.leave(last?.sid ?? "");
  joined(offices, computer("new", { version: "0.4.0" }));
});

Deno.test("join() says a version mismatch, which is final, before a taken name, which is not", () => {
  const offices = new Offices();
  joined(offices, computer("laptop"));
  assertMatch(refusal(offices, computer("laptop", { version: "0.3.0" })), /4008/);
});

Deno.test("join() of the same session, role and principal replaces the old connection", () => {
  const offices = new Offices();
  for (const make of [agent, computer]) {
    const ghost = joined(offices, make("ada", { session: "s" }));
    const owner = make("ada", { session: "s" });
    assertEquals(offices.join(owner), {
      kind: "joined",
      member: owner,
      left: undefined,
      replaced: ghost,
    });
    assertEquals(offices.leave(ghost.sid), undefined);
    assertEquals((offices.members("lab")).includes(owner), true);
  }
});

Deno.test("join() replaces the old connection wherever it is, and under whatever name", () => {
  const offices = new Offices();
  const ghost = joined(offices, agent("ada", { session: "s", officeId: "den" }));
  const owner = agent("eve", { session: "s" });
  assertEquals(offices.join(owner), {
    kind: "joined",
    member: owner,
    left: undefined,
    replaced: ghost,
  });
  assertEquals(offices.members("den"), []);
});

Deno.test("join() replaces no connection of another session, role or principal", () => {
  const offices = new Offices();
  const ghost = joined(offices, computer("laptop", { session: "s", principal: "p" }));
  for (
    const other of [{ session: "t", principal: "p" }, { session: "s", principal: "q" }, { principal: "p" }]
  ) {
    assertMatch(refusal(offices, computer("laptop", other)), /already exists/);
  }
  joined(offices, agent("laptop", { session: "s", principal: "p" }));
  assertEquals(offices.findComputer("lab", "laptop"), ghost);
});

Deno.test("join() that is refused replaces nobody", () => {
  const offices = new Offices();
  const ghost = joined(offices, computer("laptop", { session: "s" }));
  joined(offices, computer("desk"));
  assertMatch(refusal(offices, computer("desk", { session: "s" })), /already exists/);
  assertEquals(offices.findComputer("lab", "laptop"), ghost);
});

Deno.test("join() does not count the version of the connection that it replaces", () => {
  const offices = new Offices();
  joined(offices, computer("laptop", { session: "s", version: "0.2.0" }));
  joined(offices, computer("laptop", { session: "s", version: "0.3.0" }));
});

Deno.test("findComputer() finds no Agent, and nobody of another office", () => {
  const offices = new Offices();
  joined(offices, agent("ada"));
  joined(offices, computer("laptop", { officeId: "den" }));
  assertEquals(offices.findComputer("lab", "ada"), undefined);
  assertEquals(offices.findComputer("lab", "laptop"), undefined);
  assertEquals(offices.findComputer("nowhere", "laptop"), undefined);
});

Deno.test("members() come in the order in which they joined", () => {
  const offices = new Offices();
  const all = [computer("z"), agent("m"), computer("a")];
  for (const one of all) joined(offices, one);
  assertEquals(offices.members("lab"), all);
  assertEquals(offices.members("nowhere"), []);
});

Deno.test("leave() frees name and seat, and the last to leave ends the office", () => {
  const offices = new Offices();
  const ada = joined(offices, agent("ada"));
  const laptop = joined(offices, computer("laptop"));
  assertEquals(offices.leave(laptop.sid), laptop);
  assertEquals(offices.leave(laptop.sid), undefined);
  joined(offices, computer("laptop", { sid: "again" }));
  offices.leave("again");
  assertEquals(offices.size, 1);
  offices.leave(ada.sid);
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

Deno.test("Whatever joins and leaves, names are unique, seats single, versions agree, and empty offices gone", () => {
  fc.assert(fc.property(fc.array(steps, { maxLength: 40 }), (sequence) => {
    const offices = new Offices();
    for (const step of sequence) {
      if (typeof step === "string") offices.leave(step);
      else offices.join(step);
    }
    const rooms = ["lab", "den", "constructor"].map((id) => offices.members(id));
    for (const room of rooms) {
      assertEquals(new Set(room.map(({ role, name }) => `${role} ${name}`)).size, room.length);
      assert(room.filter(({ role }) => role === "agent").length <= 1);
      assert(new Set(room.flatMap(({ version }) => version ?? [])).size <= 1);
    }
    const sids = rooms.flat().map(({ sid }) => sid);
    assertEquals(new Set(sids).size, sids.length);
    assertEquals(offices.size, rooms.filter((room) => room.length > 0).length);
    for (const sid of sids) offices.leave(sid);
    assertEquals(offices.size, 0);
  }));
});
