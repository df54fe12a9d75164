/** What somebody meant who wrote a name that does not exist. */

/** Names longer than this are not compared. */
const MAX_LENGTH = 64;

/**
 * The name that is closest to a wrong one, if one is close: in other letters of the same case or spelling
 * (`filePath`, `file_path`), or up to a third of its letters away.
 */
export function closestName(wrong: string, names: readonly string[]): string | undefined {
  if (wrong.length > MAX_LENGTH) return undefined;
  const plain = toPlain(wrong);
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const name of names) {
    if (name.length > MAX_LENGTH || name === wrong) continue;
    const distance = editDistance(plain, toPlain(name));
    if (distance <= Math.floor(name.length / 3) && distance < (best?.distance ?? Infinity)) {
      best = { name, distance };
    }
  }
  return best?.name;
}

function toPlain(name: string): string {
  return name.toLowerCase().replaceAll(/[\s._-]/g, "");
}

/** How many letters must be added, taken away, changed, or swapped with their neighbour. */
function editDistance(from: string, to: string): number {
  let before: number[] = [];
  let above = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const line = [row];
    for (let column = 1; column <= to.length; column++) {
      const cost = from[row - 1] === to[column - 1] ? 0 : 1;
      const isSwap = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      line[column] = Math.min(
        (above[column] ?? 0) + 1,
        (line[column - 1] ?? 0) + 1,
        (above[column - 1] ?? 0) + cost,
        isSwap ? (before[column - 2] ?? Infinity) + 1 : Infinity,
      );
    }
    [before, above] = [above, line];
  }
  return above[to.length] ?? 0;
}
