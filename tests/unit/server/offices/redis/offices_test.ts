import { assert, assertEquals, assertRejects } from "@std/assert";
import { SmcpError } from "../../../../../src/protocol/errors.ts";
import type { LeaseClock } from "../../../../../src/server/offices/redis/registration.ts";
import { toSeat, writeSeat } from "../../../../../src/server/offices/redis/store.ts";
import type { Member } from "../../../../../src/server/offices/office.ts";
import { RedisCluster } from "../../../../fixtures/redis_cluster.ts";
import { hasRedis, RedisServer } from "../../../../fixtures/redis_server.ts";
import { eventually, within } from "../../../../fixtures/within.ts";
import { RecordingLogger } from "../../../../integration/_socket.ts";
import { agent, computer, testOffices, type World } from "../_offices.ts";
import { openProcess, type ProcessOptions } from "./_process.ts";

type Redis = Pick<RedisServer, "url" | "run"> & AsyncDisposable;

/** Opened once for all tests of the file. */
const opened: { single?: Redis; cluster?: Redis } = {};
let worlds = 0;

Deno.test.beforeAll(async () => {
  if (!hasRedis) return;
  [opened.single, opened.cluster] = await Promise.all([RedisServer.start(), RedisCluster.start()]);
});
Deno.test.afterAll(async () => {
  await opened.single?.[Symbol.asyncDispose]();
  await opened.cluster?.[Symbol.asyncDispose]();
});

/** The system's clocks, so many milliseconds ahead. */
class AdvancedClock implements LeaseClock {
  aheadMs = 0;

  monotonicMs(): number {
    return performance.now() + this.aheadMs;
  }

  wallMs(): number {
    return Date.now() + this.aheadMs;
  }
}

/** Opens so many processes; each world has keys of its own. */
async function openWorld(
  redis: Redis | undefined,
  count: number,
  options: ProcessOptions = {},
): Promise<World & { readonly prefix: string }> {
  if (redis === undefined) throw new TypeError("Cannot open a world: no Redis");
  const prefix = `w${worlds++}`;
  const processes = Array.from({ length: count }, () => openProcess({ url: redis.url, prefix }, options));
  await within(Promise.all(processes.map(({ state }) => state.started)), "registered processes");
  return {
    prefix,
    processes,
    countOffices: async () => {
      const found = await redis.run("KEYS", `${prefix}:0:{*}:seats`);
      return found === "" ? 0 : found.split("\n").length;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(processes.map(({ state }) => state.close()));
      for (const { premises } of processes) premises[Symbol.dispose]();
    },
  };
}

Deno.test("RedisOffices that Redis does not answer keep nothing of an office that cannot be joined, and close", async () => {
  // It accepts connections and says nothing.
  using silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { premises, state } = openProcess({ url: `redis://127.0.0.1:${silent.addr.port}` });
  await assertRejects(() => within(state.join(computer("laptop")), "the refusal of a join"), SmcpError);
  assertEquals(state.size, 0);
  await within(state.close(), "the end of the offices");
  premises[Symbol.dispose]();
});

const ignore = !hasRedis;
const DAY_MS = 86_400_000;

Deno.test({
  name: "an office without changes stays in Redis as long as it has members, and so do their sessions",
  ignore,
  async fn() {
    const redis = opened.single;
    assert(redis !== undefined);
    const clock = new AdvancedClock();
    await using world = await openWorld(redis, 2, { clock });
    const [first, second] = world.processes;
    assert(first !== undefined && second !== undefined);
    const ada = agent("ada", { session: "s" });
    first.premises.add(ada.sid);
    await within(first.state.join(ada), "the join");
    const office = await redis.run("KEYS", `${world.prefix}:*:seats`);
    const session = await redis.run("KEYS", `${world.prefix}:*:session:*`);
    for (let day = 1; day <= 2; day++) {
      for (const key of [office, session]) await redis.run("PEXPIRE", key, String(DAY_MS / 2));
      clock.aheadMs = day * DAY_MS;
      for (const key of [office, session]) {
        await eventually(
          async () => Number(await redis.run("PTTL", key)),
          (leftMs) => leftMs > DAY_MS / 2,
          `keeping ${key}`,
        );
      }
    }
  },
});

