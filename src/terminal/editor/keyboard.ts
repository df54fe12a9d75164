/** Key presses at the terminal, and pauses between them. */
import process from "node:process";
import type { Key } from "node:readline";
import { delay } from "../../async/backoff.ts";
import type { TypedLine } from "./typed_line.ts";

export interface KeyboardListener {
  readonly onKey: (text: string | undefined, key: Key) => void;
  readonly onResize: () => void;
  readonly onEnd: () => void;
}

/** Puts the terminal into raw mode until it is disposed of: each key arrives at once, and none raises a signal. */
export class Keyboard implements Disposable {
  readonly #listener: KeyboardListener;

  /** @param line Distinguishes keys from pasted text. */
  constructor(line: TypedLine, listener: KeyboardListener) {
    this.#listener = listener;
    line.listenTo(process.stdin);
    process.stdin.on("keypress", listener.onKey);
    process.stdin.on("end", listener.onEnd);
    process.stdout.on("resize", listener.onResize);
    // Restores the terminal when the process exits without closing the editor.
    globalThis.addEventListener("unload", this.#restore);
    process.stdin.setRawMode(true);
    process.stdin.resume();
  }

  [Symbol.dispose](): void {
    process.stdin.off("keypress", this.#listener.onKey);
    process.stdin.off("end", this.#listener.onEnd);
    process.stdout.off("resize", this.#listener.onResize);
    globalThis.removeEventListener("unload", this.#restore);
    this.#restore();
    process.stdin.pause();
    process.stdin.unref();
  }

  readonly #restore = (): void => void process.stdin.setRawMode(false);
}

/** Without a key press for so long the user is not typing, in milliseconds. */
const TYPING_PAUSE_MS = 1_000;

/** Waits for a pause in typing, so that a question does not receive keys that were meant for a command. */
export class TypingPause {
  #lastKeyMs = -Infinity;

  press(): void {
    this.#lastKeyMs = performance.now();
  }

  /** Resolves after one second without a key press, when `isTyping` returns false, or when `signal` is aborted. */
  async wait(isTyping: () => boolean, signal: AbortSignal): Promise<void> {
    while (isTyping() && !signal.aborted) {
      const leftMs = this.#lastKeyMs + TYPING_PAUSE_MS - performance.now();
      if (leftMs <= 0) return;
      await delay(leftMs, signal).catch(() => {});
    }
  }
}
