/** The end of a text that goes on and on. */

/** Remembers the last `maxLength` characters of what is pushed. */
export class TextTail {
  readonly #maxLength: number;
  #text = "";

  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  push(text: string): void {
    this.#text = (this.#text + text).slice(-this.#maxLength);
  }

  get text(): string {
    return this.#text;
  }
}
