/** Writes the frames of a WebSocket server (RFC 6455, section 5), several of them into one buffer. */
import { Buffer } from "node:buffer";

export type Outgoing =
  | string
  | Uint8Array
  | Frame;

/** A frame that is ready: its header and its payload, in one piece or in two. */
export type Frame = readonly Uint8Array[];

/** Whether a message is a frame that is ready, as are those of a broadcast and of a long text that is relayed. */
export function isFrame(message: Outgoing): message is Frame {
  return Array.isArray(message);
}

/** The payload of a frame that is an Engine.IO packet. */
export function payloadOf([first = NOTHING, second]: Frame): Uint8Array {
  if (second !== undefined) return second;
  const [, length = 0] = first;
  return first.subarray(
    length === LENGTH_OF_64_BITS ? MAX_HEADER_BYTES : length === LENGTH_OF_16_BITS ? 4 : 2,
  );
}

/** The bytes of all pieces of a frame. */
export function frameBytesOf(frame: Frame): number {
  return frame.reduce((sum, piece) => sum + piece.byteLength, 0);
}

const NOTHING = new Uint8Array(0);
const MAX_HEADER_BYTES = 10;
const MAX_BYTES_PER_UNIT = 3;
const MAX_SHORT_LENGTH = 125;
const LENGTH_OF_16_BITS = 126;
const LENGTH_OF_64_BITS = 127;
const MAX_16_BITS = 0xffff;
/** Texts up to this length get room for the most bytes that they may take; longer ones are measured. */
const MAX_ROOMY_LENGTH = 1024;

const FINAL_TEXT = 0x81;
const FINAL_BINARY = 0x82;
const FINAL_CLOSE = 0x88;
const FINAL_PONG = 0x8a;

/** The Engine.IO type of a packet with a Socket.IO packet. */
export const MESSAGE_TYPE = "4";

// The codes with which a WebSocket is closed (RFC 6455, section 7.4).
/** A WebSocket without a code in its close frame. */
export const NO_STATUS = 1005;
/** A WebSocket that ended without a close frame. */
export const ABNORMAL = 1006;
/** The peer broke the protocol. */
export const PROTOCOL_ERROR = 1002;
/** The peer sent text that is not UTF-8. */
export const INVALID_DATA = 1007;
/** The peer breaks a rule of the Server. */
export const POLICY_VIOLATION = 1008;
/** The peer sent a message that is far too large. */
export const TOO_BIG = 1009;
/** The Server has no room for the message now. */
export const TRY_AGAIN = 1013;

const encoder = new TextEncoder();

export function maxFrameBytes(message: Outgoing): number {
  if (isFrame(message)) return frameBytesOf(message);
  if (message instanceof Uint8Array) return MAX_HEADER_BYTES + message.byteLength;
  const isMeasured = message.length > MAX_ROOMY_LENGTH;
  return MAX_HEADER_BYTES + (isMeasured ? Buffer.byteLength(message) : message.length * MAX_BYTES_PER_UNIT);
}

/** Writes a message as one frame, and returns where it ends. */
export function writeFrame(buffer: Buffer, start: number, message: Outgoing): number {
  if (typeof message === "string") return writeText(buffer, start, message);
  let end = start;
  const pieces = isFrame(message) ? message : [message];
  if (!isFrame(message)) {
    end = writeHeader(buffer, start, { first: FINAL_BINARY, length: message.byteLength });
  }
  for (const piece of pieces) {
    buffer.set(piece, end);
    end += piece.byteLength;
  }
  return end;
}

function writeText(buffer: Buffer, start: number, text: string): number {
  const isShort = text.length * MAX_BYTES_PER_UNIT <= MAX_SHORT_LENGTH;
  const isMedium = text.length > MAX_SHORT_LENGTH && text.length * MAX_BYTES_PER_UNIT <= MAX_16_BITS;
  const bound = isShort || isMedium ? text.length : Buffer.byteLength(text);
  // The header comes first, and its size depends on the length, which only encoding tells.
  const payload = writeHeader(buffer, start, { first: FINAL_TEXT, length: bound });
  const { written } = encoder.encodeInto(text, buffer.subarray(payload));
  if (written !== bound) writeHeader(buffer, start, { first: FINAL_TEXT, length: written });
  return payload + written;
}

/** Writes the header of a text of `length` bytes and its first ones, which are ASCII, so that they end at `end`. */
export function writeBefore(
  buffer: Buffer,
  end: number,
  { beginning, length }: { readonly beginning: string; readonly length: number },
): number {
  const start = end - beginning.length - headerBytesFor(length);
  buffer.write(beginning, writeHeader(buffer, start, { first: FINAL_TEXT, length }), "latin1");
  return start;
}

function headerBytesFor(length: number): number {
  return length <= MAX_SHORT_LENGTH ? 2 : length <= MAX_16_BITS ? 4 : MAX_HEADER_BYTES;
}

function writeHeader(
  buffer: Buffer,
  start: number,
  { first, length }: { readonly first: number; readonly length: number },
): number {
  buffer[start] = first;
  if (length <= MAX_SHORT_LENGTH) {
    buffer[start + 1] = length;
    return start + 2;
  }
  if (length <= MAX_16_BITS) {
    buffer[start + 1] = LENGTH_OF_16_BITS;
    buffer.writeUInt16BE(length, start + 2);
    return start + 4;
  }
  buffer[start + 1] = LENGTH_OF_64_BITS;
  buffer.writeUInt32BE(Math.floor(length / 2 ** 32), start + 2);
  buffer.writeUInt32BE(length % 2 ** 32, start + 6);
  return start + MAX_HEADER_BYTES;
}

/** Builds a close frame; without a code, an empty one. A reason that is too long is cut, between two characters. */
export function buildClose(code: number | undefined, reason = ""): Frame {
  if (code === undefined) return [Uint8Array.of(FINAL_CLOSE, 0)];
  const text = Buffer.alloc(MAX_SHORT_LENGTH - 2);
  const size = text.write(reason);
  return [Uint8Array.of(FINAL_CLOSE, 2 + size, code >> 8, code & 0xff), text.subarray(0, size)];
}

export function buildPong(payload: Uint8Array): Frame {
  return [Uint8Array.of(FINAL_PONG, payload.byteLength), payload];
}
