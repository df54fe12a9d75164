/** The connection to Redis: one server or a cluster. The only place that imports the client. */
import type { Logger } from "../../../log.ts";
import { abortable } from "../../../async/abortable.ts";
import { delay } from "../../../async/backoff.ts";
import { OutageLog, schemeHint } from "./outage_log.ts";
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
  onAway(): void;
  /** Called after a connection was lost and restored: messages may have been lost. */
  onRestored(): void;
  /** Whether Redis has ever carried out what this process wants of it. */
  hadTouch(): boolean;
}

/** The clients of one Redis or of a cluster, once they are connected. */
interface Link {
  isUp(): boolean;
  send(key: string, command: readonly string[]): Promise<unknown>;
  publish(channel: string, message: string): Promise<unknown>;
  subscribe(channel: string, onMessage: (message: string) => void): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  close(): void;
}

interface LinkContext {
  readonly address: RedisAddress;
  readonly heartbeatMs: number;
  readonly signal: AbortSignal;
  onError(cause: unknown): void;
  onLost(): void;
  /** @param isGap Whether messages may have been lost before. */
  onReady(isGap: boolean): void;
}

/** Commands and subscriptions. While Redis is away, all methods reject at once. */
export class RedisConnection {
  readonly publishCommand: "PUBLISH" | "SPUBLISH";
  readonly database: number;
  readonly #options: RedisConnectionOptions;
  readonly #address: RedisAddress;
  readonly #outages: OutageLog;
  readonly #unpublished = new Set<Promise<unknown>>();
  #link: Link | undefined;

  constructor(options: RedisConnectionOptions) {
    this.#options = options;
    this.#address = parseRedisUrl(options.url);
    this.#outages = new OutageLog(options.logger);
    this.publishCommand = this.#address.isCluster ? "SPUBLISH" : "PUBLISH";
    this.database = this.#address.database;
  }

  /** Whether every subscription is in place and commands are sent at once. */
  get isUp(): boolean {
    return this.#link?.isUp() ?? false;
  }

