/** The line at the bottom of the terminal: a prompt or progress that stays there while others print above it. */

/** A line that can be taken off the screen and put back. */
export interface BottomLine {
  /** Takes it off; the cursor is then where the line began. */
  erase(): void;
  /** Puts it where the cursor is. */
  draw(): void;
}

/**
 * Who stands at the bottom. There is room for one: a prompt, where somebody types, goes before progress, and the
 * latest progress before earlier ones. Whoever writes to the terminal does so with {@linkcode writeAbove}.
 */
export class TerminalBottom {
  #prompt: BottomLine | undefined;
  readonly #progress: BottomLine[] = [];
  #isOff = false;

  /** Writes whole lines above the bottom line. */
  writeAbove(write: () => void): void {
    if (this.#isOff) return write();
    this.#shown?.erase();
    this.#isOff = true;
    try {
      write();
    } finally {
      this.#isOff = false;
      this.#shown?.draw();
    }
  }

  /** Puts a prompt there in place of the one before, or takes it away. */
  setPrompt(line: BottomLine | undefined): void {
    if (line !== this.#prompt) this.writeAbove(() => this.#prompt = line);
  }

  /** Leaves the prompt on the screen as it is: it was answered, and the cursor is below it. */
  leavePrompt(): void {
    this.#prompt = undefined;
    if (!this.#isOff) this.#shown?.draw();
  }

  /** Puts progress there. */
  addProgress(line: BottomLine): void {
    this.writeAbove(() => this.#progress.push(line));
  }

  /** Takes progress away. */
  removeProgress(line: BottomLine): void {
    const index = this.#progress.indexOf(line);
    if (index >= 0) this.writeAbove(() => this.#progress.splice(index, 1));
  }

  /** Draws a line that has changed, if it is the one that is shown. */
  refresh(line: BottomLine): void {
    if (line === this.#shown) this.writeAbove(() => {});
  }

  get #shown(): BottomLine | undefined {
    return this.#prompt ?? this.#progress.at(-1);
  }
}

/** The bottom of this process's terminal, of which there is one. */
export const terminalBottom: TerminalBottom = new TerminalBottom();
