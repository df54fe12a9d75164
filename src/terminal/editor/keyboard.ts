/** The keys that are pressed at the terminal. */
import process from "node:process";
import type { Key } from "node:readline";
import type { TypedLine } from "./typed_line.ts";

/** Who hears of the keyboard. */
export interface KeyboardListener {
  onKey(text: string | undefined, key: Key): void;
  /** The terminal has got another size. */
  onResize(): void;
  /** The terminal has hung up. */
  onEnd(): void;
}

/** The keyboard of this process, each key at once and none of them a signal, until it is disposed of. */
export class Keyboard implements Disposable {
  readonly #listener: KeyboardListener;

  /** @param line Knows a key from a paste. */
  constructor(line: TypedLine, listener: KeyboardListener) {
    this.#listener = listener;
    line.listenTo(process.stdin);
    process.stdin.on("keypress", this.#onKey);
    process.stdin.on("end", this.#onEnd);
    process.stdout.on("resize", this.#onResize);
    // A process that ends in haste leaves a usable terminal, too.
    globalThis.addEventListener("unload", this.#restore);
    process.stdin.setRawMode(true);
    process.stdin.resume();
  }

  [Symbol.dispose](): void {
    process.stdin.off("keypress", this.#onKey);
    process.stdin.off("end", this.#onEnd);
    process.stdout.off("resize", this.#onResize);
    globalThis.removeEventListener("unload", this.#restore);
    this.#restore();
    process.stdin.pause();
    process.stdin.unref();
  }

  readonly #onKey = (text: string | undefined, key: Key): void => this.#listener.onKey(text, key);
  readonly #onEnd = (): void => this.#listener.onEnd();
  readonly #onResize = (): void => this.#listener.onResize();
  readonly #restore = (): void => void process.stdin.setRawMode(false);
}
