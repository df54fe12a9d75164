import { assertEquals, assertInstanceOf } from "@std/assert";
import { SmcpError } from "../../../../src/protocol/errors.ts";
import { Account, Budget } from "../../../../src/server/engine/budget.ts";
import { Connection, type ConnectionContext } from "../../../../src/server/relay/connection.ts";
import type { Settlement } from "../../../../src/server/relay/pending_requests.ts";
import { PresenceRounds } from "../../../../src/server/relay/presence.ts";
import { FakeTimers } from "../../../fixtures/fake_timers.ts";
import { openConnectionContext, quotas, silentSession } from "./_connection.ts";

/** A Computer on a clock that the test moves: what it was sent, and when anything of it was read. */
class Desk implements Disposable {
  readonly clock = new FakeTimers();
  readonly context: ConnectionContext = openConnectionContext();
  readonly sent: string[] = [];
  readonly settled: Settlement[] = [];
  isWriting = false;
  pings = 0;
  readonly connection: Connection;
  #readAtMs = performance.now();
  #onRead: (() => void) | undefined;

  constructor() {
    const readAtMs = () => this.#readAtMs;
    const isWriting = () => this.isWriting;
    const session = {
      ...silentSession,
      account: new Account(new Budget(1_000_000)),
      get readAtMs() {
        return readAtMs();
      },
      get state() {
        return { ...silentSession.state, isWriting: isWriting() };
      },
      ping: (onRead: () => void) => {
        this.pings++;
        this.#onRead = onRead;
      },
    };
    const emit = (event: string, body: unknown) => this.sent.push(`${event} ${Object(body).req_id}`);
    const socket = { id: "s1", nsp: { _ids: 0 }, emit, join() {}, leave() {}, disconnect() {} };
    const identity = { principal: "anonymous", session: undefined, version: undefined, isObserver: false };
    this.connection = new Connection(socket, session, { identity, permit: {}, quotas, shared: this.context });
    const seat = { sid: "s1", role: "computer", name: "attic", officeId: "lab" } as const;
    this.connection.enter({ ...seat, principal: "anonymous", isObserver: false, joinedAt: "" });
  }

  ask(reqId: string, event = "client:tool_call"): void {
    const request = { event, reqId, agent: "ada", computer: "attic", officeId: "lab", isObserving: false };
    this.connection.ask({ ...request, timeoutMs: 60_000 }, {
      body: { req_id: reqId },
      sides: [],
      onSettled: (settlement) => this.settled.push(settlement),
    });
  }

  /** Something of it is read. */
  read(): void {
    this.#readAtMs = performance.now();
    this.#onRead?.();
  }

  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 50) {
      this.clock.advance(Math.min(50, left));
      // The clock of a turn is forgotten at its end.
      await Promise.resolve();
    }
  }

  get failures(): unknown[] {
    return this.settled.map((settlement) => {
      const error = settlement.kind === "failed" ? settlement.error : undefined;
      assertInstanceOf(error, SmcpError);
      const { computer_name, may_have_run, asleep_since } = error.details ?? {};
      return [error.code, computer_name, may_have_run ?? false, typeof asleep_since];
    });
  }

  [Symbol.dispose](): void {
    this.connection.end();
    this.context.timeouts.clear();
    this.clock[Symbol.dispose]();
  }
}

Deno.test("a request to a Computer of which something was read recently is sent at once, without a ping", async () => {
  using desk = new Desk();
  await desk.pass(4_000);
  desk.ask("r1");
  assertEquals([desk.sent, desk.pings], [["client:tool_call r1"], 0]);
});

Deno.test("requests to a silent Computer wait for the answer to one ping, and go in their order", async () => {
  using desk = new Desk();
  await desk.pass(6_000);
  desk.ask("r1");
  desk.ask("r2");
  desk.connection.repeat("notify:tool_call_cancel", { req_id: "r1" });
  assertEquals([desk.sent, desk.pings], [[], 1]);
  desk.read();
  assertEquals(desk.sent, ["client:tool_call r1", "client:tool_call r2", "notify:tool_call_cancel r1"]);
});

Deno.test("a request to a Computer that answers no ping fails, and is not sent when it wakes", async () => {
  using desk = new Desk();
  await desk.pass(6_000);
  desk.ask("r1");
  await desk.pass(2_600);
  assertEquals(desk.failures, [[404, "attic", false, "string"]]);
  desk.ask("r2");
  assertEquals(desk.failures.length, 2, "the second one waits for nothing");
  desk.read();
  assertEquals(desk.sent, []);
  desk.ask("r3");
  assertEquals(desk.sent, ["client:tool_call r3"]);
});

Deno.test("a call that was sent before its Computer fell asleep fails, and is cancelled when that wakes", async () => {
  using desk = new Desk();
  desk.ask("r1");
  await desk.pass(9_000);
  assertEquals(desk.settled, []);
  await desk.pass(1_500);
  assertEquals(desk.failures, [[404, "attic", true, "string"]]);
  assertEquals(desk.sent, ["client:tool_call r1", "notify:tool_call_cancel r1"]);
});

Deno.test("a call that runs for long at a Computer that answers pings goes on", async () => {
  using desk = new Desk();
  desk.ask("r1");
  for (let second = 0; second < 30; second++) {
    await desk.pass(1_000);
    if (second % 6 === 5) desk.read();
  }
  assertEquals(desk.settled, []);
});

Deno.test("a Computer that still reads a long message does not count as asleep", async () => {
  using desk = new Desk();
  desk.ask("r1");
  desk.isWriting = true;
  await desk.pass(6_000);
  desk.ask("r2");
  await desk.pass(20_000);
  assertEquals(desk.settled, []);
  assertEquals(desk.sent, ["client:tool_call r1", "client:tool_call r2"]);
});

Deno.test("a request that its sender gives up while it waits is never sent", async () => {
  using desk = new Desk();
  await desk.pass(6_000);
  desk.ask("r1");
  desk.connection.exit();
  desk.read();
  assertEquals([desk.sent, desk.settled.length], [[], 1]);
});

Deno.test("operators who look again and again have a Computer sent one ping in two seconds", async () => {
  using desk = new Desk();
  const rounds = new PresenceRounds();
  const look = () => rounds.ask(() => [desk.connection.presence]);
  const looks = Promise.all([look(), look(), look()]);
  await desk.pass(100);
  desk.read();
  await looks;
  await look();
  assertEquals(desk.pings, 1);
  await desk.pass(2_000);
  const later = look();
  await desk.pass(100);
  desk.read();
  await later;
  assertEquals(desk.pings, 2);
});

Deno.test("a round of an operator asks a share of the Computers, and the next one the others", async () => {
  const asked = Array.from({ length: 300 }, () => 0);
  const members = asked.map((_, index) => ({
    isKnown: false,
    get probedAtMs() {
      return asked[index] ?? 0;
    },
    ask: () => Promise.resolve(void (asked[index] = (asked[index] ?? 0) + 1)),
  }));
  const rounds = new PresenceRounds();
  await rounds.ask(() => members);
  assertEquals(asked.filter((times) => times > 0).length, 200);
  await rounds.ask(() => members);
  assertEquals([Math.min(...asked), Math.max(...asked)], [1, 2]);
});
