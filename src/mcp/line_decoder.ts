/** Lines out of a stream of bytes. */
import type { MCPServerStdioConfig, Resolved } from "../protocol/config.ts";

const NEWLINE = 0x0a;

/** What a chunk held: whole lines as text, and apart from them, with replacements, those that are not valid text. */
export interface DecodedLines {
  readonly lines: string[];
  readonly undecodable: string[];
}

/**
 * Cuts bytes into lines and decodes each by itself, so that one bad line costs no other. A line that is longer than
 * the limit throws a `RangeError`.
 */
export class LineDecoder {
  readonly #decoder: TextDecoder;
  readonly #lenientDecoder: TextDecoder;
  readonly #dropsInvalid: boolean;
  readonly #maxLineBytes: number;
  #parts: Uint8Array[] = [];
  #partBytes = 0;

  constructor(
    encoding: Pick<
      Resolved<MCPServerStdioConfig>["server_parameters"],
      "encoding" | "encoding_error_handler"
    >,
    maxLineBytes: number,
  ) {
    const { encoding: label, encoding_error_handler: onError } = encoding;
    this.#decoder = new TextDecoder(label, { fatal: onError === "strict" });
    this.#lenientDecoder = new TextDecoder(label);
    this.#dropsInvalid = onError === "ignore";
    this.#maxLineBytes = maxLineBytes;
  }

  /** The lines that `chunk` completes. */
  push(chunk: Uint8Array): DecodedLines {
    const lines: string[] = [];
    const undecodable: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#append(chunk.subarray(start, end));
      const bytes = this.#take();
      const line = this.#decode(bytes);
      if (line === undefined) undecodable.push(this.#lenientDecoder.decode(bytes));
      else lines.push(line);
      start = end + 1;
    }
    if (start < chunk.length) this.#append(chunk.slice(start));
    return { lines, undecodable };
  }

  #append(part: Uint8Array): void {
    this.#partBytes += part.length;
    if (this.#partBytes > this.#maxLineBytes) {
      throw new RangeError(`Cannot read a line of more than ${this.#maxLineBytes} bytes`);
    }
    this.#parts.push(part);
  }

  #take(): Uint8Array {
    const [first = new Uint8Array()] = this.#parts;
    const bytes = this.#parts.length <= 1 ? first : concat(this.#parts, this.#partBytes);
    this.#parts = [];
    this.#partBytes = 0;
    return bytes;
  }

  #decode(bytes: Uint8Array): string | undefined {
    try {
      const line = this.#decoder.decode(bytes);
      return this.#dropsInvalid ? line.replaceAll("\ufffd", "") : line;
    } catch {
      return undefined;
    }
  }
}

function concat(parts: readonly Uint8Array[], sizeBytes: number): Uint8Array {
  const whole = new Uint8Array(sizeBytes);
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}
