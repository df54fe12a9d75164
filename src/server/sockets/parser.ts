/** The parser of Socket.IO with bounds. */
import { Decoder, Encoder, type Packet } from "socket.io-parser";
import { MAX_MESSAGE_DEPTH } from "../../protocol/depth.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { SmcpError } from "../../protocol/errors.ts";
import { costOfTexts, MAX_COST_PER_BYTE } from "../../protocol/json_cost.ts";
import { ATTACHED_VALUE_FACTOR, MAX_ARGUMENTS, MAX_EVENT_LENGTH, maxValuesFor } from "../limits.ts";

/** The text before the JSON of an event or an ack: type, number of attachments, namespace, id. */
const HEAD = /^[2356](?:\d+-)?(?:\/[^,"]{0,128},)?\d{0,16}(?=\[)/;
/** The types of packets with attachments. */
const ATTACHED_TYPE = /^[56]/;
const EVENT_NAME = new RegExp(`"(?:[^"\\\\]|\\\\.){0,${MAX_EVENT_LENGTH}}"`, "y");

/** Bodies of large messages without attachments: the encoder does not search them for binary data. */
type TextBodies = WeakSet<object>;

/**
 * Creates the `parser` option of Socket.IO. The decoder throws, which closes the connection, for a packet with more than
 * {@linkcode MAX_ARGUMENTS} arguments, and for attachments with more bytes than one message may have. If an event or an
 * ack has more values than a message may have, it parses only the name and the id, and puts a 413 {@linkcode SmcpError} in
 * place of the arguments.
 */
export function createBoundedParser(maxPayloadBytes: number): {
  readonly Encoder: new () => Encoder;
  readonly Decoder: new () => Decoder;
} {
  const textBodies: TextBodies = new WeakSet();
  return {
    Encoder: class extends TextBodyEncoder {
      constructor() {
        super(textBodies);
      }
    },
    Decoder: class extends BoundedDecoder {
      constructor() {
        super(maxPayloadBytes, textBodies);
      }
    },
  };
}

class TextBodyEncoder extends Encoder {
  readonly #textBodies: TextBodies;

  constructor(textBodies: TextBodies) {
    super();
    this.#textBodies = textBodies;
  }

  /** Skips the search for binary data, which takes as long as writing a large packet. */
  override encode(packet: Packet): ReturnType<Encoder["encode"]> {
    const { type, nsp, id = "", data } = packet;
    if (!Array.isArray(data) || !data.some((part) => this.#textBodies.has(part))) return super.encode(packet);
    if (!data.every((part) => typeof part !== "object" || this.#textBodies.has(part))) {
      return super.encode(packet);
    }
    return [`${type}${nsp === "/" ? "" : `${nsp},`}${id}${JSON.stringify(data)}`];
  }
}

class BoundedDecoder extends Decoder {
  readonly #maxAttachmentBytes: number;
  readonly #maxValues: number;
  readonly #textBodies: TextBodies;
  /** The bytes of the current packet's attachments. */
  #attachmentBytes = 0;
  /** State of the packet that is being parsed. */
  #isLargeText = false;
  #refusal: SmcpError | undefined;

  constructor(maxPayloadBytes: number, textBodies: TextBodies) {
    super();
    this.#maxAttachmentBytes = maxPayloadBytes;
    this.#maxValues = maxValuesFor(maxPayloadBytes);
    this.#textBodies = textBodies;
    // Before the listener of Socket.IO, which is not called when this one throws.
    this.on("decoded", (packet: Packet) => this.#check(packet));
  }

  override add(part: unknown): void {
    if (typeof part === "string") return this.#addText(part);
    this.#countAttachment(part);
    super.add(part);
  }

  #addText(text: string): void {
    const isAttached = ATTACHED_TYPE.test(text);
    const maxValues = isAttached ? this.#maxValues / ATTACHED_VALUE_FACTOR : this.#maxValues;
    if (text.length * MAX_COST_PER_BYTE <= maxValues) return super.add(text);
    const [head] = HEAD.exec(text) ?? [];
    if (head === undefined) throw new RangeError("Too large for a packet of its type");
    this.#refusal = refusalOf(text.slice(head.length), maxValues);
    if (isAttached && this.#refusal !== undefined) throw this.#refusal;
    this.#isLargeText = !isAttached;
    try {
      super.add(this.#refusal === undefined ? text : withoutBody(text, head));
    } finally {
      this.#isLargeText = false;
      this.#refusal = undefined;
    }
  }

  #check({ data }: Packet): void {
    this.#attachmentBytes = 0;
    if (!Array.isArray(data)) return;
    if (data.length > MAX_ARGUMENTS) throw new RangeError("Too many arguments");
    if (this.#refusal !== undefined) return void data.push(this.#refusal);
    if (!this.#isLargeText) return;
    for (const part of data) if (typeof part === "object" && part !== null) this.#textBodies.add(part);
  }

  #countAttachment(part: unknown): void {
    if (part instanceof Uint8Array) this.#attachmentBytes += part.byteLength;
    if (this.#attachmentBytes > this.#maxAttachmentBytes) throw new RangeError("Attachments too large");
  }
}

/** Returns the refusal of a JSON text that is too costly to parse. */
function refusalOf(json: string, maxValues: number): SmcpError | undefined {
  try {
    if (costOfTexts([json], maxValues) <= maxValues) return undefined;
    return tooMuch(`it has more than ${maxValues} values (weighed by their cost)`);
  } catch (error) {
    if (error instanceof RangeError) {
      return tooMuch(`it is nested more than ${MAX_MESSAGE_DEPTH} levels deep`);
    }
    throw error;
  }
}

function tooMuch(what: string): SmcpError {
  return new SmcpError(ErrorCode.PAYLOAD_TOO_LARGE, `Cannot relay a message: ${what}`, {
    details: { field: "body" },
  });
}

/** Removes all arguments except the name of the event. */
function withoutBody(packet: string, head: string): string {
  if (head.startsWith("3")) return `${head}[]`;
  EVENT_NAME.lastIndex = head.length + 1;
  const [name] = EVENT_NAME.exec(packet) ?? [];
  if (name === undefined) throw new RangeError("An event without a name");
  return `${head}[${name}]`;
}
