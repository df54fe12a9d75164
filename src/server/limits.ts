/** The bounds of a Server, each an option or fixed by the reason in its comment. */
import { shorten } from "../text.ts";
import type { LoadLimit, PaceLimit } from "./load.ts";

/** The most bytes of one message; Socket.IO drops a connection that sends more. Announced in the handshake. */
export const DEFAULT_MAX_PAYLOAD_BYTES = 16 * 1024 * 1024;
/**
 * The most values of one message of the largest default size, weighed by what they cost to read and to write again, as
 * a Computer weighs what its MCP servers send. As many take less than 100 ms.
 */
const MAX_MESSAGE_VALUES = 1_000_000;
/** A message with attachments is walked through and copied: its values count so many times. */
export const ATTACHED_VALUE_FACTOR = 4;
/** The time between two pings. */
export const DEFAULT_PING_INTERVAL_MS = 25_000;
/** How long a connection may take to answer a ping. */
export const DEFAULT_PING_TIMEOUT_MS = 20_000;
/** The longest time that an option may have: a day, as the longest time-out of a request. */
export const MAX_TIME_MS = 86_400_000;
/** The most requests of one connection that may be open at a time; one more is answered 400. */
export const DEFAULT_MAX_OPEN_REQUESTS = 1024;
/** How many times as many requests may be in flight to one Computer. */
const OWED_SHARE = 2;
/** How many times as many requests may be in flight in one office. */
const OFFICE_SHARE = 4;
/** The most bytes of requests in flight of one connection; one request more is refused. */
const MAX_ASKED_BYTES = 64 * 1024 * 1024;
/** The most bytes of requests in flight to one Computer. */
const MAX_OWED_BYTES = 64 * 1024 * 1024;
/** The most bytes of requests in flight in one office. */
const MAX_OFFICE_BYTES = 128 * 1024 * 1024;
/** The most observers of one office. */
export const MAX_OBSERVERS = 16;
/** What all observers of an office may have asked, of what its connections may have open: the rest is for the Agent. */
const OBSERVING_SHARE = 1 / 4;
/** The bytes of that. */
const MAX_OBSERVING_BYTES = 4 * 1024 * 1024;
/** The most bytes of an observer's request, about: it reads, and has nothing to send. */
export const MAX_OBSERVER_REQUEST_BYTES = 64 * 1024;
/**
 * How many bytes of notifications one connection may cause, as they wait for a reader: less than what lies between a
 * reader whose requests are refused and one whose connection is ended, so that nobody can be thrown out by notifications
 * of one sender. About 1,900 at once, and 30 a second.
 */
export const MAX_NOTIFYING: PaceLimit = { burst: 4 * 1024 * 1024, perSecond: 64 * 1024 };
/** The most log lines about the events of one connection in one {@linkcode LOG_WINDOW_MS}; the others are counted. */
export const MAX_LOG_LINES_PER_CONNECTION = 20;
/** The same of all connections together. */
export const MAX_LOG_LINES_PER_SERVER = 200;
/** The window of these limits. */
export const LOG_WINDOW_MS = 10_000;
/**
 * The most arguments of an event or an ack. The protocol uses two; Socket.IO spreads them over the stack, so that one
 * frame with some hundred thousand of them would end the process.
 */
export const MAX_ARGUMENTS = 32;
/** The longest name of an event; a longer one is answered 400. */
export const MAX_EVENT_LENGTH = 128;
/** How long a connection may take until it asks for the namespace (CONNECT). */
export const DEFAULT_CONNECT_TIMEOUT_MS = 5_000;
/** How long an `AuthProvider` may take to decide. */
export const DEFAULT_AUTH_TIMEOUT_MS = 10_000;
/** The most connections that are not admitted yet, of all addresses. */
export const DEFAULT_MAX_STRANGERS = 512;
/** The same of one address; an IPv6 network of 64 bits counts as one address. */
export const DEFAULT_MAX_STRANGERS_PER_ADDRESS = 64;
/** A connection may send less than this before admission. */
export const MAX_STRANGER_BYTES = 64 * 1024;
/** The same after its CONNECT, which is kept until the decision: a few events of a client that does not wait for it. */
export const MAX_UNDECIDED_BYTES = 8 * 1024;
/** The most pieces in which those bytes may come over a websocket: each costs more than its bytes. */
export const MAX_STRANGER_CHUNKS = 256;
/**
 * The most Engine.IO packets before admission. A client needs three, its CONNECT and two to upgrade, and some clients send
 * their first events at once.
 */
