/** Runs work on many items, with limited concurrency. */

/** Runs `work` on each item, at most `concurrency` at a time; resolves when all are done. `work` must not throw. */
export async function forEachBounded<T>(
  items: Iterable<T>,
  concurrency: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items[Symbol.iterator]();
  const worker = async () => {
    for (let next = queue.next(); !next.done; next = queue.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}
