/** Long work in slices, between which the event loop runs. */
import { delay } from "./backoff.ts";

/** How long a slice takes at most, in milliseconds, as long as no single item takes longer. */
const SLICE_MS = 15;

/** Runs all steps, returning to the event loop every few milliseconds, and gives their result. */
export async function runInTurns<T>(steps: Iterator<void, T>): Promise<T> {
  let endMs = performance.now() + SLICE_MS;
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (performance.now() < endMs) continue;
    await delay(0);
    endMs = performance.now() + SLICE_MS;
  }
}

/** Visits each item in order, in slices. */
export async function visitInTurns<T>(items: Iterable<T>, visit: (item: T) => void): Promise<void> {
  await runInTurns(visiting(items, visit));
}

function* visiting<T>(items: Iterable<T>, visit: (item: T) => void): Generator<void, void> {
  for (const item of items) {
    visit(item);
    yield;
  }
}
