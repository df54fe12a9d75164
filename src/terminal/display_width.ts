/** How many columns of a terminal a text takes, and fitting texts to columns. */
import stringWidth from "string-width";

const NARROW = /^[\u0020-\u007e]*$/;
const TAB_COLUMNS = 8;
const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** The columns of one line: two for wide characters and emoji, none for combining marks. */
export function displayWidth(line: string): number {
  return NARROW.test(line) ? line.length : stringWidth(line);
}

/** The line, or its beginning and `…` when it takes more than `width` columns. */
export function cropToWidth(line: string, width: number): string {
  if (line.length <= width * MAX_UNITS_PER_COLUMN && displayWidth(line) <= width) return line;
  return width < 1 ? "" : `${takeWidth(line, width - 1).trimEnd()}…`;
}

/** Above this many code units to a column a line is not measured as a whole: it is too long in any case, or is noise. */
const MAX_UNITS_PER_COLUMN = 64;

function takeWidth(line: string, width: number): string {
  let taken = "";
  let used = 0;
  for (const { segment } of graphemes.segment(line.slice(0, (width + 1) * MAX_UNITS_PER_COLUMN))) {
    used += displayWidth(segment);
    if (used > width) break;
    taken += segment;
  }
  return taken;
}

/** The line filled up with spaces to `width` columns; a wider one as it is. */
export function padToWidth(line: string, width: number, align: "left" | "right" = "left"): string {
  const space = " ".repeat(Math.max(0, width - displayWidth(line)));
  return align === "left" ? line + space : space + line;
}

/**
 * One line as several of at most `width` columns each, broken at spaces where there are any.
 *
 * @param options `maxLines`: stops when there are more; never by default.
 */
export function wrapToWidth(
  line: string,
  width: number,
  { maxLines = Infinity }: { readonly maxLines?: number } = {},
): string[] {
  if (line.length <= width && displayWidth(line) <= width) return [line];
  const wrapped: string[] = [];
  let current = "";
  let used = 0;
  for (const { segment } of graphemes.segment(line)) {
    const columns = displayWidth(segment);
    if (used + columns > width && current !== "") {
      const [done, rest] = segment === " " ? [current, ""] : breakAtSpace(current);
      if (wrapped.push(done.trimEnd()) > maxLines) return wrapped;
      current = rest;
      used = displayWidth(rest);
      // The space that the line was broken at
      if (segment === " ") continue;
    }
    current += segment;
    used += columns;
  }
  return current === "" && wrapped.length > 0 ? wrapped : [...wrapped, current];
}

/** A word that would leave less than half of the line is broken itself. */
function breakAtSpace(line: string): [string, string] {
  const space = line.lastIndexOf(" ");
  return space < line.length / 2 ? [line, ""] : [line.slice(0, space), line.slice(space + 1)];
}

/** The lines of a text, each tab as the spaces up to its next stop. */
export function* linesOf(text: string): Generator<string> {
  let start = 0;
  while (start <= text.length) {
    const feed = text.indexOf("\n", start);
    const end = feed < 0 ? text.length : feed;
    yield expandTabs(text.slice(start, end));
    start = end + 1;
  }
}

function expandTabs(line: string): string {
  if (!line.includes("\t")) return line;
  let expanded = "";
  let used = 0;
  for (const [i, part] of line.split("\t").entries()) {
    if (i > 0) {
      const gap = TAB_COLUMNS - used % TAB_COLUMNS;
      expanded += " ".repeat(gap);
      used += gap;
    }
    expanded += part;
    used += displayWidth(part);
  }
  return expanded;
}
