/** The bottom line of the terminal: a prompt or progress that stays there while other output is printed above it. */
import { printable } from "../text/safe_text.ts";
import { writeIfOpen } from "./screen.ts";

export interface BottomLine {
  /** Erases the line; the cursor is then where the line began. */
  erase(): void;
  draw(): void;
}

/**
 * Decides which line is shown at the bottom: the prompt if there is one, else the latest progress. All output to the
 * terminal must go through {@linkcode writeAbove}.
 */
export class TerminalBottom {
  #prompt: BottomLine | undefined;
  readonly #progress: BottomLine[] = [];
  #isOff = false;

  /** Calls `write`, which prints whole lines, while the bottom line is erased. A terminal that was closed is no error. */
  writeAbove(write: () => void): void {
    if (this.#isOff) return writeIfOpen(write);
    this.#shown?.erase();
    this.#isOff = true;
    try {
      writeIfOpen(write);
    } finally {
      this.#isOff = false;
      this.#shown?.draw();
    }
  }

  setPrompt(line: BottomLine | undefined): void {
    if (line !== this.#prompt) this.writeAbove(() => this.#prompt = line);
  }

  /** Removes the prompt and leaves its text on the screen: it was answered, and the cursor is below it. */
  leavePrompt(): void {
    this.#prompt = undefined;
    if (!this.#isOff) this.#shown?.draw();
  }

  addProgress(line: BottomLine): void {
    this.writeAbove(() => this.#progress.push(line));
  }

  removeProgress(line: BottomLine): void {
    const index = this.#progress.indexOf(line);
    if (index >= 0) this.writeAbove(() => this.#progress.splice(index, 1));
  }

  refresh(line: BottomLine): void {
    if (line === this.#shown) this.writeAbove(() => {});
  }

  get #shown(): BottomLine | undefined {
    return this.#prompt ?? this.#progress.at(-1);
  }
}

/** The bottom line of this process's terminal. */
export const terminalBottom: TerminalBottom = new TerminalBottom();

/** Prints text above the bottom line as it is, with its colors. It must be safe to print. */
export function printAbove(picture: string): void {
  terminalBottom.writeAbove(() => console.log(picture));
}

/** Prints lines above the bottom line. Control characters in them are made harmless. */
export function printSafely(text: string): void {
  printAbove(printable(text));
}
