/** Opening the prompt. */
import type { LineEditor, LineEditorOptions } from "./line_editor.ts";
import { PipedEditor } from "./piped_editor.ts";
import { TerminalEditor } from "./terminal_editor.ts";

/** Opens the prompt of this process: at a terminal with all that helps typing, otherwise for a script. */
export function openLineEditor(options: LineEditorOptions): Promise<LineEditor> {
  const isTerminal = Deno.stdin.isTerminal() && Deno.stdout.isTerminal();
  return isTerminal ? TerminalEditor.open(options) : Promise.resolve(new PipedEditor());
}
