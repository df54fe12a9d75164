/** Lines out of a stream of bytes. */
import type { MCPServerStdioConfig, Resolved } from "../../protocol/config.ts";
import type { MessageLimits } from "../limits.ts";
import { MessageBytes } from "../message_bytes.ts";
import { textEncodingOf } from "./text_encoding.ts";

const NEWLINE = 0x0a;
/** What stands in a text for bytes that are not valid. */
const REPLACEMENT = "\ufffd";
/** How much is checked at a time, in bytes. */
const CHECKED_BYTES = 65_536;

/** What a chunk held: whole lines as text, and apart from them, with replacements, those that are not valid text. */
export interface DecodedLines {
  readonly lines: string[];
  readonly undecodable: string[];
}

/**
 * Cuts bytes into lines and decodes each by itself, so that one bad line costs no other. A line that is longer than
 * the limits throws a `RangeError`.
 */
export class LineDecoder {
  readonly #lenientDecoder: TextDecoder;
  readonly #onInvalid: "strict" | "ignore" | "replace";
  readonly #line: MessageBytes;

  constructor(
    encoding: Pick<
      Resolved<MCPServerStdioConfig>["server_parameters"],
      "encoding" | "encoding_error_handler"
    >,
    limits: MessageLimits,
  ) {
    const { encoding: name, encoding_error_handler: onError } = encoding;
    const label = textEncodingOf(name);
    this.#lenientDecoder = new TextDecoder(label);
    this.#onInvalid = onError;
    this.#line = new MessageBytes(limits);
  }

  /** The lines that `chunk` completes. */
  push(chunk: Uint8Array): DecodedLines {
    const lines: string[] = [];
    const undecodable: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#line.push(chunk.subarray(start, end));
      const bytes = this.#line.view();
      const text = this.#decode(bytes);
      if (this.#onInvalid === "strict" && !this.#isValid(bytes, text)) undecodable.push(text);
      else lines.push(text);
      this.#line.clear();
      start = end + 1;
    }
    if (start < chunk.length) this.#line.push(chunk.subarray(start));
    return { lines, undecodable };
  }

  #decode(bytes: Uint8Array): string {
    const text = this.#lenientDecoder.decode(bytes);
    return this.#onInvalid === "ignore" ? text.replaceAll(REPLACEMENT, "") : text;
  }

  /**
   * Whether these bytes are what `text` says. A strict decoder is slow and takes twice the memory of the text: only a
   * text with replacement characters, which may be the server's own, is decoded again, in pieces.
   */
  #isValid(bytes: Uint8Array, text: string): boolean {
    if (!text.includes(REPLACEMENT)) return true;
    const decoder = new TextDecoder(this.#lenientDecoder.encoding, { fatal: true });
    try {
      for (let start = 0; start < bytes.length; start += CHECKED_BYTES) {
        decoder.decode(bytes.subarray(start, start + CHECKED_BYTES), { stream: true });
      }
      decoder.decode();
      return true;
    } catch {
      return false;
    }
  }
}
