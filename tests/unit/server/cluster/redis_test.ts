import { silentLogger } from "../../../../src/log.ts";
import { RedisOffices } from "../../../../src/server/cluster/redis.ts";
import { toRedisSettings } from "../../../../src/server/cluster/redis/settings.ts";
import { Drain } from "../../../../src/server/drain.ts";
import { loadLimitsFor } from "../../../../src/server/limits.ts";
import { RedisCluster } from "../../../fixtures/redis_cluster.ts";
import { hasRedis, RedisServer } from "../../../fixtures/redis_server.ts";
import { within } from "../../../fixtures/within.ts";
import { Premises, testOfficeState, type World } from "./_office_state.ts";

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

/** Opens so many processes; each world has keys of its own. */
async function openWorld(redis: Redis | undefined, count: number): Promise<World> {
  if (redis === undefined) throw new TypeError("Cannot open a world: no Redis");
  const prefix = `w${worlds++}`;
  const processes = Array.from({ length: count }, () => {
    const premises = new Premises();
    // Long leases: this is no test of leases, and the machine may be busy.
    const settings = toRedisSettings({ url: redis.url, prefix, heartbeatMs: 2_000, leaseMs: 6_000 });
    const context = {
      ...premises.shared,
      listener: premises,
      loadLimits: loadLimitsFor(1024),
      maxMembersPerOffice: 2_048,
      drain: new Drain(),
      logger: silentLogger,
    };
    return { premises, state: new RedisOffices(settings, context) };
  });
  await within(Promise.all(processes.map(({ state }) => state.started)), "registered processes");
  return {
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

const ignore = !hasRedis;
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
