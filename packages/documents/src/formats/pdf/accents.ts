/** Accents that a page draws by themselves above or below a letter, as TeX does in its older fonts. */
import type { TextItem } from "./lines.ts";

/** Accents that stand alone, and the same as a part of a letter. */
const ACCENTS: Readonly<Record<string, string>> = {
  ...{
    "¨": "\u0308",
    "´": "\u0301",
    "`": "\u0300",
    "ˆ": "\u0302",
    "˜": "\u0303",
    "ˇ": "\u030c",
    "˘": "\u0306",
  },
  ...{ "˚": "\u030a", "˝": "\u030b", "¯": "\u0304", "˙": "\u0307", "¸": "\u0327", "˛": "\u0328" },
};
/** How far texts reach over each other at least, and are apart in height at most, in heights of letters. */
const MIN_OVER = 0.1;
const MAX_APART = 0.5;

/** The texts of a page, with each accent in the letter over which it is drawn: the one after it, or before it. */
export function withAccents<T>(
  items: readonly T[],
  isText: (item: T) => item is T & TextItem,
): T[] {
  const composed = [...items];
  let before: number | undefined;
  for (const [at, item] of items.entries()) {
    if (!isText(item)) continue;
    const last = before === undefined ? undefined : composed[before];
    if (before !== undefined && last !== undefined && isText(last) && isOver(last, item)) {
      const [first, second] = compose(last.str, item.str) ?? [last.str, item.str];
      if (first !== last.str) {
        const width = Math.max(0, Math.min(last.width, xOf(item) - xOf(last)));
        composed.splice(before, 1, { ...last, str: first, width });
        composed.splice(at, 1, { ...item, str: second });
      }
    }
    before = at;
  }
  return composed;
}

/** Two texts of which one has lost its accent to a letter of the other; `undefined` when none has. */
function compose(before: string, after: string): readonly [before: string, after: string] | undefined {
  const [last, first] = [before.at(-1) ?? "", after.at(0) ?? ""];
  const following = join(first, ACCENTS[last]);
  if (following !== undefined) return [before.slice(0, -1), following + after.slice(1)];
  const preceding = join(last, ACCENTS[first] ?? (/[\u0300-\u036f]/.test(first) ? first : undefined));
  return preceding === undefined ? undefined : [before.slice(0, -1) + preceding, after.slice(1)];
}

/** A letter with an accent; `undefined` where there is no such letter. */
function join(letter: string, accent: string | undefined): string | undefined {
  if (accent === undefined || !/\p{L}/u.test(letter)) return undefined;
  const dotted = letter === "ı" ? "i" : letter === "ȷ" ? "j" : letter;
  const whole = (dotted + accent).normalize("NFC");
  return whole.length === 1 ? whole : undefined;
}

function isOver(before: TextItem, after: TextItem): boolean {
  const size = after.height || before.height;
  const apart = Math.abs((before.transform[5] ?? 0) - (after.transform[5] ?? 0));
  const over = xOf(before) + before.width - xOf(after);
  return apart <= size * MAX_APART && over >= size * MIN_OVER && over <= before.width + size;
}

function xOf({ transform: [, , , , x = 0] }: TextItem): number {
  return x;
}
