/** Whether somebody is in the middle of typing: what asks for their keys then had better wait a moment. */
import { clearTimeout, setTimeout } from "node:timers";

/** Who has pressed no key for so long reads before they type, in milliseconds. */
const REST_MS = 1_000;

/** The rest after the last key. */
export class TypingRest {
  #lastKeyMs = -Infinity;

  /** A key was pressed. */
  press(): void {
    this.#lastKeyMs = performance.now();
  }

  /** Resolves once no key has been pressed for a second, `isTyping` has become false, or `signal` is aborted. */
  async wait(isTyping: () => boolean, signal: AbortSignal): Promise<void> {
    while (isTyping() && !signal.aborted) {
      const leftMs = this.#lastKeyMs + REST_MS - performance.now();
      if (leftMs <= 0) return;
      await sleep(leftMs, signal);
    }
  }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const onDone = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onDone);
      resolve();
    };
    const timer = setTimeout(onDone, ms);
    signal.addEventListener("abort", onDone, { once: true });
  });
}
