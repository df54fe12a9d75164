/** What a prompt offers to commands, at a terminal and in a script alike. */
import { printableLine } from "../../text/safe_text.ts";
import type { HistoryOptions } from "./history.ts";

export interface LineEditorOptions {
  /** The text before each line, safe to print. A function is called each time that the line is drawn. */
  readonly prompt: string | (() => string);
  /** Called when Tab is pressed; no completion by default. */
  readonly complete?: Complete | undefined;
  /** The history behind the arrow keys; lines of this session only by default. */
  readonly history?: HistoryOptions | undefined;
  /** Called on Ctrl-C while no line is read and no {@linkcode Interruption} is left to abort. */
  readonly onInterrupt?: (() => void) | undefined;
  /** A monotonic clock in milliseconds, for tests; `performance.now` by default. */
  readonly now?: (() => number) | undefined;
}

/**
 * Gives candidates for the last word of the line up to the cursor. Candidates that do not begin with that word are
 * ignored.
 */
export type Complete = (line: string) => readonly string[] | Promise<readonly string[]>;

export interface Question {
  /** The text; its last line becomes the prompt, earlier lines are printed above it. It need not be safe to print. */
  readonly text: string;
  /** Whether the answer is not echoed; false by default. */
  readonly isHidden?: boolean | undefined;
  /** The answer that an empty line stands for. */
  readonly default?: string | undefined;
  /** Returns an error message for an invalid answer, and the question is asked again. Any answer is valid by default. */
  readonly check?: ((answer: string) => string | undefined) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Choice extends Omit<Question, "isHidden" | "check"> {
  readonly options: readonly string[];
}

/** Questions that belong together, such as the fields of a form: nothing else is asked or read between them. */
export interface Dialogue {
  readonly first: Omit<Question, "signal">;
  /** Returns the question that follows a valid answer; `undefined` ends the dialogue. It must not throw. */
  readonly next: (answer: string) => Omit<Question, "signal"> | undefined;
  /** Withdraws the questions that are left when it is aborted. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * How a dialogue ended: with an answer to its last question, by Ctrl-D, by Ctrl-C or the end of the input, or by its
 * signal.
 */
export type DialogueEnd = "answered" | "declined" | "cancelled" | "withdrawn";

/** A question was asked, and standard input is not a terminal. */
export class NoTerminalError extends Error {
  override readonly name = "NoTerminalError";
  readonly code = "NO_TERMINAL";
}

/** Ctrl-C while a command runs. */
export interface Interruption extends Disposable {
  readonly signal: AbortSignal;
}

/** Reads lines and asks questions. */
export interface LineEditor extends AsyncDisposable {
  /**
   * Resolves to the next line, or to `undefined` at the end of the input: Ctrl-D, the end of the script, or an aborted
   * signal. Ctrl-C clears the line. Lines that were typed while a command ran are read first.
   */
  read(options?: { readonly signal?: AbortSignal | undefined }): Promise<string | undefined>;

  /**
   * Asks one question after another. The answers are not added to the history. A command line that is half typed reappears
   * afterwards. One dialogue is shown at a time.
   *
   * @throws {NoTerminalError} when standard input is not a terminal.
   */
  converse(dialogue: Dialogue): Promise<DialogueEnd>;

  /** Draws the prompt again, after its text has changed. */
  redraw(): void;

  /** Until it is disposed of, Ctrl-C aborts the returned signal while no line and no answer is being typed. */
  listenForInterrupt(): Interruption;

  close(): Promise<void>;
}

/** Asks one question; `undefined` when the user pressed Ctrl-C or Ctrl-D, or the signal withdrew it. */
export async function ask(
  editor: Pick<LineEditor, "converse">,
  { signal, ...first }: Question,
): Promise<string | undefined> {
  let given: string | undefined;
  const next = (answer: string) => {
    given = answer;
    return undefined;
  };
  return await editor.converse({ first, next, signal }) === "answered" ? given : undefined;
}

/** Asks for one of a few options, by its number or its text. Otherwise like {@linkcode ask}. */
export async function choose(
  editor: Pick<LineEditor, "converse">,
  { text, options, ...rest }: Choice,
): Promise<string | undefined> {
  const list = options.map((option, i) => `  ${i + 1}  ${printableLine(option)}\n`).join("");
  const find = (answer: string) => options.find((option) => option === answer) ?? options[toIndex(answer)];
  const check = (answer: string) =>
    find(answer) === undefined
      ? `Invalid choice "${answer}": enter a number from 1 to ${options.length}, or one of the options`
      : undefined;
  const answer = await ask(editor, { ...rest, text: `${list}${text}`, check });
  return answer === undefined ? undefined : find(answer);
}

function toIndex(answer: string): number {
  return /^\s*\d+\s*$/.test(answer) ? Number(answer) - 1 : -1;
}
