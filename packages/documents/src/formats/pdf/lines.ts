/** The texts of a page as lines. */
import { joinText, type TextForm } from "../raised_text.ts";

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
  readonly text: string;
  /** The left edge, in points. */
  readonly x: number;
  /** The right edge. */
  readonly end: number;
  /** Its own base line, which may be a little higher or lower than that of the line. */
  readonly y: number;
}

/** A line of text. */
export interface Line {
  /** From left to right. */
  readonly pieces: readonly Piece[];
  /** The base line, from the lower edge of the page, in points. */
  readonly y: number;
  /** The height of most of its letters, in points. */
  readonly size: number;
  /** The font of most of its letters. */
  readonly font: string;
  /** Whether all its letters have that font. */
  readonly hasOneFont?: boolean;
  /** Whether it is read from right to left. */
  readonly isToLeft?: boolean;
  /** Whether it begins with the raised mark of a note. */
  readonly isNote?: boolean;
}

/** The gap, in heights of letters, from which on a line has two pieces. */
const PIECE_GAP = 0.55;
/** The gap that is a space between words. */
const WORD_GAP = 0.18;
/**
 * How large raised and lowered letters are at most, and how far from the base line at least, in heights of letters; nearly as
 * large ones are farther away.
 */
const [MAX_SMALL, MIN_RAISED, MIN_LOWERED] = [0.92, 0.23, 0.08];
const [SMALL, MIN_AWAY] = [0.85, 0.3];
/** The most letters of a raised or lowered text; a longer one is rather a note beside large letters. */
const MAX_RAISED = 24;
/** What is another value on the base line: neither signs such as those of footnotes and brands, nor the end of `1st`. */
const HAS_VALUE = /[\p{L}\p{N}∞+−=]/u;
const BRAND = /^[TS]M$/;
const ORDINAL = /\d(?:st|nd|rd|th)$/u;

/**
 * Joins texts to lines, in the order of the page's content, which is that of reading in most files. A text that stands
 * above or below the line before begins a line; small raised ones, such as marks of footnotes, do not.
 */
export function toLines(items: Iterable<TextItem>): Line[] {
  const lines: Line[] = [];
  let current: OpenLine | undefined;
  for (const { str, width, height, transform, fontName, isApart = false } of items) {
    // Spaces are told by the gaps: a space of PDF.js may be as wide as a column.
    if (str.trim() === "") continue;
    const [, , , d = 0, x = 0, y = 0] = transform;
    const text = { text: str, x, end: x + width, y, size: height || Math.abs(d), font: fontName, isApart };
    if (current?.takes(text)) current.add(text);
    else {
      if (current !== undefined) lines.push(current.close());
      current = new OpenLine(text);
    }
  }
  return current === undefined ? lines : [...lines, current.close()];
}

interface LineText extends PlacedText {
  readonly y: number;
  readonly font: string;
  readonly isApart: boolean;
}

/** A line to which texts are added. */
class OpenLine {
  readonly #texts: LineText[] = [];
  /** The text with the most letters. */
  #main: LineText;
  /** The right edge of its last piece. */
  #end: number;
  #hasToLeft = false;

  constructor(first: LineText) {
    this.#main = first;
    this.#end = first.end;
    this.add(first);
  }

