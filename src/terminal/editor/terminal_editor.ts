/** The prompt at a terminal, and opening the prompt that fits standard input. */
import { onAbort } from "../../async/abortable.ts";
import process from "node:process";
import type { Key } from "node:readline";
import { delay } from "../../async/backoff.ts";
import { printSafely, terminalBottom } from "../bottom_line.ts";
import { printable } from "../../text/safe_text.ts";
import { History } from "./history.ts";
import type { Dialogue, DialogueEnd, Interruption, LineEditor, LineEditorOptions } from "./line_editor.ts";
import { PipedEditor } from "./piped_editor.ts";
import { QuestionQueue } from "./questions.ts";
import { TypedLine, writeNow } from "./typed_line.ts";

/** Opens the prompt of this process: with editing and history at a terminal, without them for a script. */
export function openLineEditor(options: LineEditorOptions): Promise<LineEditor> {
  const isTerminal = Deno.stdin.isTerminal() && Deno.stdout.isTerminal();
  return isTerminal ? TerminalEditor.open(options) : Promise.resolve(new PipedEditor());
}

/** Without a key press for so long the user is not typing, in milliseconds. */
const TYPING_PAUSE_MS = 1_000;

/**
 * Reads lines and answers. It shows one line at a time: a question, or the command line while a line is read. The terminal
 * is in raw mode until it is closed: each key arrives at once, and none raises a signal.
 */
class TerminalEditor implements LineEditor {
  readonly #prompt: () => string;
  readonly #onInterrupt: (() => void) | undefined;
  readonly #history: History;
  readonly #command: TypedLine;
  readonly #questions: QuestionQueue;
  readonly #interruptions = new Set<AbortController>();
  /** Lines that were entered while a command ran. */
  readonly #early: string[] = [];
  #lastKeyMs = -Infinity;
  readonly #ending = new AbortController();
  #reading: ((line: string | undefined) => void) | undefined;
  #closing: Promise<void> | undefined;

