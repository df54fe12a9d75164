/** The bounds of a Server, each an option or fixed by the reason in its comment. */
import { shorten } from "../protocol/shorten.ts";

/** The most bytes of one message; Socket.IO drops a connection that sends more. Announced in the handshake. */
export const DEFAULT_MAX_PAYLOAD_BYTES = 16 * 1024 * 1024;
/** How often a connection is asked whether it is still there. */
export const DEFAULT_PING_INTERVAL_MS = 25_000;
/** How long it may take to say so. */
export const DEFAULT_PING_TIMEOUT_MS = 20_000;
/** The most requests of one connection that may be open at a time; one more is answered 400. */
export const DEFAULT_MAX_OPEN_REQUESTS = 1024;
/**
 * The most arguments of an event or an ack. The protocol uses two; Socket.IO spreads them over the stack, so that one
 * frame with some hundred thousand of them would end the process.
 */
export const MAX_ARGUMENTS = 32;
/** The longest name of an event; a longer one is answered 400. */
export const MAX_EVENT_LENGTH = 128;
/** The longest `session` of a connection that is honoured. */
export const MAX_SESSION_LENGTH = 128;
/** How much of a text that a peer chose goes into a log line or a refusal. */
const MAX_QUOTED_LENGTH = 128;

/** Shortens a text that a peer chose. */
export function quoted(text: string): string {
  return shorten(text, MAX_QUOTED_LENGTH).toWellFormed();
}
