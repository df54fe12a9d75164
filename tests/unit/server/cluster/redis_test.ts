import { assert, assertEquals, assertRejects } from "@std/assert";
import { silentLogger } from "../../../../src/log.ts";
import { SmcpError } from "../../../../src/protocol/errors.ts";
import { RedisOffices } from "../../../../src/server/cluster/redis.ts";
import type { LeaseClock } from "../../../../src/server/cluster/redis/lease.ts";
import { type RedisOptions, toRedisSettings } from "../../../../src/server/cluster/redis/settings.ts";
import { Drain } from "../../../../src/server/drain.ts";
import { loadLimitsFor } from "../../../../src/server/limits.ts";
import { RedisCluster } from "../../../fixtures/redis_cluster.ts";
import { hasRedis, RedisServer } from "../../../fixtures/redis_server.ts";
import { eventually, within } from "../../../fixtures/within.ts";
import { agent, computer, Premises, testOfficeState, type World } from "./_office_state.ts";

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

function openProcess(
  options: Pick<RedisOptions, "url" | "prefix">,
  context: { readonly clock?: LeaseClock } = {},
) {
  const premises = new Premises();
  // Long leases: this is no test of leases, and the machine may be busy.
  const settings = toRedisSettings({ ...options, heartbeatMs: 2_000, leaseMs: 6_000 });
  const state = new RedisOffices(settings, {
    ...premises.shared,
    ...context,
    listener: premises,
    loadLimits: loadLimitsFor(1024),
    maxMembersPerOffice: 2_048,
    drain: new Drain(),
    logger: silentLogger,
  });
  return { premises, state };
}

/** Opens so many processes; each world has keys of its own. */
async function openWorld(
  redis: Redis | undefined,
  count: number,
  options: { readonly clock?: LeaseClock } = {},
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
  name: "an office without changes stays in Redis as long as it has members",
  ignore,
  async fn() {
    const redis = opened.single;
    assert(redis !== undefined);
    const clock = new AdvancedClock();
    await using world = await openWorld(redis, 2, { clock });
    const [first, second] = world.processes;
    assert(first !== undefined && second !== undefined);
    const ada = agent("ada");
    first.premises.add(ada.sid);
    await within(first.state.join(ada), "the join");
    const key = await redis.run("KEYS", `${world.prefix}:*:seats`);
    for (let day = 1; day <= 2; day++) {
      await redis.run("PEXPIRE", key, String(DAY_MS / 2));
      clock.aheadMs = day * DAY_MS;
      await eventually(
        async () => Number(await redis.run("PTTL", key)),
        (leftMs) => leftMs > DAY_MS / 2,
        "a kept office",
      );
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

for (const count of [1, 3]) {
  testOfficeState(`RedisOffices of ${count} processes`, {
    openWorld: () => openWorld(opened.single, count),
    ignore,
  });
}
testOfficeState("RedisOffices of 3 processes on a Redis Cluster", {
  openWorld: () => openWorld(opened.cluster, 3),
  ignore,
});
