/** A line editor that is loaded and opened for the first question of a command. */
import type { LineEditor } from "../../terminal/editor/line_editor.ts";

/** Opens an editor for the first question. */
export class LazyEditor implements AsyncDisposable {
  #editor: Promise<LineEditor> | undefined;

  /** @param options `isPlain`: without a prompt, since a question in the midst of JSON would be no JSON. */
  open(options: { readonly isPlain?: boolean } = {}): Promise<LineEditor> {
    return this.#editor ??= openEditor(options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#editor)?.close();
  }
}

async function openEditor({ isPlain = false }: { readonly isPlain?: boolean }): Promise<LineEditor> {
  if (isPlain) return new (await import("../../terminal/editor/piped_editor.ts")).PipedEditor();
  return await (await import("../../terminal/editor/terminal_editor.ts")).openLineEditor({ prompt: "" });
}
