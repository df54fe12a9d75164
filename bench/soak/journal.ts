/** A log of the soak, for finding the cause of a failure. */

/** Counts log lines, and writes them to a file if one is given. */
export class Journal {
  readonly #file: string | undefined;
  readonly #counts = new Map<string, number>();

  constructor(file: string | undefined) {
    this.#file = file;
    if (file !== undefined) Deno.writeTextFileSync(file, "");
  }

  /** The number of log lines of the Computer by message, without those of the level `info`. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  /** Adds a log line of the Computer. */
  note(line: { readonly level: string; readonly log: string; readonly fields: unknown }): void {
    const { level, log, fields } = line;
    if (level !== "info") this.#counts.set(log, (this.#counts.get(log) ?? 0) + 1);
    this.write(`${level} ${log} ${JSON.stringify(fields)}`);
  }

  write(text: string): void {
    if (this.#file === undefined) return;
    const line = `${new Date().toISOString().slice(11, 23)} ${text}\n`;
    Deno.writeTextFileSync(this.#file, line, { append: true });
  }
}
