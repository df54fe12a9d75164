/** The parser of Socket.IO with bounds. */
import { Buffer } from "node:buffer";
import { Decoder, Encoder, type Packet, PacketType } from "socket.io-parser";
import { isDeeperThan, MAX_RELAYED_DEPTH } from "../../json/json.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { payloadTooLarge, SmcpError } from "../../protocol/errors.ts";
import { CLIENT_EVENT_PREFIX, SMCP_NAMESPACE } from "../../protocol/events.ts";
import { costOfTexts, MAX_COST_PER_BYTE, maxCostOf } from "../../json/cost.ts";
import { CONSTANTS } from "../options/constants.ts";
import { OPTIONS } from "../options/table.ts";
import { type Holding, noMemory } from "./budget.ts";
import { type Incoming, OversizeText } from "./incoming.ts";
import { RelayedText } from "./long_text.ts";
import {
  checkArguments,
  type CheckedArguments,
  MAX_ARGUMENTS,
  RawAnswer,
  rawArgumentsOf,
  type RawJson,
  RawRequest,
} from "./raw.ts";

/** The text before the JSON of an event or an ack: type, number of attachments, namespace, id. */
const HEAD = /^[2356](?:\d+-)?(?:\/[^,"]{0,128},)?\d{0,16}(?=\[)/;
const ATTACHED_TYPE = /^[56]/;
const ATTACHED_HEAD = /^[56](\d{1,2})-/;
/** The factor by which values of a packet with attachments count, since Socket.IO searches and copies them. */
const ATTACHED_VALUE_FACTOR = 4;
/** The most attachments of a packet: Socket.IO refuses more. */
const MAX_ATTACHMENTS = 10;
const EVENT_NAME = new RegExp(`"(?:[^"\\\\]|\\\\.){0,${CONSTANTS.maxEventLength.value}}"`, "y");

/** How a request to relay begins, up to the id of its ack; and an answer. */
const REQUEST_START = `2${SMCP_NAMESPACE},`;
const ANSWER_START = `3${SMCP_NAMESPACE},`;
/** The name of every event that is relayed begins like this. */
const REQUEST_ARGUMENTS = `["${CLIENT_EVENT_PREFIX}`;
/** An id of more digits is not exact as a number. */
const ACK_ID = /^\d{0,15}$/;

/**
 * Creates the `parser` option of Socket.IO. The decoder throws, which closes the connection, for a packet with more than
 * {@linkcode MAX_ARGUMENTS} arguments, and for attachments with more bytes than one message may have. If an event or an
 * ack has more values than a message may have, it parses only the name and the id, and puts a 413 {@linkcode SmcpError} in
 * place of the arguments.
 *
 * Requests to Computers and all acks keep their text ({@linkcode RawRequest}, {@linkcode RawAnswer}), and the encoder
 * writes it as it is. They are parsed once, to be sure that their receiver can, and to read what routing needs.
 *
 * A packet whose attachments are missing is not parsed yet, since its values would take more memory. It counts in the holding
 * of its decoder with its attachments, and when there is no room for it the decoder throws.
 */
export function createBoundedParser(options: ParserOptions): {
  readonly Encoder: new () => Encoder;
  readonly Decoder: new () => Decoder;
} {
  return {
    Encoder: RawEncoder,
    Decoder: class extends BoundedDecoder {
      constructor() {
        super(options);
      }
    },
  };
}

/** Returns the most values of one message, in proportion to the largest message. */
export function maxValuesFor(maxPayloadBytes: number): number {
  return CONSTANTS.maxMessageValues.value * Math.max(1, maxPayloadBytes / OPTIONS.maxPayloadBytes.default);
}

export interface ParserOptions {
  readonly maxPayloadBytes: number;
  /** Called for each decoder, when it is made. */
  readonly openHolding: () => Pick<Holding, "bytes" | "hold">;
}

interface AttachedPacket {
  /** Its text in UTF-8: a string may be a part of a polling body, all of which it would keep in memory. */
  readonly text: Buffer;
  readonly count: number;
  readonly attachments: Uint8Array[];
  bytes: number;
}

class RawEncoder extends Encoder {
  override encode(packet: Packet): ReturnType<Encoder["encode"]> {
    const { type, nsp, id = "", data } = packet;
    const raw = Array.isArray(data) ? rawArgumentsOf(data) : undefined;
    if (raw === undefined) return super.encode(packet);
    const head = `${type}${nsp},${id}`;
    const { content } = raw;
    return [typeof content === "string" ? head + content : content.toFrame(head)];
  }
}

class BoundedDecoder extends Decoder {
  readonly #maxPayloadBytes: number;
  readonly #maxValues: number;
  readonly #memory: Pick<Holding, "bytes" | "hold">;
  #attached: AttachedPacket | undefined;
  #refusal: SmcpError | undefined;

  constructor({ maxPayloadBytes, openHolding }: ParserOptions) {
    super();
    this.#maxPayloadBytes = maxPayloadBytes;
    this.#maxValues = maxValuesFor(maxPayloadBytes);
    this.#memory = openHolding();
    // Before the listener of Socket.IO, which is not called when this one throws.
    this.on("decoded", (packet: Packet) => this.#check(packet));
  }

  override destroy(): void {
    this.#dropAttached();
    super.destroy();
  }

  override add(part: Incoming): void {
    if (this.#attached !== undefined) {
      if (part instanceof Uint8Array) return this.#addAttachment(this.#attached, part);
      throw new RangeError("Another packet came before the attachments");
    }
    if (typeof part === "string") return this.#addText(part);
    if (part instanceof RelayedText) return this.#addLong(part);
    if (part instanceof OversizeText) return this.#addOversize(part);
    super.add(part);
  }

  #addText(text: string): void {
    const isAttached = ATTACHED_TYPE.test(text);
    const maxValues = isAttached ? this.#maxValues / ATTACHED_VALUE_FACTOR : this.#maxValues;
    if (text.length * MAX_COST_PER_BYTE > maxValues) {
      const [head] = HEAD.exec(text) ?? [];
      if (head === undefined) throw new RangeError("Too large for a packet of its type");
      const refusal = refusalOf(text.slice(head.length), maxValues);
      if (refusal !== undefined) return this.#addRefused(withoutBody(text, head), { refusal, isAttached });
    }
    if (isAttached) return this.#awaitAttachments(text);
    const raw = readRaw(text, text);
    if (raw !== undefined) return void this.emitReserved("decoded", raw);
    super.add(text);
  }

  #addLong(whole: RelayedText): void {
    const { short, hasEscapes, byteLength } = whole;
    const cost = maxCostOf(short, { cutLength: byteLength - short.length, hasEscapes });
    const raw = cost > this.#maxValues ? undefined : readRaw(short, whole);
    if (raw !== undefined) return void this.emitReserved("decoded", raw);
    this.#addText(whole.toString());
  }

  #addOversize({ beginning, sizeBytes }: OversizeText): void {
    const [head] = HEAD.exec(beginning) ?? [];
    if (head === undefined) throw new RangeError("Too large for a packet of its type");
    const limit = this.#maxPayloadBytes;
    const refusal = sizeBytes > limit ? payloadTooLarge({ size: sizeBytes, limit }) : noMemory(sizeBytes);
    this.#addRefused(withoutBody(beginning, head), { refusal, isAttached: ATTACHED_TYPE.test(beginning) });
  }

  #addRefused(
    rest: string,
    { refusal, isAttached }: { readonly refusal: SmcpError; readonly isAttached: boolean },
  ): void {
    if (isAttached) throw refusal;
    this.#refusal = refusal;
    try {
      super.add(rest);
    } finally {
      this.#refusal = undefined;
    }
  }

  #check({ type, data }: Packet): void {
    if (!Array.isArray(data)) return;
    if (data.length > MAX_ARGUMENTS) throw new RangeError("Too many arguments");
    if (this.#refusal !== undefined) data.push(this.#refusal);
    // What is passed on as a text was searched before.
    else if (rawArgumentsOf(data) === undefined && isDeeperThan(data, MAX_RELAYED_DEPTH)) {
      const isAnswer = type === PacketType.ACK || type === PacketType.BINARY_ACK;
      data.splice(isAnswer ? 0 : 1, Infinity, tooDeep());
    }
  }

  #awaitAttachments(text: string): void {
    const count = Number(ATTACHED_HEAD.exec(text)?.[1] ?? 0);
    if (count < 1 || count > MAX_ATTACHMENTS) throw new RangeError("Too many attachments, or none");
    this.#attached = { text: Buffer.from(text), count, attachments: [], bytes: 0 };
    this.#hold(this.#attached.text.length);
  }

  #addAttachment(attached: AttachedPacket, bytes: Uint8Array): void {
    attached.bytes += bytes.byteLength;
    if (attached.bytes > this.#maxPayloadBytes) throw new RangeError("Attachments too large");
    const { text, attachments, count } = attached;
    if (attachments.length + 1 < count) {
      attachments.push(withoutMore(bytes));
      return this.#hold(bytes.byteLength);
    }
    this.#dropAttached();
    super.add(text.toString());
    for (const attachment of attachments) super.add(attachment);
    super.add(bytes);
  }

  #hold(bytes: number): void {
    const size = this.#memory.bytes + bytes;
    if (this.#memory.hold(size)) return;
    this.#dropAttached();
    throw noMemory(size);
  }

  #dropAttached(): void {
    this.#attached = undefined;
    this.#memory.hold(0);
  }
}

