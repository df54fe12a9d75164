/** The prompt of a person at a terminal. */
import type { Key } from "node:readline";
import { terminalBottom } from "../bottom_line.ts";
import { History } from "./history_file.ts";
import { Keyboard } from "./keyboard.ts";
import type { Interruption, LineEditor, LineEditorOptions } from "./line_editor.ts";
import { writeNow } from "./line_output.ts";
import { type Choice, choose, type Question } from "./question.ts";
import { QuestionQueue } from "./question_queue.ts";
import { printable } from "../safe_text.ts";
import { TypedLine } from "./typed_line.ts";
import { TypingRest } from "./typing_rest.ts";

/** Lines that are typed or pasted while a command runs; more are dropped. */
const MAX_WAITING_LINES = 1_000;

/** Reads lines and answers. One line is shown at a time: a question, or the prompt while it is read. */
export class TerminalEditor implements LineEditor {
  readonly #prompt: () => string;
  readonly #onInterrupt: (() => void) | undefined;
  readonly #history: History;
  readonly #command: TypedLine;
  readonly #questions: QuestionQueue;
  readonly #keyboard: Keyboard;
  readonly #interruptions = new Set<AbortController>();
  /** Lines that came before they were asked for. */
  readonly #early: string[] = [];
  readonly #rest = new TypingRest();
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
    this.#keyboard = new Keyboard(this.#command, {
      onKey: (text, key) => this.#onKey(text, key),
      onResize: () => this.#shown?.resize(),
      onEnd: () => this.#end(),
    });
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
    const onAbort = () => this.#answer(undefined);
    signal?.addEventListener("abort", onAbort, { once: true });
    this.#reading = (line) => {
      signal?.removeEventListener("abort", onAbort);
      resolve(line);
    };
    this.#show();
    return await promise;
  }

  async ask(question: Question): Promise<string | undefined> {
    const { signal = this.#ending.signal } = question;
    // The keys of somebody who is typing a command are meant for the command.
    await this.#rest.wait(() => this.#isTyping, AbortSignal.any([signal, this.#ending.signal]));
    return this.#isEnded ? undefined : await this.#questions.ask(question);
  }

  choose(choice: Choice): Promise<string | undefined> {
    return choose((question) => this.ask(question), choice);
  }

  print(text: string): void {
    this.printDrawn(printable(text));
  }

  printDrawn(picture: string): void {
    terminalBottom.writeAbove(() => console.log(picture));
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
    this.#keyboard[Symbol.dispose]();
    await this.#history[Symbol.asyncDispose]();
  }

  /** Whether keys go into a command. While one runs, nobody is expected to type the next. */
  get #isTyping(): boolean {
    return this.#questions.line === undefined && (this.#reading !== undefined || this.#command.text !== "");
  }

  get #isEnded(): boolean {
    return this.#ending.signal.aborted;
  }

  /** The line that keys go to the eye from. */
  get #shown(): TypedLine | undefined {
    return this.#questions.line ?? (this.#reading === undefined ? undefined : this.#command);
  }

  #show(): void {
    terminalBottom.setPrompt(this.#shown);
  }

  #onKey(text: string | undefined, key: Key): void {
    this.#rest.press();
    if (key.ctrl && key.name === "c") return this.#interrupt();
    // To stop the process would stop the MCP servers' answers with it.
    if (key.ctrl && key.name === "z") return;
    if (key.ctrl && key.name === "d" && (this.#shown?.text ?? "") === "") return this.#leave();
    if (this.#questions.takesKey()) (this.#questions.line ?? this.#command).press(text, key);
  }

  #onLine(line: string): void {
    this.#history.add(line);
    if (this.#reading !== undefined) {
      terminalBottom.leavePrompt();
      this.#answer(line);
    } else if (this.#early.length < MAX_WAITING_LINES && this.#early.push(line) === MAX_WAITING_LINES) {
      this.print(`${MAX_WAITING_LINES} lines are waiting; what is typed now is left out`);
    }
  }

  #answer(line: string | undefined): void {
    const reading = this.#reading;
    this.#reading = undefined;
    this.#show();
    reading?.(line);
  }

  /** Ctrl-C: takes back the answer, the line or, where there is neither, the command that runs. */
  #interrupt(): void {
    if (this.#questions.line !== undefined) return this.#questions.refuse("^C");
    if (this.#reading === undefined) return this.#interruptCommand();
    if (this.#command.text === "") return this.print("(quit or Ctrl-D ends)");
    this.#command.abandon("^C");
    terminalBottom.leavePrompt();
    this.#show();
  }

  /** What no command hears, or the one that runs has not obeyed, is for the owner. */
  #interruptCommand(): void {
    this.#early.length = 0;
    const listening = [...this.#interruptions].filter(({ signal }) => !signal.aborted);
    for (const controller of listening) controller.abort(new DOMException("Interrupted", "AbortError"));
    if (listening.length === 0) this.#onInterrupt?.();
  }

  /** Ctrl-D where nothing is typed: no answer, or no more lines. */
  #leave(): void {
    if (this.#questions.line !== undefined) return this.#questions.refuse();
    if (this.#reading === undefined) return;
    writeNow("\n");
    terminalBottom.leavePrompt();
    this.#answer(undefined);
  }

  /** Nobody types any more. */
  #end(): void {
    this.#ending.abort();
    this.#questions.end();
    this.#answer(undefined);
  }
}
