/** A process on Redis, without sockets, for a test. */
import { type Logger, silentLogger } from "../../../../../src/log.ts";
import { RedisOffices } from "../../../../../src/server/offices/redis/offices.ts";
import type { LeaseClock } from "../../../../../src/server/offices/redis/registration.ts";
import { type RedisOptions, toRedisSettings } from "../../../../../src/server/offices/redis/settings.ts";
import { Drain } from "../../../../../src/server/drain.ts";
import { ObserverRequests } from "../../../../../src/server/relay/pending_requests.ts";
import { Premises } from "../_offices.ts";

export interface ProcessOptions {
  readonly clock?: LeaseClock;
  readonly logger?: Logger;
}

/** Opens a process. */
export function openProcess(
  options: Pick<RedisOptions, "url" | "prefix">,
  { logger = silentLogger, clock }: ProcessOptions = {},
) {
  const premises = new Premises();
  // Long leases: this is no test of leases, and the machine may be busy.
  const settings = toRedisSettings({ ...options, heartbeatMs: 3_000, leaseMs: 6_000 });
  const state = new RedisOffices(settings, {
    ...premises.shared,
    ...(clock === undefined ? {} : { clock }),
    listener: premises,
    maxMembersPerOffice: 2_048,
    observerRequests: new ObserverRequests({ maxOpenRequests: 1024 }),
    drain: new Drain(),
    logger,
  });
  return { premises, state };
}
