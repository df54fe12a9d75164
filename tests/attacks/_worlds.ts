/** Servers under attack: one process, one on Redis, and two that share a Redis. */
import { SmcpServer, type SmcpServerOptions } from "../../server.ts";
import { hasRedis, RedisServer } from "../fixtures/redis_server.ts";

/** Where victims and attackers connect. */
export interface World extends AsyncDisposable {
  /** The process of the victims. */
  readonly home: SmcpServer;
  /** The process of the attackers. */
  readonly away: SmcpServer;
}

/** A test in one world. */
export interface WorldTest {
  readonly name: string;
  readonly ignore: boolean;
  readonly open: (options?: SmcpServerOptions) => Promise<World>;
}

/**
 * Long enough for a busy machine: a connection to Redis that is silent for two heartbeats is lost. The first join waits
 * until Redis has run for as long as a lease.
 */
const LEASE = { heartbeatMs: 3_000, leaseMs: 6_000 };

let redis: RedisServer | undefined;
let isKept = false;
let prefixes = 0;

/** Starts Redis before the tests of a file, or of the files that run together, and ends it behind them. */
export function keepRedis(): void {
  if (isKept) return;
  isKept = true;
  Deno.test.beforeAll(async () => {
    if (hasRedis) redis = await RedisServer.start();
  });
  Deno.test.afterAll(async () => {
    await redis?.[Symbol.asyncDispose]();
  });
}

export const worlds: readonly WorldTest[] = [
  { name: "one process", ignore: false, open: (options) => openWorld({ processes: 1, options }) },
  {
    name: "one process on Redis",
    ignore: !hasRedis,
    open: (options) => openWorld({ processes: 1, isShared: true, options }),
  },
  {
    name: "two processes on Redis",
    ignore: !hasRedis,
    open: (options) => openWorld({ processes: 2, isShared: true, options }),
  },
];

async function openWorld({ processes, isShared = false, options }: {
  readonly processes: 1 | 2;
  readonly isShared?: boolean;
  readonly options?: SmcpServerOptions | undefined;
}): Promise<World> {
  const shared = isShared ? { redis: { url: redis?.url ?? "", prefix: `w${prefixes++}`, ...LEASE } } : {};
  const home = await SmcpServer.listen({ port: 0, ...shared, ...options });
  const away = processes === 1 ? home : await SmcpServer.listen({ port: 0, ...shared, ...options });
  return {
    home,
    away,
    async [Symbol.asyncDispose]() {
      await Promise.all([home.close(), away.close()]);
    },
  };
}
