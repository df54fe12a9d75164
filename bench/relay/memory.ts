/** Loaded with `deno run --preload`. On SIGUSR2 it collects garbage and writes the size of the heap to stderr. */
import process from "node:process";

/** The beginning of that line. */
export const HEAP_LINE = "bench heap bytes ";

declare global {
  /** Present with `--v8-flags=--expose-gc`. */
  var gc: (() => void) | undefined;
}

process.on("SIGUSR2", () => {
  globalThis.gc?.();
  globalThis.gc?.();
  console.error(`${HEAP_LINE}${Deno.memoryUsage().heapUsed}`);
});
