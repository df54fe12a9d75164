/**
 * What the glyphs of a page tell of its texts: the letters of a glyph that stands for several of them, which PDF.js turns
 * round where they run to the left (`لا`), and the words of letters that are set apart (`A N N U A L`).
 */
import type { TextItem } from "./lines.ts";
import type { PageOperators } from "./operators.ts";
import { isRightToLeft, withoutForms } from "./right_to_left.ts";
import { type WrittenGlyph, writtenTexts } from "./text_gaps.ts";

const LIGATURE = /ال|اأ|لأ|أل|إل|آل/u;
/** Single letters with spaces between them: enough to look for words in them, and where a line has such texts. */
const [SPACED, SPACED_TOO] = [
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
  const spaced = new Set(texts.filter(({ str }) => SPACED.test(str)).map(heightOf));
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
    const isSpaced = SPACED.test(item.str) || SPACED_TOO.test(item.str) && spaced.has(heightOf(item));
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
