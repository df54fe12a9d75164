/** What to say of a word that is not known: what may have been meant, and what there is. */

/** Longer words are not compared. */
const MAX_LENGTH = 64;
/** The most pairs of letters that are compared for one word: a few milliseconds, however many words are known. */
const MAX_COMPARISONS = 200_000;

/** The known word that is nearest, if one is near enough to be meant. */
export function closestWord(word: string, known: Iterable<string>): string | undefined {
  if (word.length > MAX_LENGTH) return undefined;
  const written = plain(word);
  let best: { readonly word: string; readonly distance: number } | undefined;
  let comparisons = 0;
  for (const candidate of known) {
    // Each word costs something, also one that is not compared.
    comparisons++;
    if (comparisons > MAX_COMPARISONS) break;
    if (candidate.length > MAX_LENGTH) continue;
    comparisons += word.length * candidate.length;
    const distance = editDistance(written, plain(candidate));
    if (distance <= tolerance(candidate) && distance < (best?.distance ?? Infinity)) {
      best = { word: candidate, distance };
    }
  }
  return best?.word;
}

/** The same as the end of a sentence; empty when nothing is near. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const closest = closestWord(word, known);
  return closest === undefined ? "" : `; did you mean "${closest}"?`;
}

/** `"a", "b"`, for what there is instead; `none` where there is nothing. */
export function listWords(words: Iterable<string>): string {
  return [...words].map((word) => `"${word}"`).join(", ") || "none";
}

/** `forbiddenTools` is `forbidden_tools`. */
function plain(word: string): string {
  return word.toLowerCase().replaceAll(/[-_\s]/g, "");
}

function tolerance(word: string): number {
  return word.length < 4 ? 1 : Math.ceil(word.length / 4);
}

/** How many letters must be changed, added, removed or swapped with their neighbour. */
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
