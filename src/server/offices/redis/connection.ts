/** The connection to Redis: one server or a cluster. The only place that imports the client. */
import type { Logger } from "../../../log.ts";
import { abortable } from "../../../async/abortable.ts";
import { delay } from "../../../async/backoff.ts";
import { describeError } from "../../../text.ts";
import { OutageLog } from "./outage_log.ts";
import { parseRedisUrl, type RedisAddress, shownRedisUrl } from "./settings.ts";

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
  readonly onAway: () => void;
  /** Called after a connection was lost and restored: messages may have been lost. */
  readonly onRestored: () => void;
  /** Whether Redis has ever carried out what this process wants of it. */
  readonly hadTouch: () => boolean;
}

/** Commands and subscriptions. While Redis is away, all methods reject at once. */
export interface RedisConnection {
  /** Whether every subscription is in place and commands are sent at once. */
  readonly isUp: boolean;
  readonly publishCommand: "PUBLISH" | "SPUBLISH";
  /** Sends a command whose first key or channel is `key`. */
  send(key: string, command: readonly string[]): Promise<unknown>;
  /**
   * Publishes a message that may be large; resolves to the number of its receivers. Messages keep their order among each
   * other, so an answer follows the notifications before it. With one server, commands overtake them: a renewal of the
   * lease would otherwise wait until Redis has read megabytes.
   */
  publish(channel: string, message: string): Promise<unknown>;
  /** Resolves when Redis has carried out all that was published so far. */
  published(): Promise<void>;
  subscribe(channel: string, onMessage: (message: string) => void): Promise<void>;
  unsubscribe(channel: string): Promise<void>;
  close(): void;
}

/** Connects; resolves when Redis answers. It goes on trying until `signal` is aborted. */
export function openRedis(options: RedisConnectionOptions, signal: AbortSignal): Promise<RedisConnection> {
  const address = parseRedisUrl(options.url);
  return address.isCluster ? openCluster(address, options, signal) : openSingle(address, options, signal);
}

function socketOptionsOf({ heartbeatMs }: RedisConnectionOptions) {
  return {
    connectTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SILENT_HEARTBEATS * heartbeatMs,
    reconnectStrategy: waitBefore,
  };
}

function waitBefore(attempt: number): number {
  const limitMs = Math.min(MAX_RECONNECT_MS, FIRST_RECONNECT_MS * 2 ** Math.min(attempt, 10));
  return limitMs / 2 + Math.random() * limitMs / 2;
}

async function openSingle(
  { nodes: [url = ""] }: RedisAddress,
  options: RedisConnectionOptions,
  signal: AbortSignal,
): Promise<RedisConnection> {
  const { createClient } = await import("@redis/client");
  const { heartbeatMs, onAway, onRestored } = options;
  const commands = createClient({
    url,
    RESP: 2,
    disableOfflineQueue: true,
    pingInterval: heartbeatMs,
    socket: socketOptionsOf(options),
  });
  const subscriber = commands.duplicate();
  const publisher = commands.duplicate();
  const clients = [commands, subscriber, publisher];
  const isUp = () => clients.every(({ isReady }) => isReady);
  let wasUp = false;
  let isClosed = false;
  const log = createErrorLog(options);
  for (const client of clients) {
    client.on("error", log.onError);
    client.on("reconnecting", onAway);
    client.on("ready", () => {
      // One that was destroyed while its socket was being opened goes on, and would send pings for ever.
      if (isClosed) return client.destroy();
      if (!isUp()) return;
      log.onRestored();
      if (wasUp) onRestored();
      wasUp = true;
    });
  }
  const close = () => {
    isClosed = true;
    for (const client of clients) if (client.isOpen) client.destroy();
  };
  try {
    // The promise of a client that is closed meanwhile may never settle.
    await abortable(Promise.all(clients.map((client) => client.connect())), signal);
  } catch (error) {
    close();
    throw error;
  }
  return {
    get isUp() {
      return isUp();
    },
    publishCommand: "PUBLISH",
    send: (_key, command) => commands.sendCommand(command),
    publish: (channel, message) => publisher.sendCommand(["PUBLISH", channel, message]),
    published: async () => void await publisher.sendCommand(["PING"]),
    subscribe: async (channel, onMessage) => {
      requireReady(subscriber.isReady);
      await subscriber.subscribe(channel, onMessage);
    },
    unsubscribe: async (channel) => {
      requireReady(subscriber.isReady);
      await subscriber.unsubscribe(channel);
    },
    close,
  };
}