  /** Connects; resolves when Redis answers. It goes on trying until `signal` is aborted. */
  async open(signal: AbortSignal): Promise<void> {
    const { heartbeatMs, onAway, onRestored, hadTouch } = this.#options;
    const link = await (this.#address.isCluster ? linkCluster : linkSingle)({
      address: this.#address,
      heartbeatMs,
      signal,
      onError: (cause) => this.#onError(cause),
      onLost: onAway,
      onReady: (isGap) => {
        this.#outages.restored(hadTouch() ? "reached Redis again" : "reached Redis");
        if (isGap) onRestored();
      },
    });
    if (signal.aborted) link.close();
    signal.throwIfAborted();
    this.#link = link;
  }

  /** Sends a command whose first key or channel is `key`. */
  async send(key: string, command: readonly string[]): Promise<unknown> {
    return await this.#up().send(key, command);
  }

  /**
   * Publishes a message that may be large; resolves to the number of its receivers. Messages keep their order among each
   * other, so an answer follows the notifications before it. With one server, commands overtake them: a renewal of the
   * lease would otherwise wait until Redis has read megabytes.
   */
  async publish(channel: string, message: string): Promise<unknown> {
    const publishing = this.#up().publish(channel, message);
    this.#unpublished.add(publishing);
    try {
      return await publishing;
    } finally {
      this.#unpublished.delete(publishing);
    }
  }

  /** Resolves when Redis has carried out all that was published so far. */
  async published(): Promise<void> {
    await Promise.allSettled(this.#unpublished);
  }

  async subscribe(channel: string, onMessage: (message: string) => void): Promise<void> {
    await this.#up().subscribe(channel, onMessage);
  }

  async unsubscribe(channel: string): Promise<void> {
    await this.#up().unsubscribe(channel);
  }

  close(): void {
    this.#link?.close();
  }

  #up(): Link {
    if (this.#link?.isUp()) return this.#link;
    throw new TypeError("Cannot use Redis: it is away");
  }

  #onError(cause: unknown): void {
    const hadTouch = this.#options.hadTouch();
    const state = hadTouch ? "lost touch with Redis" : "cannot reach Redis";
    const hint = hadTouch ? undefined : schemeHint(cause, this.#address.isTls);
    const url = shownRedisUrl(this.#options.url);
    this.#outages.failed("error", `${state}; no member can join until it answers`, { url, cause, hint });
  }
}

function clientOptionsOf({ heartbeatMs }: LinkContext) {
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

async function linkSingle(context: LinkContext): Promise<Link> {
  const { createClient } = await import("@redis/client");
  const [url] = context.address.nodes;
  const commands = createClient({ url: url ?? "", RESP: 2, ...clientOptionsOf(context) });
  const subscriber = commands.duplicate();
  const publisher = commands.duplicate();
  const clients = [commands, subscriber, publisher];
  const isUp = () => clients.every(({ isReady }) => isReady);
  let wasUp = false;
  let isClosed = false;
  for (const client of clients) {
    client.on("error", context.onError);
    client.on("reconnecting", context.onLost);
    client.on("ready", () => {
      // One that was destroyed while its socket was being opened goes on, and would send pings for ever.
      if (isClosed) return client.destroy();
      if (!isUp()) return;
      context.onReady(wasUp);
      wasUp = true;
    });
  }
  const close = () => {
    isClosed = true;
    for (const client of clients) if (client.isOpen) client.destroy();
  };
  try {
    // The promise of a client that is closed meanwhile may never settle.
    await abortable(Promise.all(clients.map((client) => client.connect())), context.signal);
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
    close,
  };
}

async function linkCluster(context: LinkContext): Promise<Link> {
  const { createCluster } = await import("@redis/client");
  const { nodes, username, password, isTls } = context.address;
  const { socket, ...rest } = clientOptionsOf(context);
  let isClosed = false;
  const reconnectStrategy = (attempt: number) => !isClosed && waitBefore(attempt);
  const cluster = createCluster({
    RESP: 2,
    rootNodes: nodes.map((url) => ({ url })),
    defaults: {
      ...rest,
      socket: { ...socket, reconnectStrategy, ...(isTls ? { tls: true as const } : {}) },
      ...(username === undefined ? {} : { username }),
      ...(password === undefined ? {} : { password }),
    },
  });
  const close = () => {
    isClosed = true;
    cluster.destroy();
  };
  let isConnected = false;
  // The first subscription on a node opens a connection, too, but has missed nothing.
  let subscribing = 0;
  let lostAtMs = -Infinity;
  cluster.on("error", context.onError);
  cluster.on("node-error", context.onError);
  cluster.on("node-reconnecting", () => {
    lostAtMs = performance.now();
    context.onLost();
  });
  cluster.on("node-ready", () => {
    const isRestored = subscribing === 0 || performance.now() < lostAtMs + RESTORING_MS;
    context.onReady(isConnected && isRestored);
  });
  for (let attempt = 0; !isConnected; attempt++) {
    const connecting = cluster.connect();
    try {
      await abortable(connecting, context.signal);
      isConnected = true;
    } catch (error) {
      if (context.signal.aborted) {
        isClosed = true;
        // Not before: the nodes that are found are connected to even if the cluster was closed meanwhile.
        void connecting.catch(() => {}).finally(() => cluster.destroy());
        throw error;
      }
      cluster.destroy();
      context.onError(error);
      await delay(waitBefore(attempt), context.signal);
    }
  }
  return {
    isUp: () => cluster.isReady,
    send: (key, command) => cluster.sendCommand(key, false, [...command]),
    publish: (channel, message) => cluster.sendCommand(channel, false, ["SPUBLISH", channel, message]),
    subscribe: async (channel, onMessage) => {
      subscribing++;
      try {
        await cluster.sSubscribe(channel, onMessage);
      } finally {
        subscribing--;
      }
    },
    unsubscribe: (channel) => cluster.sUnsubscribe(channel),
    close,
  };
}
