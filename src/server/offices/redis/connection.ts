/** The connection to Redis, one server or a cluster, and what the log says of it. The only place that imports the client. */
import type { LogFields, Logger } from "../../../log.ts";
import { abortable, settledWithin } from "../../../async/abortable.ts";
import { delay } from "../../../async/backoff.ts";
import { describeError } from "../../../text/text.ts";
import { parseRedisUrl, REDIS_ACL_HINT, type RedisAddress, shownRedisUrl } from "./settings.ts";

const MAX_RECONNECT_MS = 1_000;
const FIRST_RECONNECT_MS = 50;
const CONNECT_TIMEOUT_MS = 5_000;
/** How long after the last loss of a connection to a cluster others may still be restored: several attempts. */
const RESTORING_MS = 10_000;
/** A connection without a sign of life for so many heartbeats is closed. */
const SILENT_HEARTBEATS = 2;

export interface RedisConnectionOptions {
  /** `redis://` or `rediss://`; with `+cluster`, one node or several separated by commas. */
  readonly url: string;
  readonly heartbeatMs: number;
  readonly logger: Logger;
  onAway(): void;
  /** Called after a connection was lost and restored: messages may have been lost. */
  onRestored(): void;
  /** Whether Redis has registered this process at least once. */
  wasRegistered(): boolean;
}

/** The clients of one Redis, or of the nodes of a cluster. */
interface Clients {
  isUp(): boolean;
  /** Sends a command whose first key or channel is `key`. */
  send(key: string, command: readonly string[]): Promise<unknown>;
  /**
   * Publishes a message that may be large; resolves to the number of its receivers. Messages keep their order among each
   * other, so an answer follows the notifications before it. With one server, commands overtake them: a renewal of the
   * lease would otherwise wait until Redis has read megabytes.
   */
  publish(channel: string, message: string): Promise<unknown>;
  subscribe(channel: string, onMessage: (message: string) => void): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  /** Sends nothing more, and resolves when all that was sent is carried out. */
  finish(): Promise<unknown>;
  close(): void;
}

/** The way to Redis, which is opened again whenever it is lost. */
export class RedisConnection {
  readonly address: RedisAddress;
  readonly options: RedisConnectionOptions;
  readonly publishCommand: "PUBLISH" | "SPUBLISH";
  readonly #outages: OutageLog;
  #clients: Clients | undefined;

  constructor(options: RedisConnectionOptions) {
    this.options = options;
    this.address = parseRedisUrl(options.url);
    this.publishCommand = this.address.isCluster ? "SPUBLISH" : "PUBLISH";
    this.#outages = new OutageLog(options.logger);
  }

  /** Whether every subscription is in place and commands are sent at once. */
  get isUp(): boolean {
    return this.#clients?.isUp() ?? false;
  }

  /** Connects; resolves when Redis answers. It goes on trying until `signal` is aborted. */
  async open(signal: AbortSignal): Promise<void> {
    const clients = await (this.address.isCluster ? openCluster : openSingle)(this, signal);
    if (signal.aborted) clients.close();
    else this.#clients = clients;
  }

