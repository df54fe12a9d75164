/**
 * What a page writes beyond what PDF.js tells of it. The narrow gaps between columns: PDF.js joins texts that are less than 0.6 heights of letters apart, as if the gap were
 * a space. The operators of the page tell where it moves to the next text without writing a space.
 */
import { isRightToLeft, type TextItem, withoutForms } from "./lines.ts";
import { type Matrix, multiply, type PageOperators, withMatrices } from "./operators.ts";

/** A gap between two texts on one base line, in points from the lower left corner of the page. */
export interface TextGap {
  readonly y: number;
  /** Where the text before it ends, and the one after it begins. */
  readonly start: number;
  readonly end: number;
  /** The first letter after it, if it is known. */
  readonly next?: string;
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
  const gaps: (TextGap & { readonly width: number })[] = [];
  let before: WrittenText | undefined;
  let [texts, spaced] = [0, 0];
  for (const text of writtenTexts(operators)) {
    const { glyphs, y, size } = text;
    const [first, last] = [glyphs[0], before?.glyphs.at(-1)];
    const isOnLine = before !== undefined && Math.abs(y - before.y) < 1;
    if (isOnLine && first !== undefined && last !== undefined && isLetter(first) && isLetter(last)) {
      const width = (first.start - last.end) / size;
      if (width >= MIN_WIDTH_WITH_SPACES && width <= MAX_WIDTH) {
        gaps.push({ y, start: last.end, end: first.start, next: first.unicode, width });
      }
    }
    before = text;
    texts++;
    if (!glyphs.every(isLetter)) spaced++;
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
    return inside.length === 0
      ? [item]
      : divideText(item, inside.sort((one, other) => one.start - other.start));
  });
}

