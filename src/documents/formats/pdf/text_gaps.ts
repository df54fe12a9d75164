/**
 * The narrow gaps between columns. PDF.js joins texts that are less than 0.6 heights of letters apart, as if the gap were
 * a space. The operators of the page tell where it moves to the next text without writing a space.
 */
import { nearestSpace, type TextItem } from "./lines.ts";
import {
  type Matrix,
  multiply,
  type OperatorNumbers,
  type PageOperators,
  withMatrices,
} from "./operators.ts";

/** A gap between two texts on one base line, in points from the lower left corner of the page. */
export interface TextGap {
  readonly y: number;
  /** Where the text before it ends, and the one after it begins. */
  readonly start: number;
  readonly end: number;
  /** The first letter after it. */
  readonly next: string;
}

/** PDF.js does not join what is farther apart, in heights of letters. */
const MAX_WIDTH = 0.7;
/** The width of a gap, in heights of letters, where the page moves instead of writing spaces, and where it writes them. */
const [MIN_WIDTH, MIN_WIDTH_WITH_SPACES] = [0.4, 0.12];
/** With this share of texts with spaces in them, a page writes spaces. */
const SPACED = 0.1;
/** The most gaps; a page with more of them moves before each word. */
const MAX_GAPS = 2_000;

/** Finds the narrow gaps of a page; none when there are too many. */
export function textGapsOf(operators: PageOperators): readonly TextGap[] {
  const pen = new Pen(operators.numbers);
  const gaps: (TextGap & { readonly width: number })[] = [];
  let before: WrittenText | undefined;
  let [texts, spaced] = [0, 0];
  for (const [operator, args, matrix] of withMatrices(operators)) {
    const text = pen.follow(operator, args, matrix);
    if (text === undefined) continue;
    const width = before === undefined ? 0 : widthBetween(before, text);
    if (before !== undefined && width >= MIN_WIDTH_WITH_SPACES && width <= MAX_WIDTH) {
      gaps.push({ y: text.y, start: before.end, end: text.start, next: text.first, width });
    }
    before = text;
    texts++;
    if (text.hasSpaces) spaced++;
  }
  const least = spaced >= texts * SPACED ? MIN_WIDTH_WITH_SPACES : MIN_WIDTH;
  const wide = gaps.filter(({ width }) => width >= least);
  return wide.length <= MAX_GAPS ? wide : [];
}

/** Divides texts at the gaps in them. */
export function divideAtGaps(items: readonly TextItem[], gaps: readonly TextGap[]): TextItem[] {
  const byHeight = Map.groupBy(gaps, ({ y }) => Math.round(y));
  return items.flatMap((item) => {
    // The place in a text that runs to the left is not told by its letters.
    if (item.dir === "rtl") return [item];
    const [, , , , x = 0, y = 0] = item.transform;
    const inside = [Math.round(y), Math.round(y) - 1, Math.round(y) + 1]
      .flatMap((height) => byHeight.get(height) ?? [])
      .filter(({ start, end }) => start > x && end < x + item.width);
    return inside.length === 0 ? [item] : divide(item, inside.sort((one, other) => one.start - other.start));
  });
}

function divide(item: TextItem, gaps: readonly TextGap[]): TextItem[] {
  const parts: TextItem[] = [];
  let rest = item;
  for (const { start, end, next } of gaps) {
    const { str, width, transform: [a = 0, b = 0, c = 0, d = 0, x = 0, y = 0] } = rest;
    const space = nearestSpace(str, str.length * (start - x) / width, next);
    if (space === undefined) continue;
    parts.push({ ...rest, str: str.slice(0, space), width: start - x });
    rest = {
      ...rest,
      isApart: true,
      str: str.slice(space + 1),
      width: x + width - end,
      transform: [a, b, c, d, end, y],
    };
  }
  return [...parts, rest];
}

/** A glyph, from where to where it reaches. */
export interface WrittenGlyph {
  readonly unicode: string;
  readonly start: number;
  readonly end: number;
  /** Whether the page sets its letters apart. */
  readonly isSpacedOut: boolean;
}

/** A text that the page writes at once, from its first letter to its last one. */
interface WrittenText {
  readonly glyphs: readonly WrittenGlyph[];
  readonly start: number;
  readonly end: number;
  readonly y: number;
  readonly size: number;
  /** Its first and its last letter, or a space. */
  readonly first: string;
  readonly last: string;
  /** Whether it has spaces between its letters. */
  readonly hasSpaces: boolean;
}