Deno.test({
  name: "an office that Redis has lost is taken again at the next check",
  ignore,
  async fn() {
    const redis = opened.single;
    assert(redis !== undefined);
    const clock = new AdvancedClock();
    await using world = await openWorld(redis, 1, { clock });
    const [process] = world.processes;
    assert(process !== undefined);
    const { state, premises } = process;
    const ada = agent("ada");
    premises.add(ada.sid);
    await within(state.join(ada), "the join");
    const key = await redis.run("KEYS", `${world.prefix}:*:seats`);
    await redis.run("DEL", key);
    clock.aheadMs = DAY_MS;
    await eventually(() => redis.run("HLEN", key), (fields) => fields === "2", "the seat");
    assert(state.isServing(ada.sid));
  },
});

Deno.test({
  name: "a process stops following an office when another process has given its last seat away",
  ignore,
  async fn() {
    const redis = opened.single;
    assert(redis !== undefined);
    await using world = await openWorld(redis, 2);
    const [first, second] = world.processes;
    assert(first !== undefined && second !== undefined);
    const old = agent("ada", { session: "s", sid: "old", officeId: "left" });
    const newer = agent("ada", { session: "s", sid: "new", officeId: "joined" });
    for (const [process, member] of [[first, old], [second, newer]] as const) {
      process.premises.add(member.sid);
      await within(process.state.join(member), "the join");
    }
    await eventually(
      () => redis.run("PUBSUB", "CHANNELS", `${world.prefix}:*:news`),
      (channels) => channels === `${world.prefix}:0:{office.joined}:news`,
      "one office that is followed",
    );
  },
});

Deno.test({
  name: "a session leaves nothing in Redis when its connection has left, unless a newer one has joined",
  ignore,
  async fn() {
    const redis = opened.single;
    assert(redis !== undefined);
    await using world = await openWorld(redis, 1);
    const [process] = world.processes;
    assert(process !== undefined);
    const { state, premises } = process;
    const [old, newer] = [
      agent("ada", { session: "s", sid: "old" }),
      agent("ada", { session: "s", sid: "new", officeId: "other" }),
    ];
    const sessions = () => redis.run("KEYS", `${world.prefix}:*:session:*`);
    for (const member of [old, newer]) {
      premises.add(member.sid);
      await within(state.join(member), "the join");
    }
    await within(state.leave(old.sid), "the leave");
    assert((await sessions()) !== "");
    await within(state.leave(newer.sid), "the leave");
    await eventually(sessions, (keys) => keys === "", "no session");
  },
});

/** A process that this test plays: its lease lasts, and it tells nobody what it does. */
async function openSilentProcess(redis: Redis, prefix: string, fence = "silent") {
  await redis.run("SET", `${prefix}:0:lease:${fence}`, "1");
  const officeKey = (officeId: string) => `${prefix}:0:{office.${officeId}}:seats`;
  const text = (member: Member) => `1 ${writeSeat(toSeat(member, fence))}`;
  const changed = (officeId: string) => redis.run("HINCRBY", officeKey(officeId), "v", "1");
  return {
    async take(member: Member): Promise<void> {
      await redis.run("HSET", officeKey(member.officeId), `s:${member.sid}`, text(member));
      await changed(member.officeId);
    },
    async remove({ officeId, sid }: Member): Promise<void> {
      await redis.run("HDEL", officeKey(officeId), `s:${sid}`);
      await changed(officeId);
    },
    async takeSession(member: Member): Promise<void> {
      const { sessionId } = toSeat(member, fence);
      await redis.run("SET", `${prefix}:0:session:${sessionId}`, text(member));
    },
  };
}

