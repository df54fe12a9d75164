/** Splits a stream of bytes into lines of text. */
import type { MCPServerStdioConfig, Resolved } from "../../protocol/config.ts";
import type { MessageLimits } from "../limits.ts";
import { MessageBytes, type Oversized } from "../message_bytes.ts";
import { LARGE_MESSAGE_BYTES } from "../../json/large_message.ts";
import { textEncodingOf } from "./text_encoding.ts";

const NEWLINE = 0x0a;
const REPLACEMENT = "\ufffd";
/** The bytes that are checked at once. */
const CHECKED_BYTES = 65_536;

/** The lines that a chunk completes. */
export interface DecodedLines {
  /** Whole lines: a large one as its bytes, the others as text. */
  readonly lines: (string | Uint8Array<ArrayBuffer>)[];
  /** Lines that are not valid text, with replacement characters. */
  readonly undecodable: string[];
}

export interface DecodedLine {
  readonly text: string;
  /** Whether the text may be used: it is valid, or replacements are allowed. */
  readonly isValid: boolean;
}

/**
 * Splits bytes into lines and decodes each line separately, so that an invalid line does not affect others. Throws a
 * `RangeError` for a line that exceeds a limit or, where somebody wants to know of it, does not end.
 */
export class LineDecoder {
  readonly #lenientDecoder: TextDecoder;
  readonly #onInvalid: "strict" | "ignore" | "replace";
  readonly #line: MessageBytes;
  /** Whether large lines are returned as bytes: only UTF-8, unless invalid bytes must be removed. */
  readonly #keepsLargeLines: boolean;

  constructor(
    encoding: Pick<
      Resolved<MCPServerStdioConfig>["server_parameters"],
      "encoding" | "encoding_error_handler"
    >,
    limits: MessageLimits,
    onOversized?: (line: Oversized) => void,
  ) {
    const { encoding: name, encoding_error_handler: onError } = encoding;
    const label = textEncodingOf(name);
    this.#lenientDecoder = new TextDecoder(label);
    this.#onInvalid = onError;
    this.#line = new MessageBytes(limits, onOversized);
    this.#keepsLargeLines = label === "utf-8" && onError !== "ignore";
  }

  /** Returns the lines that `chunk` completes. */
  push(chunk: Uint8Array): DecodedLines {
    const lines: DecodedLines["lines"] = [];
    const undecodable: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#line.push(chunk.subarray(start, end));
      if (!this.#line.settle()) {
        start = end + 1;
        continue;
      }
      if (this.#line.length >= LARGE_MESSAGE_BYTES && this.#keepsLargeLines) {
        lines.push(this.#line.take());
      } else {
        const { text, isValid } = this.decode(this.#line.view());
        if (isValid) lines.push(text);
        else undecodable.push(text);
        this.#line.clear();
      }
      start = end + 1;
    }
    if (start < chunk.length) this.#line.push(chunk.subarray(start));
    return { lines, undecodable };
  }

  decode(bytes: Uint8Array): DecodedLine {
    const text = this.#lenientDecoder.decode(bytes);
    if (this.#onInvalid === "ignore") return { text: text.replaceAll(REPLACEMENT, ""), isValid: true };
    return { text, isValid: this.#onInvalid === "replace" || this.#isValid(bytes, text) };
  }

  /**
   * Returns whether the bytes are valid. A strict decoder is slow and takes twice the memory of the text, so only a text
   * with replacement characters, which the server may have written itself, is decoded again, in pieces.
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
