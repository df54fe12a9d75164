/** A clock that is read at most once in a turn of the event loop: to ask the system each time costs more than most uses. */

let readMs: number | undefined;

function forget(): void {
  readMs = undefined;
}

/** Returns milliseconds since a fixed point, as they were when this turn first asked. */
export function turnStartMs(): number {
  if (readMs !== undefined) return readMs;
  queueMicrotask(forget);
  return readMs = performance.now();
}
