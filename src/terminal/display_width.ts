/** The width of text in columns of a terminal; cropping, padding and wrapping to a width. */
import stringWidth from "string-width";

const NARROW = /^[\u0020-\u007e]*$/;
const TAB_COLUMNS = 8;
const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/** The width of one line: two columns for wide characters and emoji, none for combining marks. */
export function displayWidth(line: string): number {
  return NARROW.test(line) ? line.length : stringWidth(line);
}

/** The line, or the beginning of a line that is wider than `width`, with `…` at its end. */
export function cropToWidth(line: string, width: number): string {
  if (line.length <= width * MAX_UNITS_PER_COLUMN && displayWidth(line) <= width) return line;
  return width < 1 ? "" : `${takeWidth(line, width - 1).trimEnd()}…`;
}

/** A line with more code units per column is cropped without measuring all of it, to bound the time. */
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

/** The line, padded with spaces to `width` columns. A wider line is not changed. */
export function padToWidth(line: string, width: number, align: "left" | "right" = "left"): string {
  const space = " ".repeat(Math.max(0, width - displayWidth(line)));
  return align === "left" ? line + space : space + line;
}

/**
 * Wraps a line to lines of at most `width` columns, at spaces where possible.
 *
 * @param options `maxLines`: stops after one line more than this, so that the caller sees that there are more; unlimited
 *   by default.
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
      // Drops the space at which the line was broken.
      if (segment === " ") continue;
    }
    current += segment;
    used += columns;
  }
  return current === "" && wrapped.length > 0 ? wrapped : [...wrapped, current];
}

/** Breaks at the last space, or within a word when the line would become shorter than half of the width. */
function breakAtSpace(line: string): [string, string] {
  const space = line.lastIndexOf(" ");
  return space < line.length / 2 ? [line, ""] : [line.slice(0, space), line.slice(space + 1)];
}

/** The lines of a text, with tabs expanded to spaces. */
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
