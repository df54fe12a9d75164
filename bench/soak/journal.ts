/** What happened when, for whoever looks for a fault. */

/** Counts lines, and writes them to a file where there is one. */
export class Journal {
  readonly #file: string | undefined;
  readonly #counts = new Map<string, number>();

  constructor(file: string | undefined) {
    this.#file = file;
    if (file !== undefined) Deno.writeTextFileSync(file, "");
  }

  /** How often the Computer said what, information left out. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  /** A line of the Computer's log. */
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
