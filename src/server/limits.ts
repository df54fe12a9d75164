/** The fixed limits of a Server, with their reasons. */
import { type Rate, rateOf } from "../async/token_bucket.ts";
import { shorten } from "../text.ts";
import type { LoadLimit } from "./relay/pending_requests.ts";
import { OPTIONS } from "./options/table.ts";

/**
 * The most values of one message with the default size limit, weighed by the cost to parse and write them, as a Computer
 * weighs the messages of its MCP servers. A message at this limit takes less than 100 ms.
 */
const MAX_MESSAGE_VALUES = 1_000_000;
/** The factor by which values of a message with attachments count, since Socket.IO searches and copies them. */
export const ATTACHED_VALUE_FACTOR = 4;
/** The multiple of the most open requests of one connection that may be in flight to one Computer. */
const TARGET_SHARE = 2;
/** The same in one office. */
const OFFICE_SHARE = 4;
/** The most bytes of requests in flight of one connection; beyond it, requests are refused. */
const MAX_REQUESTER_BYTES = 64 * 1024 * 1024;
/** The most bytes of requests in flight to one Computer. */
const MAX_TARGET_BYTES = 64 * 1024 * 1024;
/** The most bytes of requests in flight in one office. */
const MAX_OFFICE_BYTES = 128 * 1024 * 1024;
/** The seconds whose new connections may come at once, so that all clients can return after a restart. */
export const CONNECTS_BURST_SECONDS = 200;
/** The seconds whose requests may come at once. */
export const REQUESTS_BURST_SECONDS = 5;
/** The most quotas that are kept while nothing uses them, of principals and of addresses each. */
export const MAX_IDLE_QUOTAS = 4_096;
/** How many messages of the largest size fit into `maxMessageMemoryBytes` at least. */
export const MIN_MESSAGES_IN_MEMORY = 4;
/** The share of it that one principal, or one address without credentials, may fill with messages that it does not finish. */
export const MESSAGE_SHARE = 1 / 4;
/** Messages up to this size are never refused for lack of that memory. */
export const SMALL_MESSAGE_BYTES = 64 * 1024;
/** The most observers of one office. */
export const MAX_OBSERVERS = 16;
/** The share of the open requests of one connection that all observers of an office may use together. */
const OBSERVERS_SHARE = 1 / 4;
/** The most bytes of requests in flight of all observers of an office. */
const MAX_OBSERVERS_BYTES = 4 * 1024 * 1024;
/** The approximate size limit of an observer's request: observers only read. */
export const MAX_OBSERVER_REQUEST_BYTES = 64 * 1024;
/**
 * The bytes of notifications that one connection may cause, as they wait for one receiver. It is less than the margin
 * between refusing requests to a slow receiver and closing its connection, so that one sender cannot cause the closing.
 * About 1,900 notifications at once, and 30 per second.
 */
export const MAX_NOTIFYING: Rate = { burst: 4 * 1024 * 1024, perSecond: 64 * 1024 };
/** The log lines about the events of one connection, and of all connections together; further lines are counted. */
export const CONNECTION_LINES = rateOf(20, 10_000);
export const ALL_CONNECTIONS_LINES = rateOf(200, 10_000);
/** The lines about errors of Computers that one connection is relayed, and all connections together. */
export const RELAYED_ERROR_LINES = rateOf(300, 10_000);
export const ALL_RELAYED_ERRORS_LINES = rateOf(3_000, 10_000);
/** The lines about connections, joins and leaves, which an audit wants complete: more than a busy Server has. */
export const AUDIT_LINES = rateOf(5_000, 10_000);
/** The lines about refused connections. */
export const REFUSAL_LINES = rateOf(20, 60_000);
/**
 * The most arguments of an event or an ack. The protocol uses two. Socket.IO passes them on the stack, so that a frame with
 * some hundred thousand arguments would crash the process.
 */
export const MAX_ARGUMENTS = 32;
/** The longest name of an event; a longer one is answered 400. */
export const MAX_EVENT_LENGTH = 128;
/** The most events of a connection that wait while its membership changes; one more is answered 400. */
export const MAX_HELD_EVENTS = 64;
/** The bytes of such events beyond which no further one waits. */
export const MAX_HELD_BYTES = 1024 * 1024;
/** The least time between two attempts of a connection to renew its credentials. */
export const MIN_RENEWAL_INTERVAL_MS = 1_000;
/** A connection must send less than this before its CONNECT packet. */
export const MAX_PENDING_BYTES = 64 * 1024;
/** The same between CONNECT and admission: a few events of a client that does not wait. */
export const MAX_UNDECIDED_BYTES = 8 * 1024;
/** The most chunks of a WebSocket in which those bytes may arrive: each chunk costs more than its bytes. */
export const MAX_PENDING_CHUNKS = 256;
/**
 * The most Engine.IO packets before admission. A client needs three: CONNECT and two to upgrade. Some clients send their
 * first events without waiting.
 */
