/** The values that a program gives its inputs while it runs, before those of any other source. Kept in memory alone. */
import type { InputSource } from "./resolve.ts";
import type { InputValue } from "../../config/placeholders.ts";

/** Values by input id over a source. */
export class InputValues {
  readonly #fallback: InputSource;
  readonly #values = new Map<string, InputValue>();

  constructor(fallback: InputSource) {
    this.#fallback = fallback;
  }

  /** Asks the values that were set, then the source below. */
  readonly source: InputSource = (id, request) => this.#values.get(id) ?? this.#fallback(id, request);

  /** The value that was set. */
  get(id: string): InputValue | undefined {
    return this.#values.get(id);
  }

  set(id: string, value: InputValue): void {
    this.#values.set(id, value);
  }

  /** Forgets a value; tells whether there was one. */
  clear(id: string): boolean {
    return this.#values.delete(id);
  }
}
