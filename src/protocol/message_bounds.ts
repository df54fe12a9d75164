/** The bounds of a message: how deeply its members are nested, and whether it fits into the connection. */
import { isRecord } from "../json/json.ts";
import { isDeeperThan, MAX_REQUEST_DEPTH, surelyFits } from "../json/measure.ts";
import { shorten } from "../text/text.ts";
import { ErrorCode } from "./error_codes.ts";
import { SmcpError } from "./errors.ts";
import { unreadable } from "./schema.ts";

const MAX_FIELD_LENGTH = 128;
/** An upper bound for what the event name, packet type, namespace and ack id add to the JSON of a message. */
const ENVELOPE_BYTES = 256;

const encoder = new TextEncoder();
/** A long text is measured piece by piece. */
const piece = new Uint8Array(16_384);

/**
 * Throws a 400 {@linkcode SmcpError} whose `details.field` names the first member of a request's body that is nested
 * more than {@linkcode MAX_REQUEST_DEPTH} levels deep: recursive readers use stack for each level.
 */
export function assertShallow(body: unknown): void {
  if (!isRecord(body)) return;
  for (const field of Object.keys(body)) {
    if (!isDeeperThan(body[field], MAX_REQUEST_DEPTH)) continue;
    const why = `nested more than ${MAX_REQUEST_DEPTH} levels deep`;
    throw unreadable("request", shorten(field, MAX_FIELD_LENGTH), why);
  }
}

/**
 * Throws a 413 when `message` does not fit into `limitBytes`: Socket.IO would close the connection. For nearly all
 * messages an upper bound is enough, which needs no serialization.
 */
export function assertFits(message: unknown, limitBytes: number): void {
  if (surelyFits(message, limitBytes - ENVELOPE_BYTES)) return;
  const size = utf8Length(JSON.stringify(message) ?? "") + ENVELOPE_BYTES;
  if (size > limitBytes) throw payloadTooLarge({ size, limit: limitBytes });
}

/** A 413 with the size of the message and the limit of the connection. */
export function payloadTooLarge(
  { size, limit }: { readonly size: number; readonly limit: number },
): SmcpError {
  return new SmcpError(
    ErrorCode.PAYLOAD_TOO_LARGE,
    `Cannot send a message of ${size} bytes: the limit of this connection is ${limit}`,
    { details: { size, limit } },
  );
}

/** The length of a text in UTF-8. Needs no copy of a long text. */
function utf8Length(text: string): number {
  let bytes = 0;
  for (let start = 0; start < text.length;) {
    // A unit takes a byte at least, so that a character at the end of the slice does not fit in half.
    const { read, written } = encoder.encodeInto(text.slice(start, start + piece.length), piece);
    bytes += written;
    start += read;
  }
  return bytes;
}
