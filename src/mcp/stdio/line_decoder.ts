/** Lines out of a stream of bytes. */
import type { MCPServerStdioConfig, Resolved } from "../../protocol/config.ts";
import type { MessageLimits } from "../limits.ts";
import { MessageBytes } from "../message_bytes.ts";
import { textEncodingOf } from "./text_encoding.ts";

const NEWLINE = 0x0a;

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
  readonly #decoder: TextDecoder;
  readonly #lenientDecoder: TextDecoder;
  readonly #dropsInvalid: boolean;
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
    this.#decoder = new TextDecoder(label, { fatal: onError === "strict" });
    this.#lenientDecoder = new TextDecoder(label);
    this.#dropsInvalid = onError === "ignore";
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
      const line = this.#decode(bytes);
      if (line === undefined) undecodable.push(this.#lenientDecoder.decode(bytes));
      else lines.push(line);
      this.#line.clear();
      start = end + 1;
    }
    if (start < chunk.length) this.#line.push(chunk.subarray(start));
    return { lines, undecodable };
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
