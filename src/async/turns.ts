/** Splits long work into slices, and lets the event loop run in between. */
import { delay } from "./backoff.ts";

const SLICE_MS = 15;

/** Runs all steps in slices, and resolves to their result. */
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

export async function visitInTurns<T>(items: Iterable<T>, visit: (item: T) => void): Promise<void> {
  await runInTurns(visiting(items, visit));
}

function* visiting<T>(items: Iterable<T>, visit: (item: T) => void): Generator<void, void> {
  for (const item of items) {
    visit(item);
    yield;
  }
}
