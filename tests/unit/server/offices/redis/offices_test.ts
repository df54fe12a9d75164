import { assert, assertEquals, assertRejects } from "@std/assert";
import { SmcpError } from "../../../../../src/protocol/errors.ts";
import type { LeaseClock } from "../../../../../src/server/offices/redis/registration.ts";
import { IS_LOST_SCRIPT, toSeat, writeSeat } from "../../../../../src/server/offices/redis/store.ts";
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

type Process = ReturnType<typeof openProcess>;

interface RedisWorld extends World {
  readonly redis: Redis;
  readonly prefix: string;
  readonly first: Process;
  readonly last: Process;
}

/** Opens so many processes; each world has keys of its own. */
async function openWorld(
  redis: Redis | undefined,
  count: number,
  options: ProcessOptions = {},
): Promise<RedisWorld> {
  if (redis === undefined) throw new TypeError("Cannot open a world: no Redis");
  const prefix = `w${worlds++}`;
  const processes = Array.from({ length: count }, () => openProcess({ url: redis.url, prefix }, options));
  const [first, last] = [processes.at(0), processes.at(-1)];
  assert(first !== undefined && last !== undefined);
  await within(Promise.all(processes.map(({ state }) => state.started)), "registered processes");
  return {
    redis,
    prefix,
    first,
    last,
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

async function join({ premises, state }: Process, member: Member): Promise<void> {
  premises.add(member.sid);
  await within(state.join(member), "the join");
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
  name: "an office without changes stays in Redis as long as it has members",
  ignore,
  async fn() {
    const clock = new AdvancedClock();
    await using world = await openWorld(opened.single, 2, { clock });
    const { redis, first } = world;
    await join(first, agent("ada"));
    const office = await redis.run("KEYS", `${world.prefix}:*:seats`);
    for (let day = 1; day <= 2; day++) {
      await redis.run("PEXPIRE", office, String(DAY_MS / 2));
      clock.aheadMs = day * DAY_MS;
      await eventually(
        async () => Number(await redis.run("PTTL", office)),
        (leftMs) => leftMs > DAY_MS / 2,
        "keeping the office",
      );
    }
  },
});

Deno.test({
  name: "an office that Redis has lost is taken again at the next check",
  ignore,
  async fn() {
    const clock = new AdvancedClock();
    await using world = await openWorld(opened.single, 1, { clock });
    const { redis, first } = world;
    const { state } = first;
    const ada = agent("ada");
    await join(first, ada);
    const key = await redis.run("KEYS", `${world.prefix}:*:seats`);
    await redis.run("DEL", key);
    clock.aheadMs = DAY_MS;
    await eventually(() => redis.run("HLEN", key), (fields) => fields === "2", "the seat");
    assert(state.isServing(ada.sid));
  },
});

Deno.test({
  name: "a lease that is gone has ended, unless its Redis has restarted since it was renewed",
  ignore,
  async fn() {
    await using world = await openWorld(opened.single, 1);
    const { redis, prefix } = world;
    const [held, gone] = [`${prefix}:0:lease:held`, `${prefix}:0:lease:gone`];
    await redis.run("SET", held, "1");
    const isLost = (lease: string, leastUptimeMs: number) =>
      redis.run("EVAL", IS_LOST_SCRIPT, "1", lease, String(leastUptimeMs));
    assertEquals(await isLost(held, 0), "0");
    assertEquals(await isLost(gone, 0), "1");
    assertEquals(await isLost(gone, DAY_MS), "0");
  },
});

Deno.test({
  name: "a process stops following an office when another process has given its last seat away",
  ignore,
  async fn() {
    await using world = await openWorld(opened.single, 2);
    const { redis, first, last } = world;
    const old = agent("ada", { session: "s", sid: "old", officeId: "left" });
    const newer = agent("ada", { session: "s", sid: "new", officeId: "joined" });
    await join(first, old);
    await join(last, newer);
    await eventually(
      () => redis.run("PUBSUB", "CHANNELS", `${world.prefix}:*:news`),
      (channels) => channels === `${world.prefix}:0:{office.joined}:news`,
      "one office that is followed",
    );
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
  };
}

Deno.test({
  name: "a connection was replaced, not lost, when its process missed the message",
  ignore,
  async fn() {
    await using world = await openWorld(opened.single, 1);
    const { redis, first } = world;
    const { state, premises } = first;
    const silent = await openSilentProcess(redis, world.prefix);
    const old = computer("laptop", { session: "s" });
    for (const member of [agent("ada"), old]) await join(first, member);
    const newer = computer("laptop", { session: "s" });
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

Deno.test({
  name:
    "a process keeps its registration when it first follows an office on a node of a cluster, not after a gap",
  ignore,
  async fn() {
    const logger = new RecordingLogger();
    const registrations = () =>
      logger.lines.filter(({ message }) => message === "registered in Redis").length;
    await using world = await openWorld(opened.cluster, 1, { logger });
    const { redis, first } = world;
    const { state, premises } = first;
    for (let i = 0; i < 8; i++) {
      const laptop = computer("laptop", { officeId: `office ${i}` });
      await join(first, laptop);
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
      await using world = await openWorld(opened.single, 2);
      const { redis, first, last } = world;
      const [ada, bob] = [agent("ada"), computer("bob")];
      await join(first, ada);
      await join(last, bob);
      const laptop = computer("laptop");
      const seat = await redis.run("HGET", `${world.prefix}:0:{office.lab}:seats`, `s:${ada.sid}`);
      const [, fence] = seat.split(" ");
      await (await openSilentProcess(redis, world.prefix, fence)).take({ ...laptop, name: former });
      first.premises.add(laptop.sid);
      const outcome = await within(first.state.join(laptop), "the join");
      assertEquals(outcome, { kind: "joined", member: laptop });
      assertEquals(first.premises.offices.get(laptop.sid), "lab");
      for (const { state } of [first, last]) {
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
