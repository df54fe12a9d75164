/** Loaded before a Server, `deno run --preload`: it collects garbage at SIGUSR2 and tells on stderr how large the heap is. */
import process from "node:process";

/** How the line begins. */
export const HEAP_LINE = "bench heap bytes ";

declare global {
  /** There with `--v8-flags=--expose-gc`. */
  var gc: (() => void) | undefined;
}

process.on("SIGUSR2", () => {
  globalThis.gc?.();
  globalThis.gc?.();
  console.error(`${HEAP_LINE}${Deno.memoryUsage().heapUsed}`);
});