/** Divides a text at the space that is nearest to each of some gaps, from left to right. */
export function divideText(item: TextItem, gaps: readonly Omit<TextGap, "y">[]): TextItem[] {
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

/** The space before a letter that is nearest to a place in a text; `undefined` when it has none near. */
function nearestSpace(text: string, place: number, next = ""): number | undefined {
  const [before, after] = [text.lastIndexOf(` ${next}`, place), text.indexOf(` ${next}`, place)];
  const spaces = [before, after].filter((space) => space > 0);
  const [nearest] = spaces.sort((one, other) => Math.abs(one - place) - Math.abs(other - place));
  return nearest;
}

/** A glyph, from where to where it reaches. */
export interface WrittenGlyph {
  readonly unicode: string;
  readonly start: number;
  readonly end: number;
  /** Whether the page sets its letters apart. */
  readonly isSpacedOut: boolean;
}

/** A text that the page writes at once, from its first glyph to its last one. */
interface WrittenText {
  readonly glyphs: readonly WrittenGlyph[];
  readonly y: number;
  readonly size: number;
}

function isLetter({ unicode }: WrittenGlyph): boolean {
  return unicode.trim() !== "";
}

/** A letter as PDF.js lists it; a number moves the next letter. */
type Glyph = number | { readonly unicode: string; readonly width: number; readonly isSpace: boolean };

interface TextState {
  readonly size: number;
  readonly letterSpace: number;
  readonly wordSpace: number;
  readonly scale: number;
  readonly leading: number;
}

const UNMOVED: Matrix = [1, 0, 0, 1, 0, 0];

/** The texts that a page writes, but those that are turned. */
export function* writtenTexts(operators: PageOperators): Generator<WrittenText, void> {
  const { numbers } = operators;
  let state: TextState = { size: 0, letterSpace: 0, wordSpace: 0, scale: 1, leading: 0 };
  const saved: TextState[] = [];
  /** The place of the next letter, and that of the beginning of the line. */
  let [place, line] = [UNMOVED, UNMOVED];
  const move = (x: unknown, y: unknown) => place = line = multiply(line, [1, 0, 0, 1, x, y]);
  for (const [operator, args, matrix] of withMatrices(operators)) {
    const [first, second] = args;
    switch (operator) {
      case numbers.save:
        saved.push(state);
        break;
      case numbers.restore:
        state = saved.pop() ?? state;
        break;
      case numbers.beginText:
        place = line = UNMOVED;
        break;
      case numbers.setTextMatrix:
        place = line = multiply(UNMOVED, [...first as Iterable<unknown>]);
        break;
      case numbers.setLeadingMoveText:
        state = { ...state, leading: -Number(second) };
        move(first, second);
        break;
      case numbers.moveText:
        move(first, second);
        break;
      case numbers.nextLine:
        move(0, -state.leading);
        break;
      case numbers.setFont:
        state = { ...state, size: Number(second) };
        break;
      case numbers.setLeading:
        state = { ...state, leading: Number(first) };
        break;
      case numbers.setCharSpacing:
        state = { ...state, letterSpace: Number(first) };
        break;
      case numbers.setWordSpacing:
        state = { ...state, wordSpace: Number(first) };
        break;
      case numbers.setHScale:
        state = { ...state, scale: Number(first) / 100 };
        break;
      case numbers.showText: {
        const at = multiply(matrix, place);
        const { glyphs, width } = write(first as readonly Glyph[], state, at);
        place = multiply(place, [1, 0, 0, 1, width, 0]);
        const [, b, c, d, , y] = at;
        if (glyphs.length > 0 && b === 0 && c === 0) yield { glyphs, y, size: Math.abs(d * state.size) };
      }
    }
  }
}

/** Where glyphs stand, and by how much they move what follows them. */
function write(
  given: readonly Glyph[],
  { size, letterSpace, wordSpace, scale }: TextState,
  [a, , , , x]: Matrix,
): { readonly glyphs: readonly WrittenGlyph[]; readonly width: number } {
  const glyphs: WrittenGlyph[] = [];
  let at = 0;
  for (const glyph of given) {
    if (typeof glyph === "number") at -= glyph / 1000 * size * scale;
    else {
      const { unicode, isSpace } = glyph;
      const width = glyph.width / 1000 * size;
      const [start, end] = [a * at + x, a * (at + width * scale) + x];
      if (unicode !== "") glyphs.push({ unicode, start, end, isSpacedOut: letterSpace > size * 0.1 });
      at += (width + letterSpace + (isSpace ? wordSpace : 0)) * scale;
    }
  }
  return { glyphs, width: at };
}

/** Writes the signs that PDF.js takes for spaces, since their glyphs stand for a space and a sign: ` .`. */
export function withSigns<T extends object>(
  items: readonly (T | TextItem)[],
  operators: PageOperators,
): readonly (T | TextItem)[] {
  const signs = new Map<number, WrittenGlyph[]>();
  for (const { glyphs, y } of writtenTexts(operators)) {
    for (const glyph of glyphs) {
      if (!/^\s+\S/.test(glyph.unicode)) continue;
      const others = signs.get(Math.round(y));
      if (others === undefined) signs.set(Math.round(y), [glyph]);
      else if (others.length < MAX_GLYPHS) others.push(glyph);
    }
  }
  if (signs.size === 0) return items;
  return items.map((item) => {
    if (!("str" in item) || !item.str.includes(" ")) return item;
    const { str, width, transform: [, , , , x = 0] } = item;
    const inside = (signs.get(heightOf(item)) ?? []).filter(({ start }) =>
      start >= x - 0.5 && start <= x + width
    );
    // A row of dots is a space that leads to the next column.
    if (
      inside.length === 0 || inside.length > 2 && new Set(inside.map(({ unicode }) => unicode)).size === 1
    ) {
      return item;
    }
    if (str.trim() === "") {
      const end = inside.at(-1)?.end ?? x + width;
      return { ...item, str: inside.map(({ unicode }) => unicode.trim()).join(""), width: end - x };
    }
    const written = inside.reduce((text, { start, unicode }) => {
      const at = nearestSpace(text, text.length * (start - x) / width);
      return at === undefined ? text : `${text.slice(0, at)}${unicode.trim()}${text.slice(at + 1)}`;
    }, str);
    return { ...item, str: written };
  });
}

const LIGATURE = /ال|اأ|لأ|أل|إل|آل/u;
/** Single letters with spaces between them: enough to look for words in them, and where a line has such texts. */
const [SPACED_LETTERS, SPACED_WORDS] = [
  /^\p{L}(?: [\p{L}\p{N}&’'.,:-]){3,}$/u,
  /^[\p{L}\p{N}](?: [\p{L}\p{N}.]){1,3}$/u,
];
/** The most glyphs of a line; those that follow correct nothing. */
const MAX_GLYPHS = 1_000;
/** How much wider than the gap between letters the gap between words is, and at least, in heights of letters. */
const [WIDER, MIN_WIDER] = [1.6, 0.1];
/** The widest gap between letters that the page moves apart one by one, unless it sets all as far from each other. */
const MAX_MOVED = 0.3;

/** Whether the glyphs may correct a text. */
export function needsGlyphs(text: string): boolean {
  return LIGATURE.test(text) || /(?:^|[^\p{L}])\p{L}(?: \p{L}){3}(?: |$)/u.test(text);
}

/** Corrects the texts of a page. What is no text stays. */
export function correctByGlyphs<T extends object>(
  given: readonly (T | TextItem)[],
  operators: PageOperators,
): readonly (T | TextItem)[] {
  const items = withJoinedLetters(given);
  const texts = items.filter((item): item is TextItem => "str" in item);
  const spaced = new Set(texts.filter(({ str }) => SPACED_LETTERS.test(str)).map(heightOf));
  if (spaced.size === 0 && !texts.some(({ str }) => LIGATURE.test(str))) return items;
  const glyphs = new Map<number, WrittenGlyph[]>();
  for (const text of writtenTexts(operators)) {
    const height = Math.round(text.y);
    const others = glyphs.get(height);
    if (others === undefined) glyphs.set(height, [...text.glyphs]);
    else if (others.length < MAX_GLYPHS) { for (const glyph of text.glyphs) others.push(glyph); }
  }
  return items.map((item) => {
    if (!("str" in item)) return item;
    const isSpaced = SPACED_LETTERS.test(item.str) ||
      SPACED_WORDS.test(item.str) && spaced.has(heightOf(item));
    if (!isSpaced && !LIGATURE.test(item.str)) return item;
    const inside = glyphsOf(item, glyphs.get(heightOf(item)) ?? []);
    return { ...item, str: isSpaced ? toWords(item, inside) : withTurned(item.str, inside) };
  });
}

/** Single letters that follow each other as if each were a word are one text. */
function withJoinedLetters<T extends object>(items: readonly (T | TextItem)[]): (T | TextItem)[] {
  const joined: (T | TextItem)[] = [];
  for (const item of items) {
    const before = joined.at(-1);
    if (before !== undefined && "str" in before && "str" in item && isNextLetter(before, item)) {
      const width = (item.transform[4] ?? 0) + item.width - (before.transform[4] ?? 0);
      joined.splice(-1, 1, { ...before, str: `${before.str} ${item.str}`, width });
    } else joined.push(item);
  }
  return joined;
}

function isNextLetter(before: TextItem, item: TextItem): boolean {
  const [[, , , , x = 0, y = 0], [, , , , nextX = 0, nextY = 0]] = [before.transform, item.transform];
  const gap = (nextX - x - before.width) / item.height;
  const isLetter = /^\p{L}$/u.test(item.str) && /^\p{L}(?: \p{L})*$/u.test(before.str) && item.dir === "ltr";
  return isLetter && y === nextY && before.fontName === item.fontName && gap > 0.18 && gap < 0.5;
}

function heightOf({ transform: [, , , , , y = 0] }: TextItem): number {
  return Math.round(y);
}

/** The glyphs of a text from left to right, each once. */
function glyphsOf(
  { width, height, transform: [, , , , x = 0] }: TextItem,
  all: readonly WrittenGlyph[],
): WrittenGlyph[] {
  const inside = all.filter(({ start, end }) => start >= x - 1 && end <= x + width + 1);
  return inside.sort((one, other) => one.start - other.start).filter((glyph, at) => {
    const before = inside[at - 1];
    return before?.unicode !== glyph.unicode || glyph.start - before.start > height * 0.12;
  });
}

/** Turns the letters of each glyph that stands for several of them; nothing when the glyphs are not those of the text. */
function withTurned(text: string, glyphs: readonly WrittenGlyph[]): string {
  const letters = [...text];
  const places = [...letters.keys()].filter((at) => isRightToLeft(letters[at] ?? ""));
  const written: string[] = [];
  const groups: (readonly [start: number, end: number])[] = [];
  for (const { unicode } of glyphs.toReversed()) {
    const parts = [...withoutForms(unicode)].filter(isRightToLeft);
    const isTurned = [...unicode].length > 1;
    if (isTurned) groups.push([written.length, written.length + parts.length]);
    written.push(...(isTurned ? parts.reverse() : parts));
  }
  if (written.join("") !== places.map((at) => letters[at]).join("")) return text;
  for (const group of groups) {
    const inside = places.slice(...group);
    const turned = inside.map((at) => letters[at] ?? "").reverse();
    for (const [index, at] of inside.entries()) letters[at] = turned[index] ?? "";
  }
  return letters.join("");
}

/** The words of letters that are set apart: between them is a space, or a wider gap. Letters with spaces between all stay. */
function toWords({ str, height }: TextItem, glyphs: readonly WrittenGlyph[]): string {
  const letters = glyphs.filter(({ unicode }) => unicode.trim() !== "");
  if (letters.map(({ unicode }) => unicode).join("") !== str.replaceAll(" ", "")) return str;
  const gaps = letters.slice(1).map(({ start }, at) => {
    const before = letters[at];
    const hasSpace = glyphs.some((glyph) =>
      glyph.unicode.trim() === "" && glyph.start >= (before?.start ?? 0) && glyph.start <= start
    );
    return { width: start - (before?.end ?? start), hasSpace };
  });
  const usual =
    gaps.map(({ width }) => width).sort((one, other) => one - other)[Math.floor(gaps.length / 2)] ?? 0;
  const isSpacedOut = letters.every((letter) => letter.isSpacedOut);
  const steps = letters.slice(1).map(({ start }, at) => start - (letters[at]?.start ?? 0));
  const isEven = Math.max(...steps) - Math.min(...steps) < height * 0.05;
  if (!isSpacedOut && (!isEven && usual > height * MAX_MOVED || /\d/.test(str))) return str;
  const isWord = gaps.map(({ width, hasSpace }) => hasSpace || width > usual * WIDER + height * MIN_WIDER);
  if (isWord.filter((each) => each).length * 2 > gaps.length) return str;
  return letters.map(({ unicode }, at) => `${unicode}${isWord[at] ? " " : ""}`).join("");
}
