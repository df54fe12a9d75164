/** The tests that every implementation of Offices passes. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import fc from "../../../fixtures/fast_check.ts";
import type { Departure, OfficeListener, Offices } from "../../../../src/server/offices/offices.ts";
import type { Connection } from "../../../../src/server/relay/connection.ts";
import type { Member } from "../../../../src/server/offices/office.ts";
import { openConnection, openConnectionContext } from "../relay/_connection.ts";
import { eventually, within } from "../../../fixtures/within.ts";
import { sized } from "../../../fixtures/test_size.ts";

let nextSid = 0;
/** The connections of the property. */
const SIDS = ["a", "b", "c", "d", "e"] as const;

/** A member with a connection of its own unless the test says otherwise. */
export function member(member: Partial<Member> & Pick<Member, "role" | "name" | "officeId">): Member {
  return {
    sid: `sid-${nextSid++}`,
    principal: "anonymous",
    version: "0.2.0",
    isObserver: false,
    joinedAt: "2026-11-22T08:00:00.000Z",
    ...member,
  };
}

export const agent = (name: string, rest: Partial<Member> = {}): Member =>
  member({ role: "agent", name, officeId: "lab", ...rest });
export const computer = (name: string, rest: Partial<Member> = {}): Member =>
  member({ role: "computer", name, officeId: "lab", ...rest });

/** The connections of one process, without sockets, and what its office state told it. */
export class Premises implements OfficeListener, Disposable {
  /** Such as `joined lab laptop`, `left lab laptop` and `replaced lab laptop`. */
  readonly log: string[] = [];
  /** The offices that connections of this process are in, as it was told. */
  readonly offices = new Map<string, string>();
  readonly connections = new Map<string, Connection>();
  readonly shared = openConnectionContext();

  /** Adds a connection. */
  add(sid: string): void {
    if (!this.connections.has(sid)) this.connections.set(sid, openConnection(sid, this.shared));
  }

  onJoined({ sid, officeId, name }: Member, { isHere }: { readonly isHere: boolean }): void {
    if (isHere) this.offices.set(sid, officeId);
    this.log.push(`joined ${officeId} ${name}`);
  }

  onLeft({ sid, officeId, name }: Member, { isHere, reason }: Departure): void {
    if (isHere && this.offices.get(sid) === officeId) this.offices.delete(sid);
    this.log.push(`${reason} ${officeId} ${name}`);
  }

  deliver(officeId: string, { event }: { readonly event: string }): void {
    this.log.push(`${event} ${officeId}`);
  }

  [Symbol.dispose](): void {
    this.shared.timeouts.clear();
  }
}

/** One process, or several that share their offices. */
export interface World extends AsyncDisposable {
  readonly processes: readonly { readonly state: Offices; readonly premises: Premises }[];
  /** The number of offices that are kept. */
  countOffices(): Promise<number>;
}

/** Spreads the connections over the processes of a world. */
class Spread implements AsyncDisposable {
  readonly #world: World;
  readonly #places = new Map<string, World["processes"][number]>();

  constructor(world: World) {
    this.#world = world;
  }

  /** The process of a connection: the next one in turn for a new connection. */
  of(sid: string): World["processes"][number] {
    const { processes } = this.#world;
    const place = this.#places.get(sid) ?? processes[this.#places.size % processes.length];
    assert(place !== undefined);
    this.#places.set(sid, place);
    return place;
  }

  join(candidate: Member) {
    const { state, premises } = this.of(candidate.sid);
    premises.add(candidate.sid);
    return within(state.join(candidate), `the join of ${candidate.sid}`);
  }

  leave(sid: string) {
    return within(this.of(sid).state.leave(sid), `the leave of ${sid}`);
  }

  /** The members as the first process lists them. */
  async members(officeId: string): Promise<readonly Member[]> {
    const [first] = this.#world.processes;
    return first === undefined
      ? []
      : await within(first.state.members(officeId), `the members of ${officeId}`);
  }

