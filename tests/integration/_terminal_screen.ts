/** What a terminal shows: the few commands that our programs send it, obeyed. */
import { displayWidth } from "../../src/terminal/display_width.ts";

const ROWS = 40;
const TAB_COLUMNS = 8;
/** CSI with its parameters and final letter; OSC; other escapes; one character. */
const TOKEN =
  // deno-lint-ignore no-control-regex -- escape sequences are what is read
  /\u001b\[([\u0020-\u003f]*)([\u0040-\u007e])|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[^[\]]|[^\u001b]/gu;

/** Text without the commands to the terminal in it. */
export function withoutCommands(text: string): string {
  return text.replace(TOKEN, (token) => token.startsWith("\u001b") ? "" : token).replaceAll("\r\n", "\n");
}

/** A screen of so many columns; what scrolls off at its top is kept. */
export class TerminalScreen {
  columns: number;
  readonly #rows: string[][] = [[]];
  #row = 0;
  #column = 0;

  constructor(columns: number) {
    this.columns = columns;
  }

  /** The lines, without spaces at their ends and empty lines at the end. */
  get text(): string {
    return this.#rows.map((cells) => Array.from(cells, (cell) => cell ?? " ").join("").trimEnd()).join("\n")
      .trimEnd();
  }

  /** Takes what a program wrote, and leaves the beginning of a command that is not complete yet. */
  write(text: string): string {
    const cut = text.lastIndexOf("\u001b");
    const tail = cut < 0 || text.slice(cut).match(TOKEN)?.[0]?.startsWith("\u001b") ? "" : text.slice(cut);
    for (const [token, parameters, final] of text.slice(0, text.length - tail.length).matchAll(TOKEN)) {
      if (final !== undefined) this.#obey(final, (parameters ?? "").split(";").map(Number));
      else if (!token.startsWith("\u001b")) this.#put(token);
    }
    return tail;
  }

  #put(character: string): void {
    if (character === "\r") this.#column = 0;
    else if (character === "\n") this.#moveTo(this.#row + 1, this.#column);
    else if (character === "\b") this.#column = Math.max(0, this.#column - 1);
    else if (character === "\t") this.#column += TAB_COLUMNS - this.#column % TAB_COLUMNS;
    else if (character >= " " && character !== "\u007f") this.#print(character);
  }

  #print(character: string): void {
    const width = displayWidth(character);
    if (this.#column + width > this.columns) this.#moveTo(this.#row + 1, 0);
    const cells = this.#rows[this.#row] ?? [];
    if (width === 0) return;
    cells[this.#column] = character;
    // The second half of a wide character
    if (width === 2) cells[this.#column + 1] = "";
    this.#column += width;
  }

  #obey(command: string, [first = 0, second = 0]: readonly number[]): void {
    const count = Math.max(1, first);
    if (command === "A") this.#moveTo(this.#row - count, this.#column);
    else if (command === "B") this.#moveTo(this.#row + count, this.#column);
    else if (command === "C") this.#column = Math.min(this.columns - 1, this.#column + count);
    else if (command === "D") this.#column = Math.max(0, Math.min(this.columns, this.#column) - count);
    else if (command === "G") this.#column = count - 1;
    else if (command === "H") this.#moveTo(this.#top + count - 1, Math.max(1, second) - 1);
    else if (command === "J") this.#erase(first);
    else if (command === "K") this.#eraseLine(first);
  }

  #erase(which: number): void {
    if (which === 0) {
      this.#eraseLine(0);
      this.#rows.length = this.#row + 1;
    } else for (const cells of this.#rows.slice(this.#top)) cells.length = 0;
  }

  #eraseLine(which: number): void {
    const cells = this.#rows[this.#row] ?? [];
    if (which === 0) cells.length = Math.min(cells.length, this.#column);
    else if (which === 1) cells.fill(" ", 0, this.#column + 1);
    else cells.length = 0;
  }

  get #top(): number {
    return Math.max(0, this.#rows.length - ROWS);
  }

  #moveTo(row: number, column: number): void {
    this.#row = Math.max(this.#top, row);
    this.#column = column;
    while (this.#rows.length <= this.#row) this.#rows.push([]);
  }
}
