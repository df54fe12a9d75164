/** Suggestions for unknown words: the closest known word, and lists of known words. */
import { toSeenName, toSeenWord } from "./safe_text.ts";

/** Longer words are not compared, in characters. */
const MAX_LENGTH = 64;
/** The most pairs of letters that are compared for one word, which takes a few milliseconds. */
const MAX_COMPARISONS = 200_000;

/**
 * The most similar known word; `undefined` when none is similar enough.
 *
 * @param options `maxDistance`: the most letters that may differ; a quarter of the known word by default, and never more.
 */
export function closestWord(
  word: string,
  known: Iterable<string>,
  { maxDistance = Infinity }: { readonly maxDistance?: number } = {},
): string | undefined {
  if (word.length > MAX_LENGTH) return undefined;
  const written = plain(word);
  let best: { readonly word: string; readonly distance: number } | undefined;
  let comparisons = 0;
  for (const candidate of known) {
    // Words that are too long to compare count as well, so that the loop is bounded.
    comparisons++;
    if (comparisons > MAX_COMPARISONS) break;
    if (candidate.length > MAX_LENGTH) continue;
    comparisons += word.length * candidate.length;
    const distance = editDistance(written, plain(candidate));
    const limit = Math.min(tolerance(candidate), maxDistance);
    if (distance <= limit && distance < (best?.distance ?? Infinity)) {
      best = { word: candidate, distance };
    }
  }
  return best?.word;
}

/** `; did you mean "command"?` as the end of a message; empty when no known word is similar enough. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const closest = closestWord(word, known);
  return closest === undefined ? "" : `; did you mean "${closest}"?`;
}

/** `"a", "b"`; `none` for an empty list. */
export function listWords(words: Iterable<string>): string {
  return [...words].map((word) => `"${word}"`).join(", ") || "none";
}

/** The most names that a message lists. */
const MAX_LISTED_NAMES = 20;

/** `No server named "x" (servers: files, shop)`, for an unknown name. */
export function unknownName(kind: string, name: string, known: readonly string[]): string {
  return `No ${kind} named ${toSeenName(name)} (${kind}s: ${listNames(known)})`;
}

/** `files, shop, 3 more`; `none` for an empty list. */
export function listNames(known: readonly string[]): string {
  const more = known.length - MAX_LISTED_NAMES;
  const listed = [...known.slice(0, MAX_LISTED_NAMES).map(toSeenWord), ...(more > 0 ? [`${more} more`] : [])];
  return listed.join(", ") || "none";
}

/** Ignores case and separators: `forbiddenTools` equals `forbidden_tools`. */
function plain(word: string): string {
  return word.toLowerCase().replaceAll(/[-_\s]/g, "");
}

function tolerance(word: string): number {
  return word.length < 4 ? 1 : Math.ceil(word.length / 4);
}

/** The Damerau-Levenshtein distance: letters changed, added, removed or swapped with their neighbor. */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] &&
        from[row - 2] === to[column - 1];
      current[column] = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwapped ? (beforeLast[column - 2] ?? 0) + 1 : Infinity,
      );
    }
    [beforeLast, last] = [last, current];
  }
  return last[to.length] ?? 0;
}
