/** Source code without what is no code: comments and strings, in which words and brackets mean nothing. */

/** A part of a file that is no code. Its expressions are sources without capturing groups. */
export interface Region {
  /** Matches where it begins, or the whole region when `end` is absent. */
  readonly open: string;
  /** Matches where it ends, by what has opened it if need be. A region without an end goes on to the end of the file. */
  readonly end?: string | ((open: string) => string);
  /** Matches what is looked over within it, such as `\"`. */
  readonly skip?: string;
  /** Matches where code begins within it, such as `${`. Its last character is the bracket that the code ends with. */
  readonly hole?: string;
  /** Whether a region within it has an end of its own. */
  readonly isNested?: boolean;
  /** Whether it is a comment. */
  readonly isComment?: boolean;
}

/** What stands for each character of a string. */
export const STRING_MASK = '"';

/** The most parts of a text that are kept as such, because each of them takes memory. */
const MAX_PIECES = 1_000;

/**
 * The text with each character of a comment replaced by a space, and each of a string by `"`. Positions and lines stay.
 * Takes a time that grows with the length of the text alone, as long as the expressions of the regions match bounded
 * lengths or whole lines.
 */
export function maskedCode(text: string, regions: readonly Region[]): string {
  const opened = regions.map(({ open }) => `(${open})`).join("|");
  const inCode = new RegExp(opened, "gm");
  const inHole = new RegExp(`${opened}|[{}()]`, "gm");
  const masked: string[] = [];
  let pieces: string[] = [];
  const holes: { readonly region: Region; readonly end: string; depth: number }[] = [];
  let codeFrom = 0;
  for (let at = 0;;) {
    const openings = holes.length === 0 ? inCode : inHole;
    openings.lastIndex = at;
    const match = openings.exec(text);
    if (match === null) break;
    at = openings.lastIndex;
    const index = regions.findIndex((_, index) => match[index + 1] !== undefined);
    let region = regions[index];
    let end = "";
    if (region === undefined) {
      const hole = holes.at(-1);
      if (hole === undefined) break;
      hole.depth += "{(".includes(match[0]) ? 1 : -1;
      if (hole.depth > 0) continue;
      holes.pop();
      ({ region, end } = hole);
    } else {
      end = typeof region.end === "function" ? region.end(match[0]) : region.end ?? "";
    }
    const isResumed = index < 0;
    const from = isResumed ? at : match.index;
    const { to, isHole } = endOf(text, { region, end, from: at });
    pieces.push(text.slice(codeFrom, from), mask(text.slice(from, to), region));
    if (isHole) holes.push({ region, end, depth: 0 });
    codeFrom = to;
    // An empty match would be found again.
    at = to === match.index && !isHole ? to + 1 : to;
    if (pieces.length < MAX_PIECES) continue;
    masked.push(pieces.join(""));
    pieces = [];
  }
  masked.push(...pieces, text.slice(codeFrom));
  return masked.join("");
}

/** Where a region, or its part up to the next code within it, ends. */
function endOf(
  text: string,
  { region, end, from }: { readonly region: Region; readonly end: string; readonly from: number },
): { readonly to: number; readonly isHole: boolean } {
  if (end === "") return { to: from, isHole: false };
  const marks = marksOf(region, end);
  marks.lastIndex = from;
  let depth = 1;
  for (let match; (match = marks.exec(text)) !== null;) {
    const { close, hole, nested } = match.groups ?? {};
    if (hole !== undefined) return { to: marks.lastIndex - 1, isHole: true };
    if (nested !== undefined) depth++;
    else if (close !== undefined && --depth === 0) return { to: marks.lastIndex, isHole: false };
  }
  return { to: text.length, isHole: false };
}

const knownMarks = new WeakMap<Region, { readonly end: string; readonly marks: RegExp }>();

function marksOf(region: Region, end: string): RegExp {
  const known = knownMarks.get(region);
  if (known?.end === end) return known.marks;
  const { skip, hole, isNested, open } = region;
  const marks = new RegExp(
    [
      ...(skip === undefined ? [] : [skip]),
      `(?<close>${end})`,
      ...(hole === undefined ? [] : [`(?<hole>${hole})`]),
      ...(isNested ? [`(?<nested>${open})`] : []),
    ].join("|"),
    "gm",
  );
  knownMarks.set(region, { end, marks });
  return marks;
}

function mask(part: string, { isComment }: Region): string {
  return part.replace(/[^\n]/g, isComment ? " " : STRING_MASK);
}
