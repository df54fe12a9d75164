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

/** The terminal behind standard output, or `undefined` when it is a file or a pipe. Colours only without `NO_COLOR`. */
export function currentScreen(): Screen | undefined {
  if (!Deno.stdout.isTerminal()) return undefined;
  return { columns: Math.max(MIN_COLUMNS, consoleColumns()), palette: Deno.noColor ? PLAIN : COLORS };
}

/** How many columns the terminal has; 80 where nobody knows. */
export function consoleColumns(): number {
  try {
    return Deno.consoleSize().columns || DEFAULT_COLUMNS;
  } catch {
    return DEFAULT_COLUMNS;
  }
}
