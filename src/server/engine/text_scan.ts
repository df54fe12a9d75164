/**
 * Removes the mask of large messages, and finds the ends of their JSON strings in the same pass. It is done by WebAssembly, 64
 * bytes a turn, which saves a fifth of the CPU of a call of 100 KB (`docs/decisions/text_scan.md`). The source of the module
 * is `text_scan.wat`.
 */
import { Buffer } from "node:buffer";

/** A text with more quotes is not cut: it has few long strings, or many values. */
const MAX_QUOTES = 4_096;
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
  }

  get isAscii(): boolean {
    return (this.#state & BEYOND_ASCII) === 0;
  }

  get hasEscapes(): boolean {
    return (this.#state & BACKSLASH) !== 0;
  }

  /**
   * The positions of the quotes that begin and end strings, if the message is JSON; `undefined` when an escape is invalid, or
   * when there are control characters or too many quotes.
   */
  get quotes(): readonly number[] | undefined {
    return (this.#state & (CONTROL | INVALID_ESCAPE)) === 0 ? this.#quotes : undefined;
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

/** The module that tools/text_scan.ts assembles, in Base64. */
export const TEXT_SCAN_MODULE: string =
  "AGFzbQEAAAABCAFgA39/fwF/AwIBAAUDAQACBxECBm1lbW9yeQIABHNjYW4AAAqGBwGDBwcDfwF+AX8EewF+AX8OfiACQQR2QQFxrSER" +
  "IAJBBXatIRUgAf0RIQggACEDAkADQCADQT9xRQ0BIANBICABIANBA3FBA3R2czoAACADQQFqIQMMAAsLQQAhAwJAA0AgAyAATw0BIANB" +
  "wABqIQVCACEOQgAhDyADIQRCACEGA0AgBP0ABAAgCP1RIQkgBCAJ/QsEACAKIAn9UCEKIAsgCUEg/Q/9Jv1QIQsgDiAJQSL9D/0j/WSt" +
  "IAaGhCEOIA8gCUHcAP0P/SP9ZK0gBoaEIQ8gBkIQfCEGIARBEGoiBCAFSQ0AC0IAIA8gESAVhIRSBEAgACADayENQn8hDCANQcAASQRA" +
  "QgEgDa2GQgF9IQwLIBogD4QhGiAPIBFCf4WDIQ8gD0IBhiARhCESIA9CqtWq1arVqtWqf4MgEkJ/hYMhEyATIA98IRQgEkLVqtWq1arV" +
  "qtUAIBRCAYaFgyEQIA1BwABJBH5CASAQIA2tiIMFIBQgE1StCyERIBAgDIMhEEIAIRdCACEYIAMhBEIAIQYDQCAE/QAEACEJIBf9DAAA" +
  "DQAICAQAAAAAAAIABAEgCUEP/Q/9Tv0O/QwAAAEAAAIECAAAAAAAAAAAIAlBBP1t/Q79Tv0MAAAAAAAAAAAAAAAAAAAAAP0k/WStIAaG" +
  "hCEXIBggCUH1AP0P/SP9ZK0gBoaEIRggBkIQfCEGIARBEGoiBCAFSQ0ACyAbIBAgF0J/hYOEIRsgGCAQgyEYQgAgGCAVhFIEQCAYQj+I" +
  "IBhCPoiEIBhCPYggGEI8iISEIRYgFSAYQgGGIBhCAoaEIBhCA4YgGEIEhoSEhCEVQgAhGSADIQRCACEGA0AgBP0ABAAhCSAZIAlBMP0P" +
  "/XFBCv0P/SYgCUEg/Q/9UEHhAP0P/XFBBv0P/Sb9UP1krSAGhoQhGSAGQhB8IQYgBEEQaiIEIAVJDQALIBsgFSAMgyAZQn+Fg4QhGyAN" +
  "QcAASQR+IBUgDa2IIBZBwAAgDWuthoQFIBYLIRULIA4gEEJ/hYMhDgsCQANAIA5QDQEgB0GAIEkEQEGEgAQgB0ECdGogAyAOeqdqNgIA" +
  "CyAHQQFqIQcgDiAOQgF9gyEODAALCyAFIQMMAAsLQYCABCAHNgIAIAJBD3FBACAK/WRHciAL/VNBAXRCACAaUkECdHJyQgAgG1JBA3Qg" +
  "EadBBHQgFadBBXRycnIL";