  private constructor(options: LineEditorOptions, history: History) {
    const { prompt, complete, onInterrupt, now = () => performance.now() } = options;
    this.#onInterrupt = onInterrupt;
    this.#prompt = typeof prompt === "string" ? () => prompt : prompt;
    this.#history = history;
    const onLine = (line: string) => this.#onLine(line);
    this.#command = new TypedLine({ prompt: this.#prompt, onLine, history, complete });
    this.#questions = new QuestionQueue({
      bottom: terminalBottom,
      onChange: () => this.#show(),
      now,
    });
    // The command line tells keys from pasted text.
    this.#command.listenTo(process.stdin);
    process.stdin.on("keypress", this.#onKey);
    process.stdin.on("end", this.#end);
    process.stdout.on("resize", this.#onResize);
    // Restores the terminal when the process exits without closing the editor.
    globalThis.addEventListener("unload", restoreTerminal);
    process.stdin.setRawMode(true);
    process.stdin.resume();
  }

  static async open(options: LineEditorOptions): Promise<TerminalEditor> {
    const onWarning = (message: string) => console.error(`warning: ${printable(message)}`);
    return new TerminalEditor(options, await History.open({ onWarning, ...options.history }));
  }

  async read(options: { readonly signal?: AbortSignal | undefined } = {}): Promise<string | undefined> {
    if (this.#reading !== undefined) throw new TypeError("Cannot read a line: another one is being read");
    const { signal } = options;
    const early = this.#early.shift();
    if (early !== undefined) terminalBottom.writeAbove(() => writeNow(`${this.#prompt()}${early}\n`));
    if (early !== undefined || this.#isEnded || signal?.aborted) return early;
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    using _ = onAbort(signal, () => this.#answer(undefined));
    this.#reading = resolve;
    this.#show();
    return await promise;
  }

  async converse(dialogue: Dialogue): Promise<DialogueEnd> {
    await this.#untilResting(dialogue.signal);
    return this.#isEnded ? "cancelled" : await this.#questions.converse(dialogue);
  }

  redraw(): void {
    terminalBottom.refresh(this.#command);
  }

  listenForInterrupt(): Interruption {
    const controller = new AbortController();
    this.#interruptions.add(controller);
    return { signal: controller.signal, [Symbol.dispose]: () => void this.#interruptions.delete(controller) };
  }

  close(): Promise<void> {
    return this.#closing ??= this.#close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    this.#end();
    process.stdin.off("keypress", this.#onKey);
    process.stdin.off("end", this.#end);
    process.stdout.off("resize", this.#onResize);
    globalThis.removeEventListener("unload", restoreTerminal);
    restoreTerminal();
    process.stdin.pause();
    process.stdin.unref();
    await this.#history[Symbol.asyncDispose]();
  }

  /** Whether keys go into the command line: while a line is read, or after the user has begun to type the next one. */
  get #isTyping(): boolean {
    return this.#questions.line === undefined && (this.#reading !== undefined || this.#command.text !== "");
  }

  /**
   * Waits for a pause in typing: the next keys of a user who is typing a command are meant for the command, and not for a
   * question.
   */
  async #untilResting(signal: AbortSignal = this.#ending.signal): Promise<void> {
    const over = AbortSignal.any([signal, this.#ending.signal]);
    while (this.#isTyping && !over.aborted) {
      const leftMs = this.#lastKeyMs + TYPING_PAUSE_MS - performance.now();
      if (leftMs <= 0) return;
      await delay(leftMs, over).catch(() => {});
    }
  }

  get #isEnded(): boolean {
    return this.#ending.signal.aborted;
  }

  /** The line that is on the screen; `undefined` while a command runs. */
  get #shown(): TypedLine | undefined {
    return this.#questions.line ?? (this.#reading === undefined ? undefined : this.#command);
  }

  #show(): void {
    terminalBottom.setPrompt(this.#shown);
  }

  readonly #onResize = (): void => this.#shown?.resize();

  readonly #onKey = (text: string | undefined, key: Key): void => {
    this.#lastKeyMs = performance.now();
    if (key.ctrl && key.name === "c") return this.#interrupt();
    // Ctrl-Z is ignored: a stopped process could not serve its connections.
    if (key.ctrl && key.name === "z") return;
    if (key.ctrl && key.name === "d" && (this.#shown?.text ?? "") === "") return this.#leave();
    if (this.#questions.takesKey()) (this.#questions.line ?? this.#command).press(text, key);
  };

  #onLine(line: string): void {
    this.#history.add(line);
    if (this.#reading !== undefined) {
      terminalBottom.leavePrompt();
      this.#answer(line);
    } else this.#early.push(line);
  }

  #answer(line: string | undefined): void {
    const reading = this.#reading;
    this.#reading = undefined;
    this.#show();
    reading?.(line);
  }

  /** Ctrl-C: cancels the question, else clears the line, else interrupts the command that runs. */
  #interrupt(): void {
    if (this.#questions.line !== undefined) return this.#questions.leave("cancelled", "^C");
    if (this.#reading === undefined) return this.#interruptCommand();
    if (this.#command.text === "") return printSafely("(to exit, type quit or press Ctrl-D)");
    this.#command.abandon("^C");
    terminalBottom.leavePrompt();
    this.#show();
  }

  /** Aborts the interruptions. When all are aborted already, or there are none, it calls `onInterrupt`. */
  #interruptCommand(): void {
    this.#early.length = 0;
    const listening = [...this.#interruptions].filter(({ signal }) => !signal.aborted);
    for (const controller of listening) controller.abort(new DOMException("Interrupted", "AbortError"));
    if (listening.length === 0) this.#onInterrupt?.();
  }

  /** Ctrl-D on an empty line: declines the question, else ends the input. */
  #leave(): void {
    if (this.#questions.line !== undefined) return this.#questions.leave("declined");
    if (this.#reading === undefined) return;
    writeNow("\n");
    terminalBottom.leavePrompt();
    this.#answer(undefined);
  }

  readonly #end = (): void => {
    this.#ending.abort();
    this.#questions.end();
    this.#answer(undefined);
  };
}

function restoreTerminal(): void {
  process.stdin.setRawMode(false);
}
