/** A line editor for a program without a prompt: loaded and opened when something is asked. */
import type { LineEditor } from "./line_editor.ts";

/** Works with a line editor, and gives it back. */
export type UseEditor = <T>(work: (editor: LineEditor) => Promise<T>) => Promise<T>;

/**
 * An editor that is open only while something is asked, because an open one takes every key: at all other times Ctrl-C
 * ends the program.
 */
export class LazyEditor {
  readonly #isPlain: boolean;
  #users = 0;
  #editor: Promise<LineEditor> | undefined;

  /** @param options `isPlain`: without a prompt, since a question in the midst of JSON would be no JSON. */
  constructor({ isPlain = false }: { readonly isPlain?: boolean } = {}) {
    // Lines of a pipe have no prompt either.
    this.#isPlain = isPlain || !(Deno.stdin.isTerminal() && Deno.stdout.isTerminal());
  }

  /** Opens the editor for its first user, and closes it after the last one. */
  readonly use: UseEditor = async (work) => {
    this.#users++;
    try {
      return await work(await (this.#editor ??= this.#open()));
    } finally {
      this.#users--;
      if (this.#users === 0) await this.#giveBack();
    }
  };

  async #open(): Promise<LineEditor> {
    if (this.#isPlain) return new (await import("./piped_editor.ts")).PipedEditor();
    return await (await import("./terminal_editor.ts")).openLineEditor({ prompt: "" });
  }

  /** A plain editor is kept, with the lines that it has read ahead. */
  async #giveBack(): Promise<void> {
    if (this.#isPlain) return;
    const editor = this.#editor;
    this.#editor = undefined;
    await (await editor)?.close();
  }
}
