/** The bounds on what an MCP server can cost its Computer. Those that a user may need otherwise are options. */

const MIB = 1024 * 1024;

/** Deadlines and limits of MCP servers; each has a default. */
export interface ServerLimits {
  /** How many servers are being started at a time; 64 by default. */
  readonly maxConcurrentStarts: number;
  /** From the start to the end of the initialisation, in milliseconds; 60,000 by default. */
  readonly startTimeoutMs: number;
  /**
   * The longest message of a server, in bytes, decompressed; 32 MiB by default. A server that sends a longer one is
   * ended and started again, whatever its transport. Over Streamable HTTP, an answer to a tool call or a read fails that
   * request alone.
   */
  readonly maxMessageBytes: number;
  /**
   * The most members and items of one message, in all its objects and lists together; 1,000,000 by default. They take
   * far more memory and time than their bytes tell. A list or an object counts for three; a name that no object before
   * had at this place for nine, but for the first thousand such names; a text of 2 to 10 bytes that did not occur before
   * for three; an escape in a text for a quarter, a byte beyond the first MiB for a 128th.
   */
  readonly maxMessageValues: number;
  /** The most bytes of one list of a server, all pages together; 16 MiB by default. What comes after is left out. */
  readonly maxListBytes: number;
  /**
   * How many changes of resources and lists are heard of one server in a second; 100 by default. Those above are heard
   * together when the second is over, each URI once.
   */
  readonly maxNotificationsPerSecond: number;
  /** How often an idle server is pinged, in milliseconds; 30,000 by default. */
  readonly pingIntervalMs: number;
  /** How long a ping may take, in milliseconds; 10,000 by default. */
  readonly pingTimeoutMs: number;
  /**
   * The first wait before a server that ended is started again, in milliseconds; 1,000 by default. Each further wait is
   * twice as long, up to a minute.
   */
  readonly restartDelayMs: number;
  /**
   * How long the process of a server may take to end after its stdin was closed, and again after SIGTERM, in
   * milliseconds; 1,500 by default. Then it is killed.
   */
  readonly stopGraceMs: number;
}

/** The defaults of {@linkcode ServerLimits}. */
export const DEFAULT_SERVER_LIMITS: ServerLimits = {
  maxConcurrentStarts: 64,
  startTimeoutMs: 60_000,
  maxMessageBytes: 32 * MIB,
  maxMessageValues: 1_000_000,
  maxListBytes: 16 * MIB,
  maxNotificationsPerSecond: 100,
  pingIntervalMs: 30_000,
  pingTimeoutMs: 10_000,
  restartDelayMs: 1_000,
  stopGraceMs: 1_500,
};

/** What bounds the messages of one server. */
export type MessageLimits = Pick<ServerLimits, "maxMessageBytes" | "maxMessageValues">;

/** A longer message of an HTTP server is read on when it has its turn, in bytes. */
export const LARGE_MESSAGE_BYTES = 65_536;
/** How many of those are read of one server at a time; the rest waits in its sockets. */
export const MAX_LARGE_MESSAGES = 1;
/** What all other unfinished messages of one HTTP server may hold together, in bytes. */
export const MAX_SMALL_MESSAGES_BYTES: number = 16 * MIB;
/** The most lines of one Server-Sent Event: MCP needs one or two. */
export const MAX_EVENT_LINES = 10_000;
/** How much of an event stream is handed on before anything else has its turn, in bytes. */
export const MAX_EVENT_BATCH_BYTES = 16_384;

/**
 * How much that nobody asked for is read of one server in a second: a notification counts 1, a request of the server's
 * {@linkcode REQUEST_WEIGHT}. The rest waits in its pipe or socket.
 */
export const MAX_UNASKED_PER_SECOND = 10_000;
/** How much may come at once before that counts. */
export const MAX_UNASKED_BURST = 20_000;
/** How many notifications a request of the server's counts for: it is answered. */
export const REQUEST_WEIGHT = 10;
/** What nobody asked for counts once more for every so many bytes. */
export const UNASKED_UNIT_BYTES = 2_048;
/** So many comments and empty lines of an event stream count as much as one notification. */
export const NOISE_LINES_PER_UNIT = 64;
/** How many answers to a server's own requests may wait for it; then nothing more is read of it. */
export const MAX_WAITING_ANSWERS = 64;
/** How long the messages of one server are handled before everything else has its turn, in milliseconds. */
export const MAX_TURN_MS = 10;

/** How many URIs of held back changes are remembered; when there are more, everything is looked at anew. */
export const MAX_HELD_URIS = 1_000;
/** The longest URI that is remembered for that, in characters. */
export const MAX_HELD_URI_LENGTH = 4_096;

/** The shortest time between two lists that a server's notifications ask for, in milliseconds. */
const MIN_RELIST_MS = 200;
/** How much of a list that changes again and again is read in a second, in bytes: a longer one is read less often. */
const MAX_RELIST_BYTES_PER_SECOND = MIB;

/** How long after the beginning of a list the next one begins at the earliest, in milliseconds. */
export function relistIntervalMs(listBytes: number): number {
  return Math.max(MIN_RELIST_MS, 1_000 * listBytes / MAX_RELIST_BYTES_PER_SECOND);
}

/** The most pages of one list that are followed. */
export const MAX_LIST_PAGES = 10_000;
/** The most entries of one list that are kept. */
export const MAX_LIST_ENTRIES = 100_000;

/** The shortest time between two openings of a standing stream, in milliseconds, whatever its server asks for. */
export const MIN_STREAM_INTERVAL_MS = 100;