for (const newerOffice of ["lab", "den"]) {
  Deno.test({
    name:
      `a connection was replaced, not lost, when its process missed the message: by one in "${newerOffice}"`,
    ignore,
    async fn() {
      const redis = opened.single;
      assert(redis !== undefined);
      await using world = await openWorld(redis, 1);
      const [process] = world.processes;
      assert(process !== undefined);
      const { state, premises } = process;
      const silent = await openSilentProcess(redis, world.prefix);
      const old = computer("laptop", { session: "s" });
      for (const member of [agent("ada"), old]) {
        premises.add(member.sid);
        await within(state.join(member), "the join");
      }
      const newer = computer("laptop", { session: "s", officeId: newerOffice });
      await silent.takeSession(newer);
      await silent.take(newer);
      await silent.remove(old);
      // A join makes the process look.
      await within(state.join(computer("desk")), "the join");
      const ends = () => premises.log.filter((line) => /^(left|replaced|lost) /.test(line));
      await eventually(ends, (lines) => lines.length > 0, "the end of the older connection");
      assertEquals(ends(), ["replaced lab laptop"]);
      assertEquals(state.isServing(old.sid), false);
    },
  });
}

Deno.test({
  name:
    "a process keeps its registration when it first follows an office on a node of a cluster, not after a gap",
  ignore,
  async fn() {
    const redis = opened.cluster;
    assert(redis !== undefined);
    const logger = new RecordingLogger();
    const registrations = () =>
      logger.lines.filter(({ message }) => message === "registered in Redis").length;
    await using world = await openWorld(redis, 1, { logger });
    const [process] = world.processes;
    assert(process !== undefined);
    const { state, premises } = process;
    for (let i = 0; i < 8; i++) {
      const laptop = computer("laptop", { officeId: `office ${i}` });
      premises.add(laptop.sid);
      await within(state.join(laptop), "the join");
    }
    // Behind any repair that a join has caused.
    await within(state.leave([...premises.connections.keys()][0] ?? ""), "the leave");
    assertEquals(registrations(), 1);
    await redis.run("CLIENT", "KILL", "TYPE", "pubsub");
    await eventually(registrations, (count) => count > 1, "another registration");
  },
});

for (const former of ["laptop", "desk"]) {
  Deno.test({
    name: `a connection can join although an earlier attempt to join made it "${former}" in Redis alone`,
    ignore,
    async fn() {
      const redis = opened.single;
      assert(redis !== undefined);
      await using world = await openWorld(redis, 2);
      const [process, other] = world.processes;
      assert(process !== undefined && other !== undefined);
      const [ada, bob] = [agent("ada"), computer("bob")];
      for (const [{ state, premises }, member] of [[process, ada], [other, bob]] as const) {
        premises.add(member.sid);
        await within(state.join(member), "the join");
      }
      const laptop = computer("laptop");
      const seat = await redis.run("HGET", `${world.prefix}:0:{office.lab}:seats`, `s:${ada.sid}`);
      const [, fence] = seat.split(" ");
      await (await openSilentProcess(redis, world.prefix, fence)).take({ ...laptop, name: former });
      process.premises.add(laptop.sid);
      const outcome = await within(process.state.join(laptop), "the join");
      assertEquals(outcome, { kind: "joined", member: laptop });
      assertEquals(process.premises.offices.get(laptop.sid), "lab");
      for (const { state } of [process, other]) {
        const look = async () => (await state.members("lab")).map(({ name }) => name).toSorted();
        await eventually(look, (names) => String(names) === "ada,bob,laptop", "the members");
      }
    },
  });
}

for (const count of [1, 3]) {
  testOffices(`RedisOffices of ${count} processes`, {
    openWorld: () => openWorld(opened.single, count),
    ignore,
  });
}
testOffices("RedisOffices of 3 processes on a Redis Cluster", {
  openWorld: () => openWorld(opened.cluster, 3),
  ignore,
});
