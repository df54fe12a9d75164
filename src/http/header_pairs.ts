/** Headers as pairs, by which they are copied. */

/**
 * The headers of a request or an answer as pairs, for another one. Deno makes a sorted list for each step of an iteration over
 * `Headers`, which is how it copies them: that takes the square of their number, and this does not.
 */
export function pairsOf(headers: Headers): [name: string, value: string][] {
  const pairs: [string, string][] = [];
  headers.forEach((value, name) => pairs.push([name, value]));
  return pairs;
}
