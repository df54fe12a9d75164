/** Warnings about what stays as it is, said once. */
import { shorten } from "../text.ts";
import type { LogFields, Logger } from "../log.ts";

/** How many warnings are remembered; the oldest may be said again. */
const MAX_REMEMBERED = 1_000;

/** How much of a warning tells it from others, in characters. */
const MAX_KEY_LENGTH = 1_000;

/** Logs each warning once. */
export class WarnOnce {
  readonly #log: Logger;
  readonly #said = new Set<string>();

  constructor(log: Logger) {
    this.#log = log;
  }

  warn(message: string, fields: LogFields = {}): void {
    const key = shorten(JSON.stringify([message, fields]), MAX_KEY_LENGTH);
    if (this.#said.has(key)) return;
    this.#said.add(key);
    if (this.#said.size > MAX_REMEMBERED) {
      for (const oldest of this.#said) {
        this.#said.delete(oldest);
        break;
      }
    }
    this.#log.warn(message, fields);
  }
}
