/**
 * Texts that a page draws again at nearly the same place, to make them bold, to outline them or to give them a shadow: they
 * count once. PDF.js joins neighboring letters before and after such a text, so that a text may begin with a copy of the end
 * of the one before it: `HE`, `EL`, `LL`, `LO`.
 */
import type { TextItem } from "./lines.ts";

/** How far a copy may be moved along its line for each of its letters, and at all; and across it; in heights of letters. */
const [ALONG_OF_LETTER, MAX_ALONG, MAX_ACROSS] = [0.12, 0.6, 0.25];
/** The share of its width that a copy covers of the text below it, at least. */
const MIN_COVERED = 0.6;
/** From how narrow to how wide a letter is, in heights of letters. */
const [MIN_LETTER, MAX_LETTER] = [0.15, 1.2];
/** The most letters that are compared; whole texts are compared beside them. */
const MAX_COPIED = 200;
/** The width of a space, in heights of letters. */
const SPACE = 0.28;
/** The most places of the same text near each other that are compared. */
const MAX_NEAR = 8;
/** Narrow letters drawn twice, one by one: PDF.js goes back by less than it notices, and takes all as one text. */
const NARROW_TWICE = /^(?:([ijlftrI1'|,.:;!])\1 ?)+.?$/u;

/** Where a text stands in the direction in which it runs. */
interface Place {
  /** Its letters from left to right. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** The distance of its base line from the corner of the page. */
  readonly level: number;
  readonly size: number;
}

/** Leaves out what stands there already. What is no text stays. */
export function withoutOverprint<T extends object>(items: readonly (T | TextItem)[]): (T | TextItem)[] {
  const seen = new Map<string, Place[]>();
  let before: Place | undefined;
  return items.flatMap((item): (T | TextItem)[] => {
    if (!("str" in item) || item.str.trim() === "" || isVertical(item)) return [item];
    const place = placeOf(item);
    const copied = before === undefined ? 0 : copiedLetters(before, place);
    const end = before?.end ?? 0;
    before = place;
    if (copied > 0) return copied === place.text.length ? [] : [remainder(item, place, { copied, end })];
    return isSeen(seen, place) ? [] : [item];
  });
}

/** Chinese and Japanese lines that run downward. */
function isVertical({ height, transform: [, , c = 0, d = 0] }: TextItem): boolean {
  return height > Math.hypot(c, d) * 1.2;
}

function placeOf(
  { str, dir, width, transform: [a = 1, b = 0, c = 0, d = 1, x = 0, y = 0] }: TextItem,
): Place {
  const length = Math.hypot(a, b) || 1;
  const [along, across] = [(x * a + y * b) / length, (y * a - x * b) / length];
  return {
    text: dir === "rtl" ? reversed(str) : str,
    start: along,
    end: along + width,
    level: across,
    size: Math.hypot(c, d),
  };
}

/** With how many letters of the end of one text another one begins that goes back over them. */
function copiedLetters(before: Place, { text, start, end, level, size }: Place): number {
  const covered = before.end - start;
  const isNear = Math.abs(before.level - level) <= size * MAX_ACROSS &&
    Math.abs(before.size - size) <= size * 0.1;
  if (!isNear || covered <= 0 || start < before.start - size * MAX_ALONG) return 0;
  const least = Math.max(1, Math.ceil(covered / (size * MAX_LETTER)));
  const most = Math.min(
    MAX_COPIED,
    text.length,
    before.text.length,
    Math.floor(covered / (size * MIN_LETTER)),
  );
  for (let count = most; count >= least; count--) {
    if (!before.text.endsWith(text.slice(0, count))) continue;
    // Where a copy begins or ends within a text is not known exactly.
    const [isAll, isRest] = [count === before.text.length, count === text.length];
    const moved = isAll ? start - before.start : isRest ? end - before.end : 0;
    const width = isAll ? before.end - before.start : isRest ? end - start : 0;
    if (covered >= width * MIN_COVERED && Math.abs(moved) <= mostAlong(count, size)) return count;
  }
  return 0;
}

function mostAlong(letters: number, size: number): number {
  return size * Math.min(MAX_ALONG, letters * ALONG_OF_LETTER);
}

/** What follows the copied letters, which end where the text before ended. */
function remainder(
  item: TextItem,
  place: Place,
  { copied, end }: { readonly copied: number; readonly end: number },
): TextItem {
  const rest = place.text.slice(copied);
  const text = rest.trimStart();
  const start = end + (text === rest ? 0 : place.size * SPACE);
  const [a = 1, b = 0, c = 0, d = 1, x = 0, y = 0] = item.transform;
  const [length, moved] = [Math.hypot(a, b) || 1, start - place.start];
  const single = NARROW_TWICE.test(text) ? text.replace(/(.)\1/gu, "$1") : text;
  return {
    ...item,
    str: item.dir === "rtl" ? reversed(single) : single,
    width: Math.max(0, place.end - start),
    transform: [a, b, c, d, x + moved * a / length, y + moved * b / length],
  };
}

/** Whether the same text stands at nearly the same place; else it stands there from now on. */
function isSeen(seen: Map<string, Place[]>, place: Place): boolean {
  const { text, start, end, level, size } = place;
  const along = Math.min(mostAlong(text.length, size), (end - start) * (1 - MIN_COVERED));
  const step = Math.max(1, size);
  const [column, row] = [Math.round(start / step), Math.round(level / step)];
  for (const x of [column, column - 1, column + 1]) {
    for (const y of [row, row - 1, row + 1]) {
      const isCopy = seen.get(`${x} ${y} ${text}`)?.some((other) =>
        Math.abs(other.start - start) <= along && Math.abs(other.level - level) <= size * MAX_ACROSS
      );
      if (isCopy) return true;
    }
  }
  const key = `${column} ${row} ${text}`;
  const others = seen.get(key);
  if (others === undefined) seen.set(key, [place]);
  else if (others.length < MAX_NEAR) others.push(place);
  return false;
}

function reversed(text: string): string {
  return [...text].reverse().join("");
}