  takes({ text, x, y, size }: LineText): boolean {
    const [first] = this.#texts;
    if (first === undefined || Math.abs(first.y - y) > Math.max(this.#main.size, size) * 0.6) return false;
    // A text that goes back is the next column, or another row that is set as high.
    return x >= this.#end - this.#main.size * 2 || this.#hasToLeft || isRightToLeft(text);
  }

  add(text: LineText): void {
    this.#texts.push(text);
    this.#hasToLeft ||= isRightToLeft(text.text);
    const isNear = text.x - this.#end <= text.size * PIECE_GAP && !text.isApart;
    this.#end = isNear ? Math.max(this.#end, text.end) : text.end;
    if (text.text.trim().length > this.#main.text.trim().length) this.#main = text;
  }

  close(): Line {
    const { size, font } = this.#main;
    const isToLeft = this.#hasToLeft && runsToLeft(this.#texts);
    const texts = this.#hasToLeft ? inReadingOrder(this.#texts, isToLeft) : this.#texts;
    const pieces: OpenPiece[] = [];
    for (const [at, text] of texts.entries()) {
      const last = pieces.at(-1);
      if (last?.takes(text, { size, isToLeft })) last.add(text, isToLeft);
      else pieces.push(new OpenPiece(text, { next: texts[at + 1], isFirst: at === 0 }));
    }
    const closed = pieces.map((piece) => piece.close());
    const y = closed[0]?.y ?? this.#main.y;
    const isNote = pieces[0]?.isMarked === true;
    const hasOneFont = texts.every((text) => text.font === font);
    return { pieces: isToLeft ? closed.reverse() : closed, y, size, font, hasOneFont, isToLeft, isNote };
  }
}

/** A piece to which texts are added, in the order of reading. */
class OpenPiece {
  readonly #runs: (TextForm & { readonly text: string })[] = [];
  /** Its last text that stands on the base line. */
  #base: LineText;
  /** The height of its last letters. */
  #size = 0;
  /** Whether it begins with the mark of a note, which has a space after it. */
  readonly isMarked: boolean;
  #x = Infinity;
  #end = -Infinity;

  constructor(
    first: LineText,
    { next = first, isFirst }: { readonly next?: LineText | undefined; readonly isFirst: boolean },
  ) {
    // A small text at the beginning is raised or lowered beside the one after it.
    const gap = Math.max(next.x - first.end, first.x - next.end);
    const isBeside = gap <= next.size * PIECE_GAP && isSmall(first, next);
    this.isMarked = isBeside && isFirst && next.y !== first.y;
    this.#base = isBeside ? next : first;
    this.#write(first);
  }

  takes(text: LineText, { size, isToLeft }: { readonly size: number; readonly isToLeft: boolean }): boolean {
    // Small raised letters belong to the word before them; others that are higher or lower are of another cell.
    const isLevel = Math.abs(text.y - this.#base.y) <= text.size * 0.25 || text.size < size * SMALL ||
      text.size < size * MAX_SMALL && positionOf(text, this.#base, this.#runs.at(-1)) !== undefined;
    return isLevel && !text.isApart && this.#gap(text, isToLeft) <= text.size * PIECE_GAP;
  }

  add(text: LineText, isToLeft: boolean): void {
    const last = this.#runs.at(-1)?.text ?? "";
    const isAfterSmall = this.#runs.at(-1)?.position !== undefined;
    const size = isAfterSmall ? Math.min(text.size, this.#size) : text.size;
    const isApart = this.#gap(text, isToLeft) > size * WORD_GAP ||
      this.isMarked && text === this.#base;
    if (isApart && !/\s$/.test(last) && !/^\s/.test(text.text)) this.#runs.push({ text: " " });
    // Large brackets and roots have a base line of their own.
    const isBase = /[\p{L}\p{N}]/u.test(text.text) || Math.abs(text.y - this.#base.y) <= text.size * 0.25;
    if (isBase && !isSmall(text, this.#base)) this.#base = text;
    this.#write(text);
  }

  close(): Piece {
    return { text: joinText(this.#runs), x: this.#x, end: this.#end, y: this.#base.y };
  }

  #gap({ x, end }: LineText, isToLeft: boolean): number {
    return isToLeft ? this.#x - end : x - this.#end;
  }

  #write(text: LineText): void {
    const before = this.#runs.at(-1);
    const position = positionOf(text, this.#base, before);
    this.#runs.push({ text: text.text, position });
    this.#size = text.size;
    this.#x = Math.min(this.#x, text.x);
    this.#end = Math.max(this.#end, text.end);
  }
}

function isSmall({ size }: LineText, base: LineText): boolean {
  return size <= base.size * MAX_SMALL;
}

/** Whether a text is set higher or lower beside larger letters. */
function positionOf(
  text: LineText,
  base: LineText,
  before: (TextForm & { readonly text: string }) | undefined,
): TextForm["position"] {
  const shown = text.text.trim();
  const up = (text.y - base.y) / base.size;
  const [above, below] = text.size <= base.size * SMALL ? [MIN_RAISED, MIN_LOWERED] : [MIN_AWAY, MIN_AWAY];
  const position = up > above ? "raised" : up < -below ? "lowered" : undefined;
  if (!isSmall(text, base) || shown.length > MAX_RAISED || position === undefined) return undefined;
  const isWord = position === "raised" && (BRAND.test(shown) || ORDINAL.test(`${before?.text}${shown}`));
  return HAS_VALUE.test(shown) && !isWord || before?.position === position ? position : undefined;
}

/** The text of a line. */
export function textOf({ pieces, isToLeft = false }: Line): string {
  const inOrder = isToLeft ? pieces.toReversed() : pieces;
  return inOrder.map(({ text }) => text.trim()).filter((text) => text !== "").join(" ").replace(/\s+/g, " ");
}

/** Where a line begins and ends, in points that grow in the direction of reading. */
export function edgesOf({ pieces, isToLeft = false }: Line): readonly [start: number, end: number] {
  const [left, right] = [pieces[0]?.x ?? 0, pieces.at(-1)?.end ?? 0];
  return isToLeft ? [-right, -left] : [left, right];
}

/** Whether a text is an entry of a table of contents or a form, with dots or a line that lead to its number or wait for it. */
export function hasLeader(text: string): boolean {
  return /(?:[._…]\s?){5}/u.test(text);
}

/** Short words within compounds; other short parts of words, as in `conflict-res-olution`, are syllables. */
const INNER_WORD = "(?:a|and|as|at|by|for|in|of|on|or|the|to|up)";
/** The end and the beginning of lines that divide a word at a hyphen of its own: `state-of-the-` or `state-`, `of-the-art`. */
const COMPOUND = new RegExp(
  `[\\p{L}\\d]-(?:${INNER_WORD}|[\\p{L}\\d]{4,})-\n|(?:^|[^\\p{L}])self-\n|\n${INNER_WORD}-`,
  "u",
);

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

/** A text of a line, and from where to where it reaches. */
interface PlacedText {
  readonly text: string;
  readonly x: number;
  readonly end: number;
  readonly size: number;
}

const RIGHT_TO_LEFT =
  /(?!\p{N})[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
/** Letters, digits and what belongs to a number beside it. */
const LEFT_TO_RIGHT = /[\p{L}\p{N}]/u;
const OF_NUMBER = /^[%‰$€£°+\-#]+$/u;
/** Texts that are farther apart, in heights of letters, are of different cells or columns. */
const MAX_GAP = 1;

/** Whether a text has letters that run to the left. */
export function isRightToLeft(text: string): boolean {
  return RIGHT_TO_LEFT.test(text);
}

/** Whether more letters of texts run to the left than to the right. */
function runsToLeft(texts: readonly PlacedText[]): boolean {
  const letters = texts.flatMap(({ text }) => text.match(/\p{L}/gu) ?? []);
  return letters.filter((letter) => RIGHT_TO_LEFT.test(letter)).length * 2 > letters.length;
}

/**
 * The texts of a line in the order of reading, whatever the order is in which the page writes them. Texts side by side that
 * run the other way than the line are one.
 */
function inReadingOrder<T extends PlacedText>(texts: readonly T[], toLeft: boolean): T[] {
  const sorted = texts.toSorted((one, other) => one.x - other.x);
  const isOther = sorted.map(({ text }) =>
    toLeft ? LEFT_TO_RIGHT.test(text) && !RIGHT_TO_LEFT.test(text) : RIGHT_TO_LEFT.test(text)
  );
  const joins = sorted.map((text, at) => {
    if (isOther[at] || LEFT_TO_RIGHT.test(text.text)) return isOther[at] === true;
    const [before, after] = [isOther[at - 1] === true, isOther[at + 1] === true];
    const touches = [sorted[at - 1], sorted[at + 1]].map((other) =>
      other !== undefined && gap(text, other) <= 0
    );
    return before && after ||
      OF_NUMBER.test(text.text) && (before && touches[0] || after && touches[1]) === true;
  });
  const runs: T[][] = [];
  for (const [at, text] of sorted.entries()) {
    const before = sorted[at - 1];
    const isNear = before !== undefined && gap(before, text) <= text.size * MAX_GAP;
    if (joins[at] && joins[at - 1] && isNear) runs.at(-1)?.push(text);
    else runs.push([text]);
  }
  const joined = runs.map((run) => run.length === 1 ? run : [join(toLeft ? run : run.toReversed())]).flat();
  return toLeft ? joined.reverse() : joined;
}

function join<T extends PlacedText>(run: readonly T[]): T {
  return run.reduce((before, text) => ({
    ...before,
    text: `${before.text}${gap(before, text) > 0 ? " " : ""}${text.text}`,
    x: Math.min(before.x, text.x),
    end: Math.max(before.end, text.end),
  }));
}

/** How much wider than between letters the gap between texts is, in points. */
function gap(one: PlacedText, other: PlacedText): number {
  return Math.max(other.x - one.end, one.x - other.end) - one.size * WORD_GAP;
}

/** Letters as one types and searches them, in place of the forms that they have at the beginning, middle or end of words. */
export function withoutForms(text: string): string {
  return text.replace(
    /[\ufb1d-\ufdff\ufe70-\ufefc]/gu,
    (form) => form.normalize("NFKC").replace(/^ (?=\p{M})/u, ""),
  );
}