/** Subscribing waits for the connection, unlike other commands. */
function requireReady(isReady: boolean): void {
  if (!isReady) throw new TypeError("Cannot subscribe: Redis is away");
}

async function openCluster(
  { nodes, username, password, isTls }: RedisAddress,
  options: RedisConnectionOptions,
  signal: AbortSignal,
): Promise<RedisConnection> {
  const { createCluster } = await import("@redis/client");
  const { heartbeatMs, onAway, onRestored } = options;
  const log = createErrorLog(options);
  let isClosed = false;
  const socket = {
    ...socketOptionsOf(options),
    reconnectStrategy: (attempt: number) => !isClosed && waitBefore(attempt),
    ...(isTls ? { tls: true as const } : {}),
  };
  const cluster = createCluster({
    RESP: 2,
    rootNodes: nodes.map((url) => ({ url })),
    defaults: {
      disableOfflineQueue: true,
      pingInterval: heartbeatMs,
      socket,
      ...(username === undefined ? {} : { username }),
      ...(password === undefined ? {} : { password }),
    },
  });
  const close = () => {
    isClosed = true;
    cluster.destroy();
  };
  const unpublished = new Set<Promise<unknown>>();
  let isConnected = false;
  const gaps = new Gaps();
  cluster.on("error", log.onError);
  cluster.on("node-error", log.onError);
  cluster.on("node-reconnecting", () => {
    gaps.onLost();
    onAway();
  });
  cluster.on("node-ready", () => {
    log.onRestored();
    if (isConnected && gaps.isGap()) onRestored();
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
      log.onError(error);
      await delay(waitBefore(attempt), signal);
    }
  }
  return {
    get isUp() {
      return cluster.isReady;
    },
    publishCommand: "SPUBLISH",
    send: (key, command) => cluster.sendCommand(key, false, [...command]),
    publish: (channel, message) => {
      const publishing = cluster.sendCommand(channel, false, ["SPUBLISH", channel, message]);
      const forget = () => void unpublished.delete(publishing);
      unpublished.add(publishing);
      publishing.then(forget, forget);
      return publishing;
    },
    published: async () => void await Promise.allSettled(unpublished),
    subscribe: (channel, onMessage) =>
      gaps.opening(async () => void await cluster.sSubscribe(channel, onMessage)),
    unsubscribe: async (channel) => void await cluster.sUnsubscribe(channel),
    close,
  };
}

/**
 * Tells which connections to the nodes of a cluster come after a gap in which messages may have been lost. The first
 * subscription on a node opens a connection, too, but has missed nothing.
 */
export class Gaps {
  readonly #nowMs: () => number;
  #lostAtMs = -Infinity;
  #subscribing = 0;

  /** @param nowMs Milliseconds since a fixed point; the monotonic clock by default. */
  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /** A connection was lost; it is being restored, or another one takes its place. */
  onLost(): void {
    this.#lostAtMs = this.#nowMs();
  }

  async opening(subscribe: () => Promise<void>): Promise<void> {
    this.#subscribing++;
    try {
      await subscribe();
    } finally {
      this.#subscribing--;
    }
  }

  /** Whether messages may have been lost before a connection became ready. */
  isGap(): boolean {
    return this.#subscribing === 0 || this.#nowMs() < this.#lostAtMs + RESTORING_MS;
  }
}

function createErrorLog({ logger, url, hadTouch }: RedisConnectionOptions) {
  const log = new OutageLog(logger);
  const fields = { url: shownRedisUrl(url) };
  const { isTls } = parseRedisUrl(url);
  return {
    onError(cause: unknown): void {
      const state = hadTouch() ? "lost touch with Redis" : "cannot reach Redis";
      const hint = hadTouch() ? undefined : schemeHint(cause, isTls);
      log.failed("error", `${state}; no member can join until it answers`, { ...fields, cause, hint });
    },
    onRestored(): void {
      log.restored(hadTouch() ? "reached Redis again" : "reached Redis");
    },
  };
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
