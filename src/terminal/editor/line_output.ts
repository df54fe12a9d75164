/** The terminal as node's line editor writes to it. */
import { Writable } from "node:stream";
import { consoleColumns } from "../screen.ts";

/** Writes text to standard output at once, whatever is buffered elsewhere. */
export function writeNow(text: string): void {
  const bytes = new TextEncoder().encode(text);
  for (let written = 0; written < bytes.length;) written += Deno.stdout.writeSync(bytes.subarray(written));
}

/** Standard output that can be muted: what an editor draws while its line is not shown goes nowhere. */
export class LineOutput extends Writable {
  /** What node's line editor looks for. */
  readonly isTTY = true;
  /** Whether what is written is dropped. */
  isMuted = true;

  /** How wide the terminal is by now. */
  get columns(): number {
    return consoleColumns();
  }

  /** Drops or writes. */
  override _write(chunk: Uint8Array | string, _encoding: string, done: () => void): void {
    if (!this.isMuted) writeNow(typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk));
    done();
  }
}
