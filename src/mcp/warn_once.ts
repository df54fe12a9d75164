/** Warnings about lasting conditions, logged once. */
import { shorten } from "../text/text.ts";
import type { LogFields, Logger } from "../log.ts";

/** The number of warnings that are remembered; the oldest may be logged again. */
const MAX_REMEMBERED = 1_000;

/** The length of a warning that is compared, in characters. */
const MAX_KEY_LENGTH = 1_000;

/** Logs each warning once; other fields make it another warning. */
export class WarnOnce {
  readonly #log: Logger;
  readonly #logged = new Set<string>();

  constructor(log: Logger) {
    this.#log = log;
  }

  warn(message: string, fields: LogFields = {}): void {
    const key = shorten(JSON.stringify([message, fields]), MAX_KEY_LENGTH);
    if (this.#logged.has(key)) return;
    this.#logged.add(key);
    const [oldest = key] = this.#logged;
    if (this.#logged.size > MAX_REMEMBERED) this.#logged.delete(oldest);
    this.#log.warn(message, fields);
  }
}