  /** Waits until the first process lists these members. */
  async assertMembers(officeId: string, wanted: readonly Member[]): Promise<void> {
    const isWanted = (members: readonly Member[]) => idsOf(members) === idsOf(wanted);
    await eventually(() => this.members(officeId), isWanted, `members of ${officeId}`);
  }

  /** Waits until the process of a connection was told a line. */
  async assertTold(sid: string, line: string): Promise<void> {
    const { log } = this.of(sid).premises;
    await eventually(() => log, (lines) => lines.includes(line), line);
  }

  async joined(candidate: Member): Promise<Member> {
    assertEquals(await this.join(candidate), { kind: "joined", member: candidate });
    return candidate;
  }

  async refusal(candidate: Member): Promise<string> {
    const outcome = await this.join(candidate);
    assert(outcome.kind === "refused");
    return outcome.reason;
  }

  /** Waits until so many offices are kept. */
  async assertOffices(count: number): Promise<void> {
    await eventually(() => this.#world.countOffices(), (found) => found === count, `${count} offices`);
  }

  /**
   * Waits until the first process lists members in as many offices as are kept, and each in a single one, since it hears of
   * each office apart; resolves to those members.
   */
  async rooms(officeIds: readonly string[]): Promise<readonly (readonly Member[])[]> {
    const look = async () => ({
      rooms: await Promise.all(officeIds.map((officeId) => this.members(officeId))),
      count: await this.#world.countOffices(),
    });
    const { rooms } = await eventually(
      look,
      ({ rooms, count }) =>
        rooms.filter((room) => room.length > 0).length === count && hasSingleSeats(rooms.flat()),
      "members in each office, and each in one office",
    );
    return rooms;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await within(Promise.resolve(this.#world[Symbol.asyncDispose]()), "the end of a world");
  }
}

function hasSingleSeats(members: readonly Member[]): boolean {
  return new Set(members.map(({ sid }) => sid)).size === members.length;
}

function idsOf(members: readonly Member[]): string {
  return JSON.stringify(members.map(({ sid, officeId, name }) => [sid, officeId, name]));
}

/** Declares the tests for one implementation. */
export function testOffices(
  implementation: string,
  { openWorld, ignore = false }: { readonly openWorld: () => Promise<World>; readonly ignore?: boolean },
): void {
  const open = async () => new Spread(await openWorld());
  const test = (name: string, fn: () => Promise<void>) =>
    Deno.test({ name: `${implementation}: ${name}`, ignore, fn });

  test("join() makes the first connection of a name a member", async () => {
    await using offices = await open();
    const laptop = await offices.joined(computer("laptop"));
    await offices.assertMembers("lab", [laptop]);
    const { state, premises } = offices.of(laptop.sid);
    assertEquals(state.findComputer("lab", "laptop"), premises.connections.get(laptop.sid));
    assertEquals(premises.log, ["joined lab laptop"]);
  });

  test("join() refuses a name that another Computer of the office has, and only there", async () => {
    await using offices = await open();
    const laptop = await offices.joined(computer("laptop"));
    assertEquals(
      await offices.refusal(computer("laptop")),
      "Computer with name 'laptop' already exists in room 'lab', since 2026-11-22T08:00:00.000Z. " +
        "Use another name, or end that Computer",
    );
    assertEquals(
      await offices.refusal(computer("laptop", { principal: "mallory" })),
      "Computer with name 'laptop' already exists in room 'lab'. Use another name",
    );
    await offices.assertMembers("lab", [laptop]);
    await offices.joined(computer("laptop", { officeId: "den" }));
    await offices.joined(agent("laptop"));
  });

  test("join() refuses a second Agent, whatever its name", async () => {
    await using offices = await open();
    await offices.joined(agent("ada"));
    for (const name of ["bob", "ada"]) {
      assertEquals(
        await offices.refusal(agent(name)),
        'Room already has an agent (4101): "ada", since 2026-11-22T08:00:00.000Z. ' +
          "End that Agent, wait until it leaves, or use another office",
      );
      assertEquals(
        await offices.refusal(agent(name, { principal: "mallory" })),
        "Room already has an agent (4101). Wait until it leaves, or use another office",
      );
    }
  });

  test("join() gives an observer no seat and lists it nowhere, and holds it to the office's version", async () => {
    await using offices = await open();
    const observer = (name: string, rest: Partial<Member> = {}) => agent(name, { isObserver: true, ...rest });
    const first = await offices.joined(observer("eve"));
    await offices.assertMembers("lab", []);
    const ada = await offices.joined(agent("ada"));
    await offices.joined(observer("ada"));
    assertMatch(await offices.refusal(observer("new", { version: "0.4.0" })), /^Protocol version mismatch/);
    await offices.assertMembers("lab", [ada]);
    await offices.leave(first.sid);
    assertMatch(await offices.refusal(agent("bob")), /^Room already has an agent/);
  });

  test("join() admits a bounded number of observers, and forgets an office that the last of them leaves", async () => {
    await using offices = await open();
    const observers: Member[] = [];
    for (let i = 0; i < 16; i++) observers.push(await offices.joined(agent(`o${i}`, { isObserver: true })));
    assertMatch(
      await offices.refusal(agent("one more", { isObserver: true })),
      /^The office is full of observers/,
    );
    for (const { sid } of observers) await offices.leave(sid);
    await offices.assertOffices(0);
  });

  test("join() admits an observer that comes back to an office full of observers, its lost connection among them", async () => {
    await using offices = await open();
    const observer = (name: string) => agent(name, { isObserver: true, session: name });
    for (let i = 0; i < 15; i++) await offices.joined(observer(`o${i}`));
    const ghost = await offices.joined(observer("eve"));
    await offices.joined(observer("eve"));
    await offices.assertTold(ghost.sid, "replaced lab eve");
    assertMatch(await offices.refusal(observer("one more")), /^The office is full of observers/);
  });

  test("join() of the same office, role and name changes nothing", async () => {
    await using offices = await open();
    for (const candidate of [agent("ada"), computer("laptop")]) {
      await offices.joined(candidate);
      const { premises } = offices.of(candidate.sid);
      const before = premises.log.length;
      await offices.joined({ ...candidate });
      assertEquals(premises.log.slice(before).filter((line) => line.endsWith(candidate.name)), []);
    }
  });

  test("join() of many at once admits each, through whatever process", async () => {
    await using offices = await open();
    const all = Array.from({ length: 150 }, (_, i) => computer(`c${i}`));
    const outcomes = await Promise.all(all.map((candidate) => offices.join(candidate)));
    assertEquals(outcomes.filter(({ kind }) => kind !== "joined"), []);
    await eventually(() => offices.members("lab"), ({ length }) => length === all.length, "all members");
  });

  test("join() of a second office makes a Computer leave the first", async () => {
    await using offices = await open();
    const first = await offices.joined(computer("laptop"));
    const second = await offices.joined({ ...first, name: "desk", officeId: "den" });
    await offices.assertMembers("lab", []);
    await offices.assertMembers("den", [second]);
    await offices.assertTold(first.sid, "left lab laptop");
    await offices.assertOffices(1);
  });

  test("join() of a second office that refuses leaves a Computer where it is", async () => {
    await using offices = await open();
    await offices.joined(computer("desk", { officeId: "den" }));
    const laptop = await offices.joined(computer("laptop"));
    assertMatch(await offices.refusal({ ...laptop, name: "desk", officeId: "den" }), /already exists/);
    await offices.assertMembers("lab", [laptop]);
  });

  test("join() refuses an Agent that is in another office", async () => {
    await using offices = await open();
    const ada = await offices.joined(agent("ada"));
    const reason = await offices.refusal({ ...ada, officeId: "den" });
    assertMatch(reason, /^Cannot join office "den": this agent is in office "lab"/);
    await offices.assertOffices(1);
  });

  test("join() refuses another role, and another name in the same office", async () => {
    await using offices = await open();
    const laptop = await offices.joined(computer("laptop"));
    assertMatch(await offices.refusal({ ...laptop, role: "agent", officeId: "den" }), /as computer "laptop"/);
    assertMatch(await offices.refusal({ ...laptop, name: "desk" }), /as "laptop"/);
    // None of these may look like a name that is taken: peers would try again.
    for (const change of [{ role: "agent" as const }, { name: "desk" }]) {
      assert(!/already (has an agent|exists)/.test(await offices.refusal({ ...laptop, ...change })));
    }
  });

  test("join() admits one MAJOR.MINOR to an office, and peers without a version to any", async () => {
    await using offices = await open();
    await offices.joined(computer("old", { version: undefined }));
    const ada = await offices.joined(agent("ada", { version: "0.2.7" }));
    const laptop = await offices.joined(computer("laptop", { version: "0.2.0" }));
    assertMatch(
      await offices.refusal(computer("new", { version: "0.4.0" })),
      /4008.*uses 0\.2, this connection 0\.4/,
    );
    await offices.joined(computer("older", { version: undefined }));
    await offices.joined(computer("new", { version: "0.4.0", officeId: "den" }));
    // The rule is about who is there now.
    await offices.leave(ada.sid);
    assertMatch(await offices.refusal(computer("new", { version: "0.4.0" })), /4008/);
    await offices.leave(laptop.sid);
    await offices.joined(computer("new", { version: "0.4.0" }));
  });

  test("join() says a version mismatch, which is final, before a taken name, which is not", async () => {
    await using offices = await open();
    await offices.joined(computer("laptop"));
    assertMatch(await offices.refusal(computer("laptop", { version: "0.3.0" })), /4008/);
  });

  test("join() of the same session, role and principal replaces the old connection", async () => {
    await using offices = await open();
    for (const make of [agent, computer]) {
      const ghost = await offices.joined(make("ada", { session: "s" }));
      const owner = await offices.joined(make("ada", { session: "s" }));
      await offices.assertTold(ghost.sid, "replaced lab ada");
      await offices.leave(ghost.sid);
      assertEquals((await offices.members("lab")).some(({ sid }) => sid === owner.sid), true);
    }
  });

  test("join() replaces the old connection wherever it is, and under whatever name", async () => {
    await using offices = await open();
    const ghost = await offices.joined(agent("ada", { session: "s", officeId: "den" }));
    const owner = await offices.joined(agent("eve", { session: "s" }));
    await offices.assertTold(ghost.sid, "replaced den ada");
    await offices.assertMembers("den", []);
    await offices.assertMembers("lab", [owner]);
  });

  test("join() that replaces a connection leaves its seat to nobody else, however often others try", async () => {
    await using offices = await open();
    const renewed = () => agent("ada", { session: "s", principal: "p" });
    let holder = await offices.joined(renewed());
    let isOver = false;
    const rival = async () => {
      while (!isOver) assertMatch(await offices.refusal(agent("mallory")), /already has an agent/);
    };
    const rivals = [rival(), rival(), rival()];
    for (let round = 0; round < 10; round++) holder = await offices.joined(renewed());
    isOver = true;
    await Promise.all(rivals);
    await offices.assertMembers("lab", [holder]);
  });

  test("join() replaces no connection of another session, role or principal", async () => {
    await using offices = await open();
    const ghost = await offices.joined(computer("laptop", { session: "s", principal: "p" }));
    for (
      const other of [{ session: "t", principal: "p" }, { session: "s", principal: "q" }, { principal: "p" }]
    ) {
      assertMatch(await offices.refusal(computer("laptop", other)), /already exists/);
    }
    const ada = await offices.joined(agent("laptop", { session: "s", principal: "p" }));
    await offices.assertMembers("lab", [ghost, ada]);
  });

  test("join() that is refused replaces nobody", async () => {
    await using offices = await open();
    const ghost = await offices.joined(computer("laptop", { session: "s" }));
    const desk = await offices.joined(computer("desk"));
    assertMatch(await offices.refusal(computer("desk", { session: "s" })), /already exists/);
    await offices.assertMembers("lab", [ghost, desk]);
  });

  test("join() does not count the version of the connection that it replaces", async () => {
    await using offices = await open();
    await offices.joined(computer("laptop", { session: "s", version: "0.2.0" }));
    await offices.joined(computer("laptop", { session: "s", version: "0.3.0" }));
  });

  test("findComputer() finds no Agent, and nobody of another office", async () => {
    await using offices = await open();
    const ada = await offices.joined(agent("ada"));
    await offices.joined(computer("laptop", { officeId: "den" }));
    const { state } = offices.of(ada.sid);
    assertEquals(state.findComputer("lab", "ada"), undefined);
    assertEquals(state.findComputer("lab", "laptop"), undefined);
    assertEquals(state.findComputer("nowhere", "laptop"), undefined);
  });

  test("members() come in the order in which they joined", async () => {
    await using offices = await open();
    const all = [computer("z"), agent("m"), computer("a")];
    for (const one of all) await offices.joined(one);
    await offices.assertMembers("lab", all);
    assertEquals(await offices.members("nowhere"), []);
  });

  test("leave() frees name and seat, and the last to leave ends the office", async () => {
    await using offices = await open();
    const ada = await offices.joined(agent("ada"));
    const laptop = await offices.joined(computer("laptop"));
    await offices.leave(laptop.sid);
    await offices.leave(laptop.sid);
    const again = await offices.joined(computer("laptop"));
    await offices.leave(again.sid);
    await offices.assertOffices(1);
    await offices.leave(ada.sid);
    await offices.assertOffices(0);
  });

  test("notify() reaches each process that has members in the office once", async () => {
    await using offices = await open();
    const ada = await offices.joined(agent("ada"));
    const laptop = await offices.joined(computer("laptop"));
    offices.of(ada.sid).state.notify("lab", { event: "notify:update_config", body: { computer: "laptop" } });
    for (const { sid } of [ada, laptop]) await offices.assertTold(sid, "notify:update_config lab");
    for (const { sid } of [ada, laptop]) {
      const { log } = offices.of(sid).premises;
      assertEquals(log.filter((line) => line === "notify:update_config lab").length, 1);
    }
  });

  const candidates = fc.record({
    sid: fc.constantFrom(...SIDS),
    role: fc.constantFrom("agent" as const, "computer" as const),
    name: fc.constantFrom("x", "y", "__proto__"),
    officeId: fc.constantFrom("lab", "den", "constructor"),
    version: fc.constantFrom("0.2.0", "0.3.0", undefined),
    principal: fc.constantFrom("p", "q"),
    session: fc.constantFrom("s", undefined),
    isObserver: fc.constant(false),
    joinedAt: fc.constant("2026-11-22T08:00:00.000Z"),
  });
  const steps = fc.oneof(candidates, fc.constantFrom(...SIDS));

  test("whatever joins and leaves, names are unique, seats single, versions agree, and empty offices gone", async () => {
    const run = async (sequence: readonly (Member | string)[]) => {
      await using offices = await open();
      for (const step of sequence) {
        if (typeof step === "string") await offices.leave(step);
        else await offices.join(step);
      }
      const rooms = await offices.rooms(["lab", "den", "constructor"]);
      for (const room of rooms) {
        assertEquals(new Set(room.map(({ role, name }) => `${role} ${name}`)).size, room.length);
        assert(room.filter(({ role }) => role === "agent").length <= 1);
        assert(new Set(room.flatMap(({ version }) => version ?? [])).size <= 1);
      }
      // All of them: the first process may not have heard of the last ones yet.
      for (const sid of SIDS) await offices.leave(sid);
      await offices.assertOffices(0);
    };
    await fc.assert(fc.asyncProperty(fc.array(steps, { maxLength: 40 }), run), {
      numRuns: sized({ reduced: 40, full: 400 }),
      // Shrinking would open hundreds of worlds.
      endOnFailure: true,
    });
  });
}
