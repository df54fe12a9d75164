import { assertEquals, assertNotStrictEquals, assertStrictEquals } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import type { JoinedOffice } from "../../../src/agent/group/office_join.ts";
import { Seats, type SeatsOptions } from "../../../src/gateway/seats.ts";
import { FakeTimers } from "../../fixtures/fake_timers.ts";
import { FakeOffice } from "./_fake_office.ts";

const MINUTE_MS = 60_000;

class FakeAgent extends FakeOffice implements JoinedOffice {
  readonly #ending = new AbortController();
  isClosed = false;

  get ended(): AbortSignal {
    return this.#ending.signal;
  }

  /** Ends as an Agent does that cannot come back. */
  fail(): void {
    this.#ending.abort();
  }

  close(): Promise<void> {
    this.isClosed = true;
    this.fail();
    return Promise.resolve();
  }
}

/** Seats whose Agents a test sees, and whose joins it may refuse. */
function openSeats(options: Partial<SeatsOptions> = {}) {
  const agents: FakeAgent[] = [];
  const joined: string[] = [];
  const seats = new Seats({
    join: (office) => {
      joined.push(office);
      const agent = new FakeAgent([]);
      agents.push(agent);
      return Promise.resolve(agent);
    },
    gateway: {},
    ...options,
  });
  return { seats, agents, joined };
}

Deno.test("Seats.open() takes the seat of an office once, for all of its clients", async () => {
  const { seats, joined } = openSeats();
  const seat = seats.open("lab");
  assertStrictEquals(seats.open("lab"), seat);
  assertNotStrictEquals(seats.open("den"), seat);
  assertEquals(joined, ["lab", "den"]);
  await seats.close();
});

Deno.test("a seat is kept while it has a client, and for ten minutes after the last one", async () => {
  using timers = new FakeTimers();
  const { seats, agents } = openSeats();
  const seat = seats.open("lab");
  const [first, second] = [seat?.use("ada"), seat?.use("ada")];
  first?.[Symbol.dispose]();
  first?.[Symbol.dispose]();
  timers.advance(60 * MINUTE_MS);
  assertStrictEquals(seats.open("lab"), seat);
  second?.[Symbol.dispose]();
  timers.advance(9 * MINUTE_MS);
  seat?.use("ada")[Symbol.dispose]();
  timers.advance(9 * MINUTE_MS);
  assertStrictEquals(seats.open("lab"), seat);
  timers.advance(MINUTE_MS);
  await seats.close();
  assertEquals([seat?.ended.aborted, agents.length, agents[0]?.isClosed], [true, 1, true]);
});

Deno.test("Seats.forget() takes away the uses of a client, and after the last one an unused seat", async () => {
  const { seats } = openSeats();
  const seat = seats.open("lab");
  using _one = seat?.use("ada");
  using _other = seat?.use("bob");
  seats.forget("lab", { client: "ada", isLast: true });
  seats.forget("den", { client: "bob", isLast: true });
  assertEquals([seat?.isUsed, seats.open("lab") === seat], [true, true]);
  seats.forget("lab", { client: "bob", isLast: false });
  assertEquals([seat?.isUsed, seats.open("lab") === seat], [false, true]);
  seats.forget("lab", { client: "ada", isLast: true });
  assertEquals(seat?.ended.aborted, true);
  await seats.close();
});

Deno.test("a seat that nobody uses after all is given up", async () => {
  using timers = new FakeTimers();
  const { seats, agents } = openSeats();
  seats.open("lab");
  timers.advance(10 * MINUTE_MS);
  await seats.close();
  assertEquals(agents.map(({ isClosed }) => isClosed), [true]);
});

Deno.test("an office that cannot be joined is tried again with longer waits, and says why meanwhile", async () => {
  using timers = new FakeTimers();
  const agent = new FakeAgent([]);
  let attempts = 0;
  const { seats } = openSeats({
    join: () => ++attempts < 4 ? Promise.reject(new TypeError("taken")) : Promise.resolve(agent),
    explain: (office, error) => Promise.resolve(`${office}: ${error}`),
  });
  const seat = seats.open("lab");
  using _ = seat?.use("ada");
  await seat?.tried;
  assertEquals(seat?.problem, "lab: TypeError: taken");
  for (const [waitMs, count] of [[1_000, 2], [2_000, 3], [4_000, 4]]) {
    timers.advance(waitMs ?? 0);
    await setImmediate();
    await setImmediate();
    assertEquals(attempts, count);
  }
  assertEquals([await seat?.agent, seat?.problem], [agent, undefined]);
  await seats.close();
});

Deno.test("a seat that is lost ends, and the next client gets a new one", async () => {
  const { seats, agents } = openSeats();
  const seat = seats.open("lab");
  using _ = seat?.use("ada");
  await seat?.agent;
  agents[0]?.fail();
  assertEquals(seat?.ended.aborted, true);
  assertNotStrictEquals(seats.open("lab"), seat);
  assertEquals(agents.length, 2);
  await seats.close();
});

Deno.test("Seats.close() gives up a seat that is still being joined", async () => {
  const { seats } = openSeats({
    join: (_office, signal) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  });
  const seat = seats.open("lab");
  await seats.close();
  await seats.close();
  assertEquals(seat?.ended.aborted, true);
});

Deno.test("of too many offices, the one that rests longest gives way; without one there is no place", async () => {
  const { seats } = openSeats();
  const [first, second] = [seats.open("first"), seats.open("second")];
  const uses = [first?.use("ada"), second?.use("ada")];
  for (let index = 2; index < 1_000; index++) uses.push(seats.open(`office-${index}`)?.use("ada"));
  assertEquals(seats.open("one more"), undefined);
  uses[1]?.[Symbol.dispose]();
  uses[0]?.[Symbol.dispose]();
  assertEquals(seats.open("one more")?.office, "one more");
  assertEquals([first?.ended.aborted, second?.ended.aborted], [false, true]);
  await seats.close();
});