export const MAX_PENDING_PACKETS = 64;
/** The most members and items in the JSON of a CONNECT packet: as objects they cost far more than as text. */
export const MAX_CONNECT_MEMBERS = 1024;
/** The most HTTP requests in one chunk before admission. Clients of Socket.IO do not pipeline. */
export const MAX_HEADS_PER_READ = 4;
/** How long a refused connection stays open, so that its client can read the reason. */
export const REFUSAL_LINGER_MS = 1_000;
/** When all places are taken, a new connection replaces one that has waited longer than this. */
export const REPLACEABLE_AFTER_MS = 1_000;
/** TCP connections per connection that is not admitted yet: a client that polls uses two. */
export const SOCKETS_PER_PENDING_CONNECTION = 2;
/** How long an HTTP request may take: a slow member needs minutes for the largest message. */
export const REQUEST_TIMEOUT_MS = 300_000;
/** How often these two time-outs are checked. */
export const REQUEST_CHECK_INTERVAL_MS = 2_000;
/** The most TCP connections when the limit of the system cannot be read. */
export const FALLBACK_MAX_SOCKETS = 16_384;
/** The share of the system's limit of open files that TCP connections may use. */
export const SOCKET_SHARE_OF_FILES = 0.75;
/** Open files that are reserved for the rest of the program, in addition. */
export const RESERVED_FILES = 32;
/** How often the Server checks whether it still accepts connections. */
export const ACCEPT_CHECK_INTERVAL_MS = 2_000;
/** How long the acceptance of the check's connection may take. */
export const ACCEPT_CHECK_TIMEOUT_MS = 1_000;
/** Consecutive failed checks after which the Server listens again. */
export const FAILED_CHECKS_BEFORE_RELISTEN = 2;
/** Consecutive failed checks after which the Server fails. */
export const FAILED_CHECKS_BEFORE_FAILURE = 10;
/** How long it still relays new requests, so that peers hear the farewell before a request of theirs is refused. */
export const DRAIN_GRACE_MS = 250;
/** The share of the whole time that this may take. */
export const DRAIN_GRACE_SHARE = 1 / 4;
/** The end of the whole time, in which the last requests fail, the last answers are written and everything is closed. */
export const DRAIN_CLOSING_MS = 1_000;
/** The share of the whole time that this may take. */
export const DRAIN_CLOSING_SHARE = 1 / 4;
/** The share of that in which the last answers may be written. */
export const DRAIN_FLUSH_SHARE = 1 / 4;
/** How often it looks for connections without requests in flight. */
export const DRAIN_CHECK_INTERVAL_MS = 20;
/** The time between the returns of two peers, on average: other processes admit about a thousand per second. */
export const RETURN_INTERVAL_MS = 1;
/** The most TCP connections to the port of the metrics. */
export const MAX_METRICS_SOCKETS = 64;
/** The most packets in one polling answer: python-engineio closes the connection for more. */
export const MAX_POLLING_PACKETS = 16;
/** The most packets in one polling body: each costs far more than its bytes, and all are parsed at once. */
export const MAX_POSTED_PACKETS = 16_384;
/** The longest `session`; a longer one is ignored. */
export const MAX_SESSION_LENGTH = 128;
/** The length to which a peer's text is cut in log lines and refusals. */
const MAX_QUOTED_LENGTH = 128;

export interface LoadLimits {
  /** Requests of one connection. */
  readonly requester: LoadLimit;
  /** Requests to one Computer. */
  readonly target: LoadLimit;
  /** Requests in one office. */
  readonly office: LoadLimit;
  /** Requests of all observers of one office. */
  readonly observers: LoadLimit;
}

/** Derives the limits from the most open requests of one connection. */
export function loadLimitsFor(maxOpenRequests: number): LoadLimits {
  return {
    requester: { requests: maxOpenRequests, bytes: MAX_REQUESTER_BYTES },
    target: { requests: TARGET_SHARE * maxOpenRequests, bytes: MAX_TARGET_BYTES },
    office: { requests: OFFICE_SHARE * maxOpenRequests, bytes: MAX_OFFICE_BYTES },
    observers: { requests: Math.ceil(OBSERVERS_SHARE * maxOpenRequests), bytes: MAX_OBSERVERS_BYTES },
  };
}

/** Returns the most values of one message, in proportion to the largest message. */
export function maxValuesFor(maxPayloadBytes: number): number {
  return MAX_MESSAGE_VALUES * Math.max(1, maxPayloadBytes / OPTIONS.maxPayloadBytes.default);
}

/** Shortens a peer's text for log lines and refusals. */
export function quoted(text: string): string {
  return shorten(text, MAX_QUOTED_LENGTH).toWellFormed();
}
