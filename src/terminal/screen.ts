/** The terminal that our standard output is, if it is one. */
import { COLORS, type Palette, PLAIN } from "./palette.ts";

/** What a picture is drawn on. */
export interface Screen {
  /** How many columns there are. */
  readonly columns: number;
  readonly palette: Palette;
}

/** What a terminal is taken for that does not tell its size. */
const DEFAULT_COLUMNS = 80;
/** Below this nothing can be drawn; such a terminal wraps. */
const MIN_COLUMNS = 30;

/** The terminal behind standard output, or `undefined` when it is a file or a pipe. Colours only without `NO_COLOR` and `TERM=dumb`. */
export function currentScreen(): Screen | undefined {
  if (!Deno.stdout.isTerminal()) return undefined;
  return { columns: Math.max(MIN_COLUMNS, consoleColumns()), palette: hasColors() ? COLORS : PLAIN };
}

/** The colours for standard error, by the same rules. */
export function errorPalette(): Palette {
  return Deno.stderr.isTerminal() && hasColors() ? COLORS : PLAIN;
}

/** Whether the terminal can move its cursor and show colours; one with `TERM=dumb` shows what it gets, as it comes. */
export function isDumbTerminal(): boolean {
  const { state } = Deno.permissions.querySync({ name: "env", variable: "TERM" });
  return state === "granted" && Deno.env.get("TERM") === "dumb";
}

/** Whether colours are wanted and understood. */
export function hasColors(): boolean {
  return !Deno.noColor && !isDumbTerminal();
}

/** How many columns the terminal has; 80 where nobody knows. */
export function consoleColumns(): number {
  try {
    return Deno.consoleSize().columns || DEFAULT_COLUMNS;
  } catch {
    return DEFAULT_COLUMNS;
  }
}