  /** For commands, messages and subscriptions. Throws while Redis is away. */
  get clients(): Clients {
    if (this.#clients?.isUp()) return this.#clients;
    throw new TypeError("Cannot use Redis: it is away");
  }

  /** Closes once Redis has carried out all that was sent, or at the end of the time. */
  async close(timeoutMs: number): Promise<void> {
    const clients = this.#clients;
    if (clients === undefined) return;
    await settledWithin(clients.finish(), timeoutMs);
    clients.close();
  }

  onError(cause: unknown): void {
    const wasRegistered = this.options.wasRegistered();
    const state = wasRegistered ? "lost touch with Redis" : "cannot reach Redis";
    const hint = wasRegistered ? undefined : schemeHint(cause, this.address.isTls);
    const url = shownRedisUrl(this.options.url);
    this.#outages.failed("error", `${state}; no member can join until it answers`, { url, cause, hint });
  }

  /** @param isGap Whether messages may have been lost before. */
  onReady(isGap: boolean): void {
    this.#outages.restored(this.options.wasRegistered() ? "reached Redis again" : "reached Redis");
    if (isGap) this.options.onRestored();
  }
}

function clientOptionsOf({ heartbeatMs }: RedisConnectionOptions) {
  return {
    disableOfflineQueue: true,
    pingInterval: heartbeatMs,
    socket: {
      connectTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: SILENT_HEARTBEATS * heartbeatMs,
      reconnectStrategy: waitBefore,
    },
  };
}

function waitBefore(attempt: number): number {
  const limitMs = Math.min(MAX_RECONNECT_MS, FIRST_RECONNECT_MS * 2 ** Math.min(attempt, 10));
  return limitMs / 2 + Math.random() * limitMs / 2;
}

async function openSingle(connection: RedisConnection, signal: AbortSignal): Promise<Clients> {
  const { createClient } = await import("@redis/client");
  const { options, address: { nodes: [url = ""] } } = connection;
  const commands = createClient({ url, RESP: 2, ...clientOptionsOf(options) });
  const subscriber = commands.duplicate();
  const publisher = commands.duplicate();
  const all = [commands, subscriber, publisher];
  const isUp = () => all.every(({ isReady }) => isReady);
  let wasUp = false;
  let isClosed = false;
  for (const client of all) {
    client.on("error", (error) => connection.onError(error));
    client.on("reconnecting", () => options.onAway());
    client.on("ready", () => {
      // One that was destroyed while its socket was being opened goes on, and would send pings for ever.
      if (isClosed) return client.destroy();
      if (!isUp()) return;
      connection.onReady(wasUp);
      wasUp = true;
    });
  }
  const close = () => {
    isClosed = true;
    for (const client of all) client.destroy();
  };
  try {
    // The promise of a client that is closed meanwhile may never settle.
    await abortable(Promise.all(all.map((client) => client.connect())), signal);
  } catch (error) {
    close();
    throw error;
  }
  return {
    isUp,
    send: (_key, command) => commands.sendCommand(command),
    publish: (channel, message) => publisher.sendCommand(["PUBLISH", channel, message]),
    subscribe: (channel, onMessage) => subscriber.subscribe(channel, onMessage),
    unsubscribe: (channel) => subscriber.unsubscribe(channel),
    finish: () => Promise.allSettled(all.map((client) => client.close())),
    close,
  };
}

async function openCluster(connection: RedisConnection, signal: AbortSignal): Promise<Clients> {
  const { createCluster } = await import("@redis/client");
  const { options, address: { nodes, defaults } } = connection;
  const { socket, ...rest } = clientOptionsOf(options);
  let isClosed = false;
  const reconnectStrategy = (attempt: number) => !isClosed && waitBefore(attempt);
  const cluster = createCluster({
    RESP: 2,
    rootNodes: nodes.map((url) => ({ url })),
    defaults: { ...rest, ...defaults, socket: { ...socket, ...defaults.socket, reconnectStrategy } },
  });
  let isConnected = false;
  // The first subscription on a node opens a connection, too, but has missed nothing.
  let subscribing = 0;
  let lostAtMs = -Infinity;
  cluster.on("error", (error) => connection.onError(error));
  cluster.on("node-error", (error) => connection.onError(error));
  cluster.on("node-reconnecting", () => {
    lostAtMs = performance.now();
    options.onAway();
  });
  cluster.on("node-ready", () => {
    const isRestored = subscribing === 0 || performance.now() < lostAtMs + RESTORING_MS;
    connection.onReady(isConnected && isRestored);
  });
  for (let attempt = 0; !isConnected; attempt++) {
    const connecting = cluster.connect();
    try {
      await abortable(connecting, signal);
      isConnected = true;
    } catch (error) {
      if (signal.aborted) {
        isClosed = true;
        // Not before: the nodes that are found are connected to even if the cluster was closed meanwhile.
        void connecting.catch(() => {}).finally(() => cluster.destroy());
        throw error;
      }
      cluster.destroy();
      connection.onError(error);
      await delay(waitBefore(attempt), signal);
    }
  }
  return {
    isUp: () => cluster.isReady,
    send: (key, command) => cluster.sendCommand(key, false, [...command]),
    publish: (channel, message) => cluster.sendCommand(channel, false, ["SPUBLISH", channel, message]),
    async subscribe(channel, onMessage) {
      subscribing++;
      await cluster.sSubscribe(channel, onMessage).finally(() => subscribing--);
    },
    unsubscribe: (channel) => cluster.sUnsubscribe(channel),
    finish: () => Promise.allSettled([cluster.close()]),
    close() {
      isClosed = true;
      cluster.destroy();
    },
  };
}

/** How often a problem is logged again while it lasts. */
const REPEAT_MS = 60_000;
/** The most problems that are remembered; the texts of Redis are few. */
const MAX_PROBLEMS = 32;
const MEANINGS: readonly (readonly [pattern: RegExp, meaning: string])[] = [
  [/WRONGPASS|invalid username-password/i, "wrong user name or password"],
  [/NOAUTH/, "it needs a password; write it into the URL, redis://user:password@host"],
  [
    /permissions to run the '([^']+)' command/i,
    'the ACL of the user does not allow the command "$1"; add +$1, or take the line of docs/cluster.md#redis',
  ],
  [/NOPERM|no permissions/i, REDIS_ACL_HINT],
  [/ECONNREFUSED|connection refused/i, "connection refused, no program listens there"],
  [/ENOTFOUND|EAI_AGAIN|failed to lookup/i, "host not found"],
  [/cluster support disabled/i, "it is a single Redis and no cluster; write the URL without +cluster"],
];
/** Errors that follow from another one, which says more. */
const CONSEQUENCE = /All the root nodes are unavailable/i;
/** Problems that no further attempt mends. */
const LASTING = /NOPERM|no permissions/i;

