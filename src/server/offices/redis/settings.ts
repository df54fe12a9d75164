/** The options of a Server on Redis. */
import { OPTIONS } from "../../options/table.ts";

const DEFAULT_REDIS_PREFIX = OPTIONS.redisPrefix.default;
/** What to do when Redis refuses a command of this process. */
export const REDIS_ACL_HINT =
  "the user of the URL may not do this; its ACL must allow the keys and channels that begin with --redis-prefix " +
  `(~${DEFAULT_REDIS_PREFIX}:* &${DEFAULT_REDIS_PREFIX}:* by default)`;
const DEFAULT_HEARTBEAT_MS = 2_000;
const DEFAULT_LEASE_MS = 6_000;

/** How several processes share their offices. */
export interface RedisOptions {
  /** `redis://[user:password@]host[:port][/database]`; `rediss://` with TLS; `redis+cluster://` and `rediss+cluster://` for a cluster. */
  readonly url: string;
  /** The beginning of all keys and channels; `a2c` by default. All processes of one Server need the same. */
  readonly prefix?: string | undefined;
  /** The time between two renewals of the lease of a process, in milliseconds; 2,000 by default. */
  readonly heartbeatMs?: number | undefined;
  /**
   * After so many milliseconds without a renewal, a process no longer acts for its members, and others may take their
   * places; 6,000 by default, at least twice `heartbeatMs`.
   */
  readonly leaseMs?: number | undefined;
}

/** The options with all defaults filled in. */
export type RedisSettings = Readonly<
  Required<{ [Name in keyof RedisOptions]: NonNullable<RedisOptions[Name]> }>
>;

/** @throws {TypeError | RangeError} for invalid options. */
export function toRedisSettings(options: RedisOptions): RedisSettings {
  const { url, prefix = DEFAULT_REDIS_PREFIX } = options;
  const { heartbeatMs = DEFAULT_HEARTBEAT_MS, leaseMs = DEFAULT_LEASE_MS } = options;
  parseRedisUrl(url);
  if (!/^[\w.:-]{1,64}$/.test(prefix)) {
    throw new TypeError(
      `Cannot use the prefix "${prefix}" in Redis: expected 1–64 letters, digits, ".", ":", "_", "-"`,
    );
  }
  if (!(heartbeatMs > 0 && leaseMs >= 2 * heartbeatMs)) {
    throw new RangeError(
      `Cannot use a lease of ${leaseMs} ms: expected at least twice the heartbeat, ${heartbeatMs} ms`,
    );
  }
  return { url, prefix, heartbeatMs, leaseMs };
}

export interface RedisAddress {
  readonly nodes: readonly string[];
  readonly isCluster: boolean;
  readonly database: number;
  readonly isTls: boolean;
  /** What holds for every node of a cluster. */
  readonly defaults: {
    readonly username?: string;
    readonly password?: string;
    readonly socket?: { readonly tls: true };
  };
}

export function shownRedisUrl(url: string): string {
  return url.replace(/\/\/[^@/]*@/, "//");
}

const ADDRESS = /^(rediss?)(\+cluster)?:\/\/((?:[^@/]*@)?)([^@/?#]+)(?:\/(\d*))?$/;

/** Throws a `TypeError` that does not repeat the URL, which may have a password. */
export function parseRedisUrl(url: string): RedisAddress {
  const [, scheme, cluster, credentials = "", hosts = "", database = ""] = ADDRESS.exec(url) ?? [];
  const isCluster = cluster !== undefined;
  const isTls = scheme === "rediss";
  const nodes = hosts.split(",").map((host) => `${scheme}://${credentials}${host}/${database}`);
  const [first, ...others] = nodes.map((node) => URL.parse(node));
  const isValid = [first, ...others].every((node) => node && node.hostname !== "");
  if (scheme === undefined || !first || !isValid || (others.length > 0 && !isCluster)) {
    throw new TypeError(
      "Cannot use the URL of Redis: expected redis://[user:password@]host[:port][/database], rediss://… or " +
        "redis+cluster://host:port,host:port",
    );
  }
  if (isCluster && Number(database) > 0) {
    throw new TypeError("Cannot use the URL of Redis: a cluster has no database but 0");
  }
  const { username, password } = first;
  const defaults = {
    ...(username === "" ? {} : { username: decodeURIComponent(username) }),
    ...(password === "" ? {} : { password: decodeURIComponent(password) }),
    ...(isTls ? { socket: { tls: true as const } } : {}),
  };
  return { nodes, isCluster, database: Number(database), isTls, defaults };
}
