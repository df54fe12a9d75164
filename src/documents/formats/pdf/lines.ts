/** The texts of a page as lines. */

/** A text as PDF.js gives it. */
export interface TextItem {
  readonly str: string;
  readonly dir: string;
  readonly width: number;
  readonly height: number;
  /** The last two numbers are the place of its beginning, from the lower left corner of the page, in points. */
  readonly transform: readonly number[];
  readonly fontName: string;
  readonly hasEOL: boolean;
  /** Whether the page moves to it from the text before, so that it begins a piece, however narrow the gap is. */
  readonly isApart?: boolean;
}

/** A piece of a line, with a gap before the next one. */
export interface Piece {
  text: string;
  /** The left edge, in points. */
  readonly x: number;
  /** The right edge. */
  end: number;
  /** Its own base line, which may be a little higher or lower than that of the line. */
  readonly y: number;
}

/** A line of text. */
export interface Line {
  readonly pieces: Piece[];
  /** The base line, from the lower edge of the page, in points. */
  readonly y: number;
  /** The height of most of its letters, in points. */
  size: number;
  /** The font of most of its letters. */
  font: string;
  /** How many letters have that font. */
  weight: number;
}

/** The gap, in heights of letters, from which on a line has two pieces. */
const PIECE_GAP = 0.55;
/** The gap that is a space between words. */
const WORD_GAP = 0.18;

const LEADER = /(?:[._…]\s?){5}/u;

/**
 * Joins texts to lines, in the order of the page's content, which is that of reading in most files. A text that stands
 * above or below the line before begins a line; small raised ones, such as marks of footnotes, do not.
 */
export function toLines(items: Iterable<TextItem>): Line[] {
  const lines: Line[] = [];
  let current: Line | undefined;
  for (const item of items) {
    const [, , , , x = 0, y = 0] = item.transform;
    const size = item.height || Math.abs(item.transform[3] ?? 0);
    // Spaces are told by the gaps: a space of PDF.js may be as wide as a column.
    if (item.str.trim() !== "") {
      if (current === undefined || !isOnLine(current, { x, y, size })) {
        current = { pieces: [], y, size, font: item.fontName, weight: 0 };
        lines.push(current);
      }
      addText(current, item, { x, y, size });
    }
  }
  return lines.filter(({ pieces }) => pieces.some(({ text }) => text.trim() !== ""));
}

function isOnLine(
  line: Line,
  { x, y, size }: { readonly x: number; readonly y: number; readonly size: number },
): boolean {
  if (Math.abs(line.y - y) > Math.max(line.size, size) * 0.6) return false;
  const end = line.pieces.at(-1)?.end ?? x;
  // A text that goes back is the next column, or another row that is set as high.
  return x >= end - line.size * 2;
}

function addText(
  line: Line,
  item: TextItem,
  { x, y, size }: { readonly x: number; readonly y: number; readonly size: number },
): void {
  const last = line.pieces.at(-1);
  const gap = last === undefined ? Infinity : x - last.end;
  const end = x + item.width;
  // Small raised letters belong to the word before them; others that are higher or lower are of another cell.
  const isLevel = last === undefined || Math.abs(y - last.y) <= size * 0.25 || size < line.size * 0.85;
  if (last === undefined || !isLevel || item.isApart || gap > size * PIECE_GAP) {
    line.pieces.push({ text: item.str, x, end, y });
  } else {
    const needsSpace = gap > size * WORD_GAP && !/\s$/.test(last.text) && !/^\s/.test(item.str);
    last.text += `${needsSpace ? " " : ""}${item.str}`;
    last.end = Math.max(last.end, end);
  }
  const weight = item.str.trim().length;
  if (weight <= line.weight) return;
  line.weight = weight;
  line.size = size;
  line.font = item.fontName;
}

/** The text of a line. */
export function textOf({ pieces }: Line): string {
  return pieces.map(({ text }) => text.trim()).filter((text) => text !== "").join(" ").replace(/\s+/g, " ");
}

/** Whether a line is an entry of a table of contents or a form, with dots or a line that lead to its number or wait for it. */
export function isEntry(line: Line): boolean {
  return LEADER.test(textOf(line));
}

/** Whether a text has such dots or such a line. */
export function hasLeader(text: string): boolean {
  return LEADER.test(text);
}

/** The end and the beginning of lines that divide a word at a hyphen of its own: `state-of-the-` or `state-`, `of-the-art`. */
const COMPOUND =
  /[\p{L}\d]-[\p{L}\d]+-\n|(?:^|[^\p{L}])self-\n|\n(?:a|and|as|at|by|for|in|of|on|or|the|to|up)-/u;

/** Joins lines to a paragraph. */
export function joinLines(lines: readonly Line[]): string {
  return joinTexts(lines.map(textOf));
}

/** Joins the texts of lines to a paragraph; a word that is divided at the end of a line becomes one. */
export function joinTexts(lines: readonly string[]): string {
  // One text that grows would be searched as a whole for each line.
  const parts: string[] = [];
  for (const line of lines) {
    const next = line.trim().replace(/\s+/g, " ");
    const before = parts.at(-1);
    if (next === "") continue;
    if (before === undefined || isWithoutSpaces(before, next)) parts.push(next);
    else if (/\p{Ll}-$/u.test(before) && /^\p{Ll}/u.test(next)) {
      parts.splice(-1, 1, COMPOUND.test(`${before}\n${next}`) ? before : before.slice(0, -1), next);
    } else parts.push(" ", next);
  }
  return parts.join("");
}

/** Chinese and Japanese have no spaces between words. */
function isWithoutSpaces(before: string, after: string): boolean {
  const letter = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}，。、；：？！「」『』（）]/u;
  return letter.test(before.at(-1) ?? "") && letter.test(after.at(0) ?? "");
}

/**
 * The space of a text that is nearest to a place in it; `undefined` when it has none near.
 *
 * @param next the letter after the space, if it is known
 */
export function nearestSpace(text: string, place: number, next = ""): number | undefined {
  const [before, after] = [text.lastIndexOf(` ${next}`, place), text.indexOf(` ${next}`, place)];
  const spaces = [before, after].filter((space) => space > 0);
  const [nearest] = spaces.sort((one, other) => Math.abs(one - place) - Math.abs(other - place));
  return nearest;
}
