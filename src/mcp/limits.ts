/** The bounds on the cost of an MCP server: options with defaults, and fixed limits. */
import { type Rate, rateOf } from "../async/token_bucket.ts";

const MIB = 1024 * 1024;

/** Time-outs and limits of MCP servers; each has a default. */
export interface ServerLimits {
  /** The most servers that start at the same time; 64 by default. */
  readonly maxConcurrentStarts: number;
  /** The time for starting and initializing a server, in milliseconds; 60,000 by default. */
  readonly startTimeoutMs: number;
  /**
   * The largest message of a server, in bytes, decompressed; 64 MiB by default, for a catalogue of 100,000 documents. A
   * larger answer fails its request. A server that goes on sending larger messages is restarted.
   */
  readonly maxMessageBytes: number;
  /**
   * The most values of one message, in all its objects and lists together; 6,000,000 by default, for a list of 100,000
   * resources. Values cost far more
   * memory and time than their bytes. A list or an object counts as three; a new member name as nine, after the first
   * thousand; a new text of 2 to 10 bytes as three; an escape in a text as a quarter; a byte after the first MiB as a 128th.
   */
  readonly maxMessageValues: number;
  /** The most bytes of one list of a server, all pages together, and of what is kept of it; 64 MiB by default. The rest is left out. */
  readonly maxListBytes: number;
  /**
   * The most notifications about resources and lists that are handled per server and second; 100 by default. Further ones
   * are handled together at the end of the second, each URI once.
   */
  readonly maxNotificationsPerSecond: number;
  /** The time between two pings of an idle server, in milliseconds; 30,000 by default. */
  readonly pingIntervalMs: number;
  /**
   * How long the answer to a ping may take, and that to the question which versions of MCP a server speaks, in
   * milliseconds; 10,000 by default.
   */
  readonly pingTimeoutMs: number;
  /**
   * The first wait before a restart, in milliseconds; 1,000 by default. Each further wait is twice as long, up to a
   * minute.
   */
  readonly restartDelayMs: number;
  /**
   * How long a server process may take to exit after its stdin was closed, and again after SIGTERM, in milliseconds; 1,500
   * by default. After that it is killed.
   */
  readonly stopGraceMs: number;
}

export const DEFAULT_SERVER_LIMITS: ServerLimits = {
  maxConcurrentStarts: 64,
  startTimeoutMs: 60_000,
  maxMessageBytes: 64 * MIB,
  maxMessageValues: 6_000_000,
  maxListBytes: 64 * MIB,
  maxNotificationsPerSecond: 100,
  pingIntervalMs: 30_000,
  pingTimeoutMs: 10_000,
  restartDelayMs: 1_000,
  stopGraceMs: 1_500,
};

export type MessageLimits = Pick<ServerLimits, "maxMessageBytes" | "maxMessageValues">;

/** A larger message of an HTTP server waits for its turn, in bytes. */
export const MAX_UNQUEUED_BYTES = 65_536;
/** The number of larger messages that are read at the same time, per server; the others wait in their sockets. */
export const MAX_LARGE_MESSAGES = 1;
/** The most lines of one Server-Sent Event: MCP needs one or two. */
export const MAX_EVENT_LINES = 10_000;

/**
 * The unrequested messages that are read of one server: a notification counts 1, a request of the server
 * {@linkcode REQUEST_WEIGHT}. The rest waits in its pipe or socket.
 */
export const UNASKED: Rate = { burst: 20_000, perSecond: 10_000 };
/** The weight of a request of the server, which has to be answered. */
export const REQUEST_WEIGHT = 10;
/** An unrequested message counts once more per this many bytes. */
export const UNASKED_UNIT_BYTES = 2_048;
/** The number of comments and empty lines of an event stream that count as one notification. */
export const NOISE_LINES_PER_UNIT = 64;
/** The most unread answers to requests of the server; beyond that, it is not read. */
export const MAX_WAITING_ANSWERS = 64;
/** The messages above a limit; a server that sends more is ended. */
export const OVERSIZED: Rate = rateOf(10, 60_000);
/** How long messages of one server are handled before other work gets its turn, in milliseconds. */
export const MAX_TURN_MS = 10;

/** The most URIs of delayed notifications; beyond that, everything is read again. */
export const MAX_HELD_URIS = 1_000;
/** The longest URI among them, in characters. */
export const MAX_HELD_URI_LENGTH = 4_096;

/** The shortest time between two lists after notifications, in milliseconds. */
const MIN_RELIST_MS = 200;
/** The most bytes per second of a list that keeps changing: a longer list is read less often. */
const MAX_RELIST_BYTES_PER_SECOND = MIB;

/** Returns the shortest time between the beginnings of two lists, in milliseconds. */
export function relistIntervalMs(listBytes: number): number {
  return Math.max(MIN_RELIST_MS, 1_000 * listBytes / MAX_RELIST_BYTES_PER_SECOND);
}

export const MAX_LIST_PAGES = 10_000;
/** The most entries of one list: 100,000 documents beside other resources. */
export const MAX_LIST_ENTRIES = 150_000;

/** The shortest time between two attempts to open the standalone event stream, in milliseconds. */
export const MIN_STREAM_INTERVAL_MS = 100;
