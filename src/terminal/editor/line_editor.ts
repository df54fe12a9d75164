/** The prompt: lines and answers from a person, or lines from a script. */
import type { HistoryOptions } from "./history_file.ts";
import type { Choice, Question } from "./question.ts";
import type { Complete } from "./typed_line.ts";

/** What a prompt is. */
export interface LineEditorOptions {
  /** What stands before each line, safe to print; a function's answer may change with the state. */
  readonly prompt: string | (() => string);
  /** Gives whole candidates for the last word of the line up to the cursor; those that do not fit are left out. */
  readonly complete?: Complete | undefined;
  /** Lines for the arrow keys; none from earlier sessions by default. */
  readonly history?: HistoryOptions | undefined;
  /** Hears of a Ctrl-C that is meant for a command, and that no command listens for. */
  readonly onInterrupt?: (() => void) | undefined;
  /** A clock in milliseconds, by which keys right after a withdrawn question are left out; that of the process by default. */
  readonly now?: (() => number) | undefined;
}

/** Ctrl-C while a command runs. */
export interface Interruption extends Disposable {
  readonly signal: AbortSignal;
}

/** Where lines come from, and where everything is printed while somebody types. */
export interface LineEditor extends AsyncDisposable {
  /**
   * Resolves to the next line, or to `undefined` at the end: Ctrl-D, the end of the script, or an aborted signal.
   * Ctrl-C takes back what is typed. Lines that came too early are read one after the other.
   */
  read(options?: { readonly signal?: AbortSignal | undefined }): Promise<string | undefined>;

  /**
   * Asks for a line that goes into no history. What is half-typed comes back afterwards; questions that are asked at
   * the same time wait for each other.
   *
   * @return `undefined` when it was refused with Ctrl-C or Ctrl-D, or withdrawn by its signal.
   * @throws {NoTerminalError} when nobody is there to be asked.
   */
  ask(question: Question): Promise<string | undefined>;

  /** Asks for one of a few options, by number or value. Otherwise as {@linkcode ask}. */
  choose(choice: Choice): Promise<string | undefined>;

  /** Prints lines above the prompt. Whatever strangers wrote in them cannot command the terminal. */
  print(text: string): void;

  /** The same for what is drawn already, in colours for one, and safe to print. */
  printDrawn(picture: string): void;

  /** Draws the prompt again: what it tells has changed. */
  redraw(): void;

  /** Hears of Ctrl-C until it is disposed of, as long as no line and no answer is being typed. */
  listenForInterrupt(): Interruption;

  /** Gives the terminal back. Idempotent. */
  close(): Promise<void>;
}
