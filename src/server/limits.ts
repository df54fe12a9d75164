/** The fixed limits of a Server, with their reasons. */
import { CONSTANTS } from "./options/constants.ts";
import { OPTIONS } from "./options/table.ts";

/** The factor by which values of a message with attachments count, since Socket.IO searches and copies them. */
export const ATTACHED_VALUE_FACTOR = 4;
/** The share of it that one principal, or one address without credentials, may fill with messages that it does not finish. */
export const MESSAGE_SHARE = 1 / 4;
/** Messages up to this size are never refused for lack of that memory. */
export const SMALL_MESSAGE_BYTES = 64 * 1024;
/**
 * The most arguments of an event or an ack. The protocol uses two. Socket.IO passes them on the stack, so that a frame with
 * some hundred thousand arguments would crash the process.
 */
export const MAX_ARGUMENTS = 32;
/** The longest name of an event; a longer one is answered 400. */
export const MAX_EVENT_LENGTH = CONSTANTS.maxEventLength.value;
/** A connection must send less than this before its CONNECT packet. */
export const MAX_PENDING_BYTES = CONSTANTS.maxPendingBytes.value;
/** The same between CONNECT and admission: a few events of a client that does not wait. */
export const MAX_UNDECIDED_BYTES = CONSTANTS.maxUndecidedBytes.value;
/** The most chunks of a WebSocket in which those bytes may arrive: each chunk costs more than its bytes. */
export const MAX_PENDING_CHUNKS = 256;
/**
 * The most Engine.IO packets before admission. A client needs three: CONNECT and two to upgrade. Some clients send their
 * first events without waiting.
 */
export const MAX_PENDING_PACKETS = CONSTANTS.maxPendingPackets.value;
/** The most members and items in the JSON of a CONNECT packet: as objects they cost far more than as text. */
export const MAX_CONNECT_MEMBERS = 1024;
/** The most HTTP requests in one chunk before admission. Clients of Socket.IO do not pipeline. */
export const MAX_HEADS_PER_READ = CONSTANTS.maxHeadsPerRead.value;
/** How long a refused connection stays open, so that its client can read the reason. */
export const REFUSAL_LINGER_MS = 1_000;
/** When all places are taken, a new connection replaces one that has waited longer than this. */
export const REPLACEABLE_AFTER_MS = CONSTANTS.replaceableAfterMs.value;
/** TCP connections per connection that is not admitted yet: a client that polls uses two. */
export const SOCKETS_PER_PENDING_CONNECTION = 2;
/** The most TCP connections when the limit of the system cannot be read. */
export const FALLBACK_MAX_SOCKETS = 16_384;
/** The share of the system's limit of open files that TCP connections may use. */
export const SOCKET_SHARE_OF_FILES = 0.75;
/** Open files that are reserved for the rest of the program, in addition. */
export const RESERVED_FILES = 32;
/** The most packets in one polling answer: python-engineio closes the connection for more. */
export const MAX_POLLING_PACKETS = 16;
/** The most packets in one polling body: each costs far more than its bytes, and all are parsed at once. */
export const MAX_POSTED_PACKETS = CONSTANTS.maxPostedPackets.value;

/** Returns the most values of one message, in proportion to the largest message. */
export function maxValuesFor(maxPayloadBytes: number): number {
  return CONSTANTS.maxMessageValues.value * Math.max(1, maxPayloadBytes / OPTIONS.maxPayloadBytes.default);
}
