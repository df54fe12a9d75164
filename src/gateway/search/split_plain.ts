/** Splits texts between two characters as a reader sees them. */

/** At the last line that fits; in a line that is too long, between two characters. */
export function splitPlain(text: string, max: number): string[] {
  const parts: string[] = [];
  for (let rest = text; rest !== "";) {
    const end = endOfPart(rest, max);
    parts.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return parts;
}

/** The characters around the cut that are looked at for one that may not be cut. */
const LOOK_AROUND = 64;

/** Where the first part of a text ends that has at most `max` characters. */
export function endOfPart(text: string, max: number): number {
  if (text.length <= max) return text.length;
  const line = text.lastIndexOf("\n", max - 1) + 1;
  if (line > max / 2) return line;
  const from = Math.max(0, max - LOOK_AROUND);
  const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });
  const starts = [...graphemes.segment(text.slice(from, max + LOOK_AROUND))].map(({ index }) => from + index);
  return starts.findLast((start) => start <= max && start > 0) ?? max;
}
