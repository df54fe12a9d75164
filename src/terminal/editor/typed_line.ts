/** A line that somebody types: node's line editor, which can be taken off the screen and put back. */
import { createInterface, emitKeypressEvents, type Interface, type Key } from "node:readline";
import { PassThrough } from "node:stream";
import { clearTimeout, setTimeout } from "node:timers";
import type { BottomLine } from "../bottom_line.ts";
import { type Completions, toCompletions } from "./completions.ts";
import { displayWidth } from "../display_width.ts";
import type { History } from "./history_file.ts";
import { LineOutput, writeNow } from "./line_output.ts";
import { printableLine } from "../safe_text.ts";

/** Longer than this nobody waits after Tab. */
const COMPLETION_TIMEOUT_MS = 2_000;
/** Keys that are pressed while a completion is looked for; more are dropped. */
const MAX_HELD_KEYS = 10_000;

/** Gives whole candidates for the last word of a line. */
export type Complete = (line: string) => readonly string[] | Promise<readonly string[]>;

/** What a typed line is. */
export interface TypedLineOptions {
  /** What stands before it, on one line and safe to print. */
  readonly prompt: () => string;
  /** Hears of a line that was entered; the cursor is then below it. */
  readonly onLine: (line: string) => void;
  /** Whether what is typed stays invisible. */
  readonly isHidden?: boolean | undefined;
  /** Lines for the arrow keys. */
  readonly history?: History | undefined;
  /** Asked when Tab is pressed. */
  readonly complete?: Complete | undefined;
}

/** A line being typed. It takes keys whether it is shown or not. There is nothing to close: its streams are its own. */
export class TypedLine implements BottomLine {
  readonly #options: TypedLineOptions;
  readonly #output = new LineOutput();
  readonly #editor: Interface;
  #held: (readonly [text: string | undefined, key: Key])[] | undefined;
  /** What the second Tab shows. */
  #again: Completions | undefined;
  /** Whether the key before was a Tab, too. */
  #isTabbing = false;
  #isShown = false;
  /** What Ctrl-R looks for, and where it found it last. */
  #found: { readonly part: string; readonly index: number } | undefined;

  constructor(options: TypedLineOptions) {
    this.#options = options;
    const { history } = options;
    this.#editor = createInterface({
      // Keys come through press(), so that their owner can see each before it is taken.
      input: new PassThrough(),
      output: this.#output,
      terminal: true,
      completer: (line: string, done: (error: null, result: Completions) => void) => {
        void this.#complete(line).then((result) => done(null, result));
      },
      history: history?.lines.toReversed() ?? [],
      historySize: history?.maxLines ?? 0,
    });
    this.#editor.on("history", (lines) => {
      if (lines[0] !== undefined && history?.isKept(lines[0]) !== true) lines.shift();
    });
    this.#editor.on("line", (line) => this.#enter(line));
  }

  /** What is typed by now. */
  get text(): string {
    return this.#editor.line;
  }

  /** Makes a terminal tell of keys. A Tab in the middle of a paste is then no wish for a completion. */
  listenTo(input: NodeJS.ReadableStream): void {
    emitKeypressEvents(input, this.#editor);
  }

  /** Presses a key. What cannot be seen, or reorders what can, is not taken. */
  press(text: string | undefined, key: Key): void {
    if (this.#held !== undefined) {
      if (this.#held.length < MAX_HELD_KEYS) this.#held.push([text, key]);
    } else if (key.name !== undefined || text === undefined || printableLine(text) === text) {
      if (key.name !== "tab") this.#isTabbing = false;
      if (key.ctrl && key.name === "r") return this.#search();
      this.#found = undefined;
      this.#editor.write(text ?? "", key);
    }
  }

  /** Leaves what is shown where it is, with a mark behind it; the line begins anew below. */
  abandon(mark: string): void {
    if (this.#isShown) {
      this.#editor.write("", { ctrl: true, name: "e" });
      writeNow(`${mark}\n`);
    }
    this.#hide();
    this.#editor.write("", { ctrl: true, name: "e" });
    this.#editor.write("", { ctrl: true, name: "u" });
  }

  draw(): void {
    const prompt = this.#options.prompt();
    this.#editor.setPrompt(prompt);
    // Drawn for nobody first: the editor then believes to be in the row where its cursor belongs,
    this.#hide();
    this.#editor.prompt(true);
    this.#isShown = true;
    if (this.#options.isHidden) return writeNow(prompt);
    // and goes up from there when it draws again.
    writeNow("\n".repeat(this.#editor.getCursorPos().rows));
    this.#output.isMuted = false;
    this.#editor.prompt(true);
  }

  erase(): void {
    const rows = this.#options.isHidden
      ? Math.floor(displayWidth(this.#editor.getPrompt()) / this.#output.columns)
      : this.#editor.getCursorPos().rows;
    this.#hide();
    writeNow(`${rows > 0 ? `\u001b[${rows}A` : ""}\r\u001b[J`);
  }

  /** Draws again after the terminal has got another size. */
  resize(): void {
    this.#output.emit("resize");
  }

  /** Ctrl-R: puts the latest line that contains what is typed in its place; again, the one before that. */
  #search(): void {
    const lines = this.#options.history?.lines ?? [];
    const { part, index } = this.#found ?? { part: this.text, index: lines.length };
    const found = lines.slice(0, index).findLastIndex((line) => line.includes(part) && line !== this.text);
    const line = lines[found];
    if (line === undefined) return;
    this.#found = { part, index: found };
    this.#editor.write("", { ctrl: true, name: "e" });
    this.#editor.write("", { ctrl: true, name: "u" });
    this.#editor.write(line);
  }

  #hide(): void {
    this.#isShown = false;
    this.#output.isMuted = true;
  }

  #enter(line: string): void {
    if (this.#isShown && this.#options.isHidden) writeNow("\n");
    this.#hide();
    this.#options.onLine(line);
  }

  /** Keys wait for the end of a completion, which would otherwise go into another line than it was made for. */
  async #complete(line: string): Promise<Completions> {
    this.#held ??= [];
    const completions = this.#again ?? await this.#findCompletions(line);
    // Only after the editor has taken the completions, which it does before any timer
    setTimeout(() => this.#release(line, completions), 0);
    return completions;
  }

  async #findCompletions(line: string): Promise<Completions> {
    const { complete = () => [] } = this.#options;
    const late = Promise.withResolvers<readonly string[]>();
    const timer = setTimeout(() => late.resolve([]), COMPLETION_TIMEOUT_MS).unref();
    try {
      return toCompletions(line, await Promise.race([complete(line), late.promise]));
    } catch {
      // Whoever cannot tell what comes next offers nothing; what is typed is not in danger.
      return [[], ""];
    } finally {
      clearTimeout(timer);
    }
  }

  #release(line: string, completions: Completions): void {
    const isFirstTab = !this.#isTabbing;
    this.#isTabbing = true;
    if (isFirstTab && completions[0].length > 1 && this.text.slice(0, this.#editor.cursor) === line) {
      // The editor shows the list at a second Tab; whoever cannot be led further wants it at the first.
      this.#again = completions;
      return this.#editor.write("\t", { name: "tab" });
    }
    const held = this.#held ?? [];
    this.#held = this.#again = undefined;
    for (const [text, key] of held) this.press(text, key);
  }
}
