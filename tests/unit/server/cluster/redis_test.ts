import { silentLogger } from "../../../../src/log.ts";
import { RedisOffices } from "../../../../src/server/cluster/redis.ts";
import { toRedisSettings } from "../../../../src/server/cluster/redis/settings.ts";
import { Drain } from "../../../../src/server/drain.ts";
import { loadLimitsFor } from "../../../../src/server/limits.ts";
import { hasRedis, RedisServer } from "../../../fixtures/redis_server.ts";
import { Premises, testOfficeState, type World } from "./_office_state.ts";

let redis: RedisServer | undefined;
let worlds = 0;

Deno.test.beforeAll(async () => {
  if (hasRedis) redis = await RedisServer.start();
});
Deno.test.afterAll(async () => {
  await redis?.[Symbol.asyncDispose]();
});

/** Opens so many processes; each world has keys of its own in one Redis. */
async function openWorld(count: number): Promise<World> {
  const server = redis;
  if (server === undefined) throw new TypeError("Cannot open a world: no Redis");
  const prefix = `w${worlds++}`;
  const processes = Array.from({ length: count }, () => {
    const premises = new Premises();
    const settings = toRedisSettings({ url: server.url, prefix, heartbeatMs: 2_000, leaseMs: 6_000 });
    const { shared } = premises;
    const context = {
      ...shared,
      listener: premises,
      loadLimits: loadLimitsFor(1024),
      maxMembersPerOffice: 2_048,
      drain: new Drain(),
      logger: silentLogger,
    };
    return { premises, state: new RedisOffices(settings, context) };
  });
  await Promise.all(processes.map(({ state }) => state.started));
  return {
    processes,
    countOffices: async () => {
      const found = await server.run("KEYS", `${prefix}:0:{*}:seats`);
      return found === "" ? 0 : found.split("\n").length;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(processes.map(({ state }) => state.close()));
      for (const { premises } of processes) premises[Symbol.dispose]();
    },
  };
}

for (const count of [1, 3]) {
  testOfficeState(`RedisOffices of ${count} processes`, {
    openWorld: () => openWorld(count),
    ignore: !hasRedis,
  });
}
