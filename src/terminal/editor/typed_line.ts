/** A line that is being typed: node's line editor, which can be erased from the screen and drawn again. */
import { createInterface, emitKeypressEvents, type Interface, type Key } from "node:readline";
import { PassThrough, Writable } from "node:stream";
import { clearTimeout, setTimeout } from "node:timers";
import type { BottomLine } from "../bottom_line.ts";
import { displayWidth } from "../display_width.ts";
import { printableLine } from "../../text/safe_text.ts";
import { consoleColumns, writeIfOpen } from "../screen.ts";
import { quoteWord, readLineSoFar } from "../words.ts";
import type { History } from "./history.ts";
import type { Complete } from "./line_editor.ts";

const COMPLETION_TIMEOUT_MS = 2_000;
const MAX_COMPLETIONS = 200;

/** Candidates for the last word as they are to be written, and that word as it is written now: what node's editor expects. */
export type Completions = [completions: string[], written: string];

/**
 * Keeps the candidates that begin with the last word of the line, and quotes them as that word is quoted. A space
 * follows a single candidate, except after `/` and `=`, where the user goes on typing a file or a value. Candidates
 * with control characters are left out.
 */
export function toCompletions(line: string, candidates: readonly string[]): Completions {
  const { word, written, quote } = readLineSoFar(line);
  const fitting = [...new Set(candidates)].filter((each) => each.startsWith(word) && isPrintable(each));
  const texts = fitting.slice(0, MAX_COMPLETIONS).map((each) => quoteWord(each, quote));
  const [only, ...others] = texts;
  if (only === undefined || others.length > 0) return [texts, written];
  const isOpen = /[/=]$/.test(fitting[0] ?? "");
  return [[isOpen ? only.slice(0, only.length - quote.length) : `${only} `], written];
}

/** Characters that end a line, control a terminal or reorder text. A part of an emoji arrives by itself, and is none. */
const UNTYPED = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

function isPrintable(text: string): boolean {
  return text !== "" && printableLine(text) === text;
}

/** Writes text to standard output synchronously, unless the terminal was closed. */
export function writeNow(text: string): void {
  const bytes = new TextEncoder().encode(text);
  writeIfOpen(() => {
    for (let written = 0; written < bytes.length;) {
      written += Deno.stdout.writeSync(bytes.subarray(written));
    }
  });
}

/** Standard output for node's line editor. While it is muted, all output is dropped. */
class LineOutput extends Writable {
  /** Makes node's line editor draw as on a terminal. */
  readonly isTTY = true;
  isMuted = true;

  get columns(): number {
    return consoleColumns();
  }

  override _write(chunk: Uint8Array | string, _encoding: string, done: () => void): void {
    if (!this.isMuted) writeNow(typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk));
    done();
  }
}

export interface TypedLineOptions {
  /** The text before the line, on one line and safe to print. */
  readonly prompt: () => string;
  /** Called when Enter is pressed; the cursor is then below the line. */
  readonly onLine: (line: string) => void;
  /** Whether the line is not echoed; false by default. */
  readonly isHidden?: boolean | undefined;
  /** The history behind the arrow keys and Ctrl-R; none by default. */
  readonly history?: History | undefined;
  /** Called when Tab is pressed; no completion by default. */
  readonly complete?: Complete | undefined;
}

/** A line that is being typed. It takes keys whether it is shown or not. It need not be closed. */
export class TypedLine implements BottomLine {
  readonly #options: TypedLineOptions;
  readonly #output = new LineOutput();
  readonly #editor: Interface;
  #held: (readonly [text: string | undefined, key: Key])[] | undefined;
  #isShown = false;
  /** The text that Ctrl-R searches for, and the index of the last match in the history. */
  #found: { readonly part: string; readonly index: number } | undefined;

  constructor(options: TypedLineOptions) {
    this.#options = options;
    const { history } = options;
    this.#editor = createInterface({
      // Keys arrive through press(), so that the owner of the line can handle some of them first.
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

  get text(): string {
    return this.#editor.line;
  }

  /** Makes `input` emit `keypress` events. A tab character in pasted text then does not start a completion. */
  listenTo(input: NodeJS.ReadableStream): void {
    emitKeypressEvents(input, this.#editor);
  }

  /** Presses a key. Control characters, and characters that reorder text, are ignored. */
  press(text: string | undefined, key: Key): void {
    if (this.#held !== undefined) this.#held.push([text, key]);
    else if (key.name !== undefined || text === undefined || !UNTYPED.test(text)) {
      if (key.ctrl && key.name === "r") return this.#search();
      this.#found = undefined;
      this.#editor.write(text ?? "", key);
    }
  }

  /** Leaves the typed text on the screen with `mark` after it, and starts an empty line below. */
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
    // The editor draws from the row where it believes its cursor to be. Drawing while muted sets that row to the one
    // of the cursor; the line feeds below then move the real cursor there.
    this.#hide();
    this.#editor.prompt(true);
    this.#isShown = true;
    if (this.#options.isHidden) return writeNow(prompt);
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

  resize(): void {
    this.#output.emit("resize");
  }

  /** Ctrl-R: replaces the text by the latest history line that contains it; pressed again, by the one before. */
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

  /** Holds keys back until the completion is done, because it applies to the line as it is now. */
  async #complete(line: string): Promise<Completions> {
    this.#held ??= [];
    const completions = await this.#findCompletions(line);
    // The editor takes the completions in a microtask, before this timer.
    setTimeout(() => this.#release(), 0);
    return completions;
  }

  async #findCompletions(line: string): Promise<Completions> {
    const { complete = () => [] } = this.#options;
    const late = Promise.withResolvers<readonly string[]>();
    const timer = setTimeout(() => late.resolve([]), COMPLETION_TIMEOUT_MS).unref();
    try {
      return toCompletions(line, await Promise.race([complete(line), late.promise]));
    } catch {
      // A completion that fails offers no candidates.
      return [[], ""];
    } finally {
      clearTimeout(timer);
    }
  }

  #release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const [text, key] of held) this.press(text, key);
  }
}
