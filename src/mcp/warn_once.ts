/** Warnings about lasting conditions, logged once. */
import { BoundedMap, BoundedSet } from "../async/bounded_collections.ts";
import { shorten } from "../text/text.ts";
import type { LogFields, Logger } from "../log.ts";

/** The number of warnings that are remembered; the oldest may be logged again. */
const MAX_REMEMBERED = 1_000;

/** The length of a warning that is compared, in characters. */
const MAX_KEY_LENGTH = 1_000;

/** The most warnings of one kind about one MCP server; then one line says that there are more. */
const MAX_OF_KIND = 20;

/** Logs each warning once; other fields make it another warning, up to a number of each kind. */
export class WarnOnce {
  readonly #log: Logger;
  readonly #logged = new BoundedSet<string>(MAX_REMEMBERED);
  /** How many warnings of a kind were logged about a server. */
  readonly #counts = new BoundedMap<string, number>(MAX_REMEMBERED);

  constructor(log: Logger) {
    this.#log = log;
  }

  /** @param fields `kind`: the kind of the problem, for messages that quote the server; not logged. */
  warn(message: string, { kind = message, ...fields }: LogFields & { readonly kind?: string } = {}): void {
    const key = shorten(JSON.stringify([message, fields]), MAX_KEY_LENGTH);
    if (this.#logged.has(key)) return;
    this.#logged.add(key);
    const { server = fields["from"] } = fields;
    const count = this.#count(JSON.stringify([kind, server]));
    if (count <= MAX_OF_KIND) this.#log.warn(message, fields);
    else if (count === MAX_OF_KIND + 1) {
      this.#log.warn("more warnings of this kind are left out", { server, problem: kind });
    }
  }

  #count(kind: string): number {
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    return count;
  }
}