/** Copies bytes that are a small part of a large buffer, which they would keep in memory. */
function withoutMore(bytes: Uint8Array): Uint8Array {
  return bytes.buffer.byteLength > 2 * bytes.byteLength ? Buffer.from(bytes) : bytes;
}

/**
 * Reads a packet whose text is passed on; `undefined` for any other packet.
 *
 * @throws {SyntaxError} when it is not JSON. {@linkcode RangeError} when it has too many arguments.
 */
function readRaw(text: string, whole: RawJson): Packet | undefined {
  const isAnswer = text.startsWith(ANSWER_START);
  if (!isAnswer && !text.startsWith(REQUEST_START)) return undefined;
  const start = text.indexOf("[", ANSWER_START.length);
  const digits = text.slice(ANSWER_START.length, start);
  if (start < 0 || !ACK_ID.test(digits)) return undefined;
  if (isAnswer ? digits === "" : !text.startsWith(REQUEST_ARGUMENTS, start)) return undefined;
  const json = typeof whole === "string" ? whole.slice(start) : whole.dropFront(start);
  const checked = checkArguments(text.slice(start), json);
  return isAnswer
    ? toAnswer(checked, Number(digits))
    : toRequest(checked, digits === "" ? undefined : Number(digits));
}

function toAnswer({ json, values, isTooDeep }: CheckedArguments, id: number): Packet {
  const data = isTooDeep ? tooDeep() : new RawAnswer(json, values[0]);
  return { type: PacketType.ACK, nsp: SMCP_NAMESPACE, id, data: [data] };
}

