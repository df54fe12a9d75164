/** The size and the colors of this process's terminal. */

/** Colors by their purpose. Each function adds a color and leaves the width of the text as it is. */
export interface Palette {
  /** Names and headings. */
  readonly strong: (text: string) => string;
  /** Lines, addresses and other secondary text. */
  readonly faint: (text: string) => string;
  /** Kinds and states. */
  readonly accent: (text: string) => string;
  /** Failures. */
  readonly alarm: (text: string) => string;
}

export const PLAIN: Palette = { strong: same, faint: same, accent: same, alarm: same };

/** The terminal's 16-color palette, which follows the user's theme. */
export const COLORS: Palette = {
  strong: (text) => sgr(1, text, 22),
  faint: (text) => sgr(2, text, 22),
  accent: (text) => sgr(36, text, 39),
  alarm: (text) => sgr(31, text, 39),
};

function same(text: string): string {
  return text;
}

function sgr(on: number, text: string, off: number): string {
  return text === "" ? "" : `\u001b[${on}m${text}\u001b[${off}m`;
}

/** What drawing functions need to know of a terminal. */
export interface Screen {
  readonly columns: number;
  readonly palette: Palette;
}

const DEFAULT_COLUMNS = 80;
/** The smallest width to draw for; a narrower terminal wraps the lines. */
const MIN_COLUMNS = 30;

export function currentScreen(): Screen | undefined {
  if (!Deno.stdout.isTerminal()) return undefined;
  return { columns: Math.max(MIN_COLUMNS, consoleColumns()), palette: hasColors() ? COLORS : PLAIN };
}

export function errorPalette(): Palette {
  return Deno.stderr.isTerminal() && hasColors() ? COLORS : PLAIN;
}

/** Whether `TERM=dumb` is set: such a terminal can neither move its cursor nor show colors. */
export function isDumbTerminal(): boolean {
  const { state } = Deno.permissions.querySync({ name: "env", variable: "TERM" });
  return state === "granted" && Deno.env.get("TERM") === "dumb";
}

/** Whether to print colors: not with `NO_COLOR` or `TERM=dumb`. */
export function hasColors(): boolean {
  return !Deno.noColor && !isDumbTerminal();
}

/** The width of the terminal; 80 when it is unknown. */
export function consoleColumns(): number {
  try {
    return Deno.consoleSize().columns || DEFAULT_COLUMNS;
  } catch {
    return DEFAULT_COLUMNS;
  }
}

/** What an error of a terminal that was closed says; that of `console` has no code. */
const CLOSED = /Input\/output error/;

/**
 * Writes to a terminal, if it is still there. A terminal that was closed takes nothing more, and the SIGHUP that comes with
 * its end lets the program end gently: an error of `write` must not stop that.
 */
export function writeIfOpen(write: () => void): void {
  try {
    write();
  } catch (error) {
    if (!(error instanceof Error) || !CLOSED.test(error.message)) throw error;
  }
}
