/**
 * Removes the mask of large messages, and finds the ends of their JSON strings in the same pass. It is done by WebAssembly, 64
 * bytes a turn: in JavaScript, that would be a third of the time that the Server needs for a message of 100 KB. The source of
 * the module is `text_scan.wat`.
 */
import { Buffer } from "node:buffer";
import { MAX_QUOTES } from "../short_json.ts";
import type { Content } from "./masking.ts";
import { TEXT_SCAN_MODULE } from "./text_scan_module.ts";

/** The most bytes that the module reads at a time. A multiple of the length of a mask. */
const PART_BYTES = 64 * 1024;

const BEYOND_ASCII = 1;
const CONTROL = 2;
const BACKSLASH = 4;
const INVALID_ESCAPE = 8;

/** The module: one for all connections, since it keeps nothing between two calls. */
interface Scanner {
  /** Where a part is written, and read without its mask. */
  readonly part: Uint8Array;
  /** The number of quotes in the part, and their positions. */
  readonly found: Uint32Array;
  /** Reads the first `length` bytes of the part, and returns the state after them. */
  readonly scan: (length: number, mask: number, state: number) => number;
}

let scanner: Scanner | undefined;
let isMissing = false;

export class TextScan {
  readonly #scanner: Scanner;
  #state = 0;
  #length = 0;
  /** `undefined` when there are too many. */
  #quotes: number[] | undefined = [];

  private constructor(scanner: Scanner) {
    this.#scanner = scanner;
  }

  /** Begins with a message; `undefined` where the runtime has no WebAssembly, or none with vectors. */
  static begin(): TextScan | undefined {
    scanner ??= isMissing ? undefined : openScanner();
    isMissing = scanner === undefined;
    return scanner && new TextScan(scanner);
  }

  get length(): number {
    return this.#length;
  }

  /** Copies the next part of the message to `target`, from `start` on, without the mask. */
  read(bytes: Uint8Array, { target, start, mask }: {
    /** Begins with the message. */
    readonly target: Uint8Array;
    readonly start: number;
    readonly mask: number;
  }): void {
    const { part, scan } = this.#scanner;
    for (let from = 0; from < bytes.length; from += PART_BYTES) {
      const count = Math.min(PART_BYTES, bytes.length - from);
      part.set(bytes.subarray(from, from + count));
      this.#state = scan(count, mask, this.#state);
      target.set(part.subarray(0, count), start + from);
      this.#collect(start + from);
    }
    this.#length += bytes.length;
  }

  /** What the bytes are known to be so far. */
  get content(): Content {
    const isAscii = (this.#state & BEYOND_ASCII) === 0;
    return { isAscii, isPlain: isAscii && (this.#state & CONTROL) === 0 };
  }

  get hasEscapes(): boolean {
    return (this.#state & BACKSLASH) !== 0;
  }

  /**
   * The positions of the quotes that begin and end strings, if the message is JSON without control characters; `undefined`
   * when an escape is invalid, or when there are too many.
   */
  get quotes(): readonly number[] | undefined {
    return (this.#state & INVALID_ESCAPE) === 0 ? this.#quotes : undefined;
  }

  #collect(offset: number): void {
    const { found } = this.#scanner;
    const [count = 0] = found;
    const quotes = this.#quotes;
    if (quotes === undefined || count === 0) return;
    if (quotes.length + count > MAX_QUOTES) return void (this.#quotes = undefined);
    for (let index = 1; index <= count; index++) quotes.push(offset + (found[index] ?? 0));
  }
}

function openScanner(): Scanner | undefined {
  try {
    const module = new WebAssembly.Module(Buffer.from(TEXT_SCAN_MODULE, "base64"));
    const { memory, scan } = new WebAssembly.Instance(module).exports;
    if (!(memory instanceof WebAssembly.Memory) || typeof scan !== "function") return undefined;
    return {
      part: new Uint8Array(memory.buffer, 0, PART_BYTES),
      found: new Uint32Array(memory.buffer, PART_BYTES),
      scan: scan as Scanner["scan"],
    };
  } catch {
    // Not every platform allows WebAssembly. Messages are read in JavaScript then.
    return undefined;
  }
}