function toRequest({ json, values, isTooDeep }: CheckedArguments, id: number | undefined): Packet {
  const [event, body] = values;
  const data = values.length === 2 ? [event, new RawRequest(json, { body, isTooDeep })] : [...values];
  return { type: PacketType.EVENT, nsp: SMCP_NAMESPACE, ...(id === undefined ? {} : { id }), data };
}

function refusalOf(json: string, maxValues: number): SmcpError | undefined {
  try {
    if (costOfTexts([json], maxValues) <= maxValues) return undefined;
    return tooMuch(`it has more than ${maxValues} values (weighed by their cost)`);
  } catch (error) {
    if (error instanceof RangeError) return tooDeep();
    throw error;
  }
}

function tooDeep(): SmcpError {
  return tooMuch(`it is nested more than ${MAX_RELAYED_DEPTH} levels deep`);
}

function tooMuch(what: string): SmcpError {
  return new SmcpError(ErrorCode.PAYLOAD_TOO_LARGE, `Cannot relay a message: ${what}`, {
    details: { field: "body" },
  });
}

function withoutBody(packet: string, head: string): string {
  if (head.startsWith("3")) return `${head}[]`;
  EVENT_NAME.lastIndex = head.length + 1;
  const [name] = EVENT_NAME.exec(packet) ?? [];
  if (name === undefined) throw new RangeError("An event without a name");
  return `${head}[${name}]`;
}