export const MAX_STRANGER_PACKETS = 64;
/** The most members and items of the JSON of a CONNECT packet: they cost far more as objects than as text. */
export const MAX_CONNECT_MEMBERS = 1024;
/** The most heads of HTTP requests in one piece of data before admission. Clients of Socket.IO send one. */
export const MAX_HEADS_PER_READ = 4;
/** How long a refused connection stays open, so that its client reads why and closes it by itself. */
export const REFUSAL_LINGER_MS = 1_000;
/** A connection that waits longer than this gives its place to a new one when all places are taken. */
export const REPLACEABLE_AFTER_MS = 1_000;
/** TCP connections per pending connection of one address: a client that polls uses two. */
export const SOCKETS_PER_STRANGER = 2;
/** How long the head of an HTTP request may take; a TCP connection that sends nothing is closed then, too. */
export const DEFAULT_HEAD_TIMEOUT_MS = 10_000;
/** How long a whole HTTP request may take: a member with a slow line needs minutes for a message of the largest size. */
export const REQUEST_TIMEOUT_MS = 300_000;
/** How often requests are checked for these time-outs. */
export const REQUEST_CHECK_INTERVAL_MS = 2_000;
/** The most TCP connections where the limit of the system cannot be read. */
export const FALLBACK_MAX_SOCKETS = 16_384;
/** The share of the system's limit of open files that TCP connections may use. */
export const SOCKET_SHARE_OF_FILES = 0.75;
/** Open files that are left to the rest of the program, beside that share. */
export const RESERVED_FILES = 32;
/** How often the Server checks that it still accepts connections. */
export const ACCEPT_CHECK_INTERVAL_MS = 2_000;
/** How long its own connection may take to be accepted. */
export const ACCEPT_CHECK_TIMEOUT_MS = 1_000;
/** After so many failed checks in a row the Server listens again. */
export const FAILED_CHECKS_BEFORE_RELISTEN = 2;
/** After so many failed checks in a row, with attempts to listen again between them, the Server gives up. */
export const FAILED_CHECKS_BEFORE_FAILURE = 10;
/** The most log lines about refusals in one {@linkcode REFUSAL_LOG_WINDOW_MS}; the others are counted. */
export const MAX_REFUSAL_LINES = 20;
/** The window of {@linkcode MAX_REFUSAL_LINES}. */
export const REFUSAL_LOG_WINDOW_MS = 60_000;
/** The most packets of one polling answer: python-engineio drops the connection for one more. */
export const MAX_POLLING_PACKETS = 16;
/** The most packets of one polling body: each costs far more than its bytes, and all are read at once. */
export const MAX_POSTED_PACKETS = 16_384;
/** The longest `session` of a connection; a longer one is ignored. */
export const MAX_SESSION_LENGTH = 128;
/** How much of a text that a peer chose goes into a log line or a refusal. */
const MAX_QUOTED_LENGTH = 128;

/** The limits of requests in flight. */
export interface LoadLimits {
  /** Of one connection. */
  readonly asked: LoadLimit;
  /** To one Computer. */
  readonly owed: LoadLimit;
  /** In one office. */
  readonly office: LoadLimit;
  /** Asked by all observers of one office. */
  readonly observing: LoadLimit;
}

/** The limits of a Server, by the most open requests of one connection. */
export function loadLimitsFor(maxOpenRequests: number): LoadLimits {
  return {
    asked: { requests: maxOpenRequests, bytes: MAX_ASKED_BYTES },
    owed: { requests: OWED_SHARE * maxOpenRequests, bytes: MAX_OWED_BYTES },
    office: { requests: OFFICE_SHARE * maxOpenRequests, bytes: MAX_OFFICE_BYTES },
    observing: { requests: Math.ceil(OBSERVING_SHARE * maxOpenRequests), bytes: MAX_OBSERVING_BYTES },
  };
}

/** The most values of one message: more where larger messages are allowed. */
export function maxValuesFor(maxPayloadBytes: number): number {
  return MAX_MESSAGE_VALUES * Math.max(1, maxPayloadBytes / DEFAULT_MAX_PAYLOAD_BYTES);
}

/** Shortens a text that a peer chose. */
export function quoted(text: string): string {
  return shorten(text, MAX_QUOTED_LENGTH).toWellFormed();
}