/** Log lines about Redis: each problem once a minute while it lasts. */
export class OutageLog {
  readonly #logger: Logger;
  readonly #nowMs: () => number;
  readonly #loggedAtMs = new Map<string, number>();

  /** @param nowMs Milliseconds since a fixed point; the monotonic clock by default. */
  constructor(logger: Logger, nowMs: () => number = () => performance.now()) {
    this.#logger = logger;
    this.#nowMs = nowMs;
  }

  /** Logs a problem, unless the same one was logged in the last minute. One that only a change of Redis mends is an error. */
  failed(
    level: "warn" | "error",
    message: string,
    { cause, hint, ...fields }: LogFields & {
      readonly cause: unknown;
      /** What the error may mean, if its text says too little. */
      readonly hint?: string | undefined;
    },
  ): void {
    const error = explainRedisError(cause, hint);
    if (CONSEQUENCE.test(error) && this.#loggedAtMs.size > 0) return;
    const nowMs = this.#nowMs();
    if (nowMs < (this.#loggedAtMs.get(error) ?? -Infinity) + REPEAT_MS) return;
    if (this.#loggedAtMs.size >= MAX_PROBLEMS) this.#loggedAtMs.clear();
    this.#loggedAtMs.set(error, nowMs);
    this.#logger[LASTING.test(error) ? "error" : level](message, { ...fields, error });
  }

  /** Says that the problem is over, if one was logged. */
  restored(message?: string): void {
    if (this.#loggedAtMs.size > 0 && message !== undefined) this.#logger.info(message);
    this.#loggedAtMs.clear();
  }
}

/** Describes an error, with its meaning in words before it: that of its text, or else `hint`. */
export function explainRedisError(cause: unknown, hint?: string): string {
  const text = describeError(cause);
  for (const [pattern, meaning] of MEANINGS) {
    const match = pattern.exec(text);
    if (match !== null) return `${meaning.replaceAll("$1", match[1] ?? "")} (${text})`;
  }
  return hint === undefined ? text : `${hint} (${text})`;
}

/** A Redis that speaks TLS, or does not, where the other is expected, says nothing, or closes the connection. */
export function schemeHint(cause: unknown, isTls: boolean): string | undefined {
  const text = describeError(cause);
  if (isTls && /timeout|closed|tls|corrupt|InvalidContentType/i.test(text)) {
    return "no answer to TLS; if the port of Redis does not speak TLS, use redis:// in place of rediss://";
  }
  if (!isTls && /closed/i.test(text)) {
    return "closed without an answer; if the port of Redis speaks TLS, use rediss:// in place of redis://";
  }
  return undefined;
}
