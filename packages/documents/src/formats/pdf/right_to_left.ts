/** Hebrew, Arabic and other texts that run to the left, with the numbers and words in them that run to the right. */

/** A text of a line, and from where to where it reaches. */
export interface PlacedText {
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
/** The gap that is a space between words, in heights of letters. */
const WORD_GAP = 0.18;
/** Texts that are farther apart, in heights of letters, are of different cells or columns. */
const MAX_GAP = 1;

/** Whether a text has letters that run to the left. */
export function isRightToLeft(text: string): boolean {
  return RIGHT_TO_LEFT.test(text);
}

/** Whether more letters of texts run to the left than to the right. */
export function runsToLeft(texts: readonly PlacedText[]): boolean {
  const letters = texts.flatMap(({ text }) => text.match(/\p{L}/gu) ?? []);
  return letters.filter((letter) => RIGHT_TO_LEFT.test(letter)).length * 2 > letters.length;
}

/**
 * The texts of a line in the order of reading, whatever the order is in which the page writes them. Texts side by side that
 * run the other way than the line are one.
 */
export function inReadingOrder<T extends PlacedText>(texts: readonly T[], toLeft: boolean): T[] {
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