/** The width of the gap between two texts on one base line, in heights of letters; 0 when they have none or a space in it. */
function widthBetween(before: WrittenText, text: WrittenText): number {
  const isApart = Math.abs(text.y - before.y) < 1 && before.last.trim() !== "" && text.first.trim() !== "";
  return isApart ? (text.start - before.end) / text.size : 0;
}

/** A letter as PDF.js lists it; a number moves the next letter. */
type Glyph = number | { readonly unicode: string; readonly width: number; readonly isSpace: boolean };

interface TextState {
  size: number;
  letterSpace: number;
  wordSpace: number;
  scale: number;
  leading: number;
}

/** Follows the operators that say where a text stands. */
export class Pen {
  readonly #numbers: OperatorNumbers;
  #state: TextState = { size: 0, letterSpace: 0, wordSpace: 0, scale: 1, leading: 0 };
  readonly #saved: TextState[] = [];
  /** The place of the next letter, and that of the beginning of the line. */
  #place: Matrix = [1, 0, 0, 1, 0, 0];
  #line: Matrix = [1, 0, 0, 1, 0, 0];

  constructor(numbers: OperatorNumbers) {
    this.#numbers = numbers;
  }

  /** The text that an operator writes, unless it is turned or empty. */
  follow(operator: number, args: readonly unknown[], matrix: Matrix): WrittenText | undefined {
    const numbers = this.#numbers;
    const [first, second] = args.map(Number);
    switch (operator) {
      case numbers.save:
        this.#saved.push({ ...this.#state });
        return;
      case numbers.restore:
        this.#state = this.#saved.pop() ?? this.#state;
        return;
      case numbers.beginText:
        this.#setLine([1, 0, 0, 1, 0, 0]);
        return;
      case numbers.setTextMatrix:
        this.#setLine(multiply([1, 0, 0, 1, 0, 0], [...args[0] as Iterable<unknown>]));
        return;
      case numbers.setLeadingMoveText:
        this.#state.leading = -(second ?? 0);
        this.#move(first, second);
        return;
      case numbers.moveText:
        this.#move(first, second);
        return;
      case numbers.nextLine:
        this.#move(0, -this.#state.leading);
        return;
      case numbers.setFont:
        this.#state.size = second ?? 0;
        return;
      case numbers.setLeading:
        this.#state.leading = first ?? 0;
        return;
      case numbers.setCharSpacing:
        this.#state.letterSpace = first ?? 0;
        return;
      case numbers.setWordSpacing:
        this.#state.wordSpace = first ?? 0;
        return;
      case numbers.setHScale:
        this.#state.scale = (first ?? 100) / 100;
        return;
      case numbers.showText:
        return this.#write(args[0] as readonly Glyph[], matrix);
    }
  }

  #setLine(line: Matrix): void {
    [this.#line, this.#place] = [line, line];
  }

  #move(x = 0, y = 0): void {
    this.#setLine(multiply(this.#line, [1, 0, 0, 1, x, y]));
  }

  #write(glyphs: readonly Glyph[], matrix: Matrix): WrittenText | undefined {
    const { size, letterSpace, wordSpace, scale } = this.#state;
    const [a, b, c, d, e, f] = multiply(matrix, this.#place);
    let at = 0;
    let [start, end] = [0, 0];
    let [first, last] = ["", ""];
    let spaces = 0;
    const written: WrittenGlyph[] = [];
    for (const glyph of glyphs) {
      if (typeof glyph === "number") at -= glyph / 1000 * size * scale;
      else {
        const width = glyph.width / 1000 * size;
        if (first === "") [first, start] = [glyph.unicode, at];
        [last, end] = [glyph.unicode, at + width * scale];
        if (glyph.unicode.trim() === "") spaces++;
        written.push({
          unicode: glyph.unicode,
          start: a * at + e,
          end: a * end + e,
          isSpacedOut: letterSpace > size * 0.1,
        });
        at += (width + letterSpace + (glyph.isSpace ? wordSpace : 0)) * scale;
      }
    }
    this.#place = multiply(this.#place, [1, 0, 0, 1, at, 0]);
    if (first === "" || b !== 0 || c !== 0) return undefined;
    return {
      glyphs: written,
      start: a * start + e,
      end: a * end + e,
      y: f,
      size: Math.abs(d * size),
      first,
      last,
      hasSpaces: spaces > 0,
    };
  }
}
