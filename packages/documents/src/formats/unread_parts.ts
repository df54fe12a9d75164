/** What a file contains and its pages do not show. */

/** Counts what is in a file and is not read, by its kind: whatever no reader handles. */
export class UnreadParts {
  readonly #counts = new Map<string, number>();

  add(kind: string): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
  }

  get losses(): string[] {
    const counts = [...this.#counts];
    const total = counts.reduce((sum, [, count]) => sum + count, 0);
    const kinds = counts.map(([kind, count]) => count === 1 ? kind : `${kind} (${count})`).join(", ");
    const what = total === 1 ? "part of a kind that is" : "parts of kinds that are";
    return total === 0 ? [] : [`${total} ${what} not read: ${kinds}`];
  }
}
