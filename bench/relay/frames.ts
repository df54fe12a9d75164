/**
 * Builds and parses WebSocket frames by hand. The load generator builds each frame once and then only replaces the numbers
 * in it, and it reads only the first bytes of a received message. So a message of 900 KB costs no more than a copy.
 */

/** The number of bytes at the beginning of a message that are kept. */
export const HEAD_BYTES = 160;

/** The placeholder for a number in the text of a frame. */
export const NUMBER = "\0";

/**
 * A message for a Server, masked as RFC 6455 requires. Each {@linkcode NUMBER} in its text is a number of `width` digits
 * that can be replaced without building the frame again. Only ASCII characters may precede it.
 */
export class OutgoingFrame {
  readonly bytes: Uint8Array;
  readonly #mask = crypto.getRandomValues(new Uint8Array(4));
  readonly #start: number;
  readonly #width: number;
  readonly #positions: readonly number[];

  constructor(
    template: string | Uint8Array,
    { width = 0, opcode = 0x1 }: { readonly width?: number; readonly opcode?: number } = {},
  ) {
    const parts = typeof template === "string" ? template.split(NUMBER) : [];
    const payload = typeof template === "string"
      ? new TextEncoder().encode(parts.join("0".repeat(width)))
      : template;
    let position = 0;
    this.#width = width;
    this.#positions = parts.slice(0, -1).map((part, index) =>
      position += part.length + (index === 0 ? 0 : width)
    );
    const header = buildHeader(payload.length, opcode);
    this.#start = header.length + 4;
    this.bytes = new Uint8Array(this.#start + payload.length);
    this.bytes.set(header);
    this.bytes.set(this.#mask, header.length);
    for (let index = 0; index < payload.length; index++) this.#put(index, payload[index] ?? 0);
  }

  /** Writes the number at each placeholder, with leading zeros. */
  setNumber(number: number): void {
    for (const position of this.#positions) {
      let rest = number;
      for (let index = position + this.#width - 1; index >= position; index--) {
        this.#put(index, 0x30 + rest % 10);
        rest = Math.floor(rest / 10);
      }
    }
  }

  #put(index: number, byte: number): void {
    this.bytes[this.#start + index] = byte ^ (this.#mask[index & 3] ?? 0);
  }
}

function buildHeader(length: number, opcode: number): Uint8Array {
  const first = 0x80 | opcode;
  if (length < 126) return Uint8Array.of(first, 0x80 | length);
  if (length < 0x1_0000) return Uint8Array.of(first, 0x80 | 126, length >> 8, length & 0xff);
  const header = new Uint8Array(10);
  header[0] = first;
  header[1] = 0x80 | 127;
  new DataView(header.buffer).setBigUint64(2, BigInt(length));
  return header;
}

/** A complete message, or the part of it that is kept. */
export interface IncomingMessage {
  /** 1 is text, 2 is binary, 8 is close, 9 is ping, 10 is pong. */
  readonly opcode: number;
  /** The first {@linkcode HEAD_BYTES}; valid until the next message. */
  readonly head: Uint8Array;
  /** The number of bytes in `head` that belong to the message. */
  readonly headLength: number;
  readonly sizeBytes: number;
  /** The text, if texts are kept. */
  readonly text: string | undefined;
}

/** Splits the bytes from a Server into messages. */
export class FrameCutter {
  /** Whether texts are kept, which takes time and memory; false by default. */
  keepsTexts = false;
  readonly #onMessage: (message: IncomingMessage) => void;
  readonly #header = new Uint8Array(10);
  #headerLength = 0;
  /** The missing bytes of the payload of the current frame; `undefined` within a header. */
  #missing: number | undefined;
  #isFinal = true;
  /** The current message; a control frame may arrive between its frames. */
  #data = new Assembly();
  #control = new Assembly();
  #current = this.#data;

  constructor(onMessage: (message: IncomingMessage) => void) {
    this.#onMessage = onMessage;
  }

  /** Adds bytes, which may end anywhere in a frame. */
  push(chunk: Uint8Array): void {
    let offset = 0;
    while (offset < chunk.length) {
      if (this.#missing === undefined) offset = this.#readHeader(chunk, offset);
      else {
        const end = Math.min(chunk.length, offset + this.#missing);
        this.#current.add(chunk.subarray(offset, end), this.keepsTexts);
        this.#missing -= end - offset;
        offset = end;
      }
      if (this.#missing === 0) this.#endFrame();
    }
  }

  #readHeader(chunk: Uint8Array, offset: number): number {
    this.#header[this.#headerLength++] = chunk[offset] ?? 0;
    const [first = 0, second = 0] = this.#header;
    const short = second & 0x7f;
    const whole = short === 126 ? 4 : short === 127 ? 10 : 2;
    if (this.#headerLength < 2 || this.#headerLength < whole) return offset + 1;
    const view = new DataView(this.#header.buffer);
    this.#missing = short === 126 ? view.getUint16(2) : short === 127 ? Number(view.getBigUint64(2)) : short;
    this.#headerLength = 0;
    this.#isFinal = (first & 0x80) !== 0;
    const opcode = first & 0x0f;
    this.#current = opcode >= 8 ? this.#control : this.#data;
    if (opcode !== 0) this.#current.begin(opcode);
    return offset + 1;
  }

  #endFrame(): void {
    this.#missing = undefined;
    if (this.#isFinal) this.#onMessage(this.#current.end());
  }
}

/** Assembles a message from its frames. */
class Assembly {
  readonly #head = new Uint8Array(HEAD_BYTES);
  #opcode = 0;
  #sizeBytes = 0;
  #kept: Uint8Array[] = [];

  begin(opcode: number): void {
    this.#opcode = opcode;
    this.#sizeBytes = 0;
    this.#kept = [];
  }

  add(bytes: Uint8Array, isKept: boolean): void {
    if (this.#sizeBytes < HEAD_BYTES) {
      this.#head.set(bytes.subarray(0, HEAD_BYTES - this.#sizeBytes), this.#sizeBytes);
    }
    this.#sizeBytes += bytes.length;
    if (isKept) this.#kept.push(bytes.slice());
  }

  end(): IncomingMessage {
    const decoder = new TextDecoder();
    const text = this.#kept.length === 0
      ? undefined
      : this.#kept.map((bytes) => decoder.decode(bytes, { stream: true })).join("") + decoder.decode();
    const sizeBytes = this.#sizeBytes;
    return {
      opcode: this.#opcode,
      head: this.#head,
      headLength: Math.min(sizeBytes, HEAD_BYTES),
      sizeBytes,
      text,
    };
  }
}
