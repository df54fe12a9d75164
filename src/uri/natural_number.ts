/** The numbers that a `dpe://` URI may hold. */

const NATURAL_NUMBER = /^(?:0|[1-9][0-9]{0,15})$/;

/**
 * Reads `0` or digits that start with none, up to 2^53−1; anything else (`05`, `+1`, `1e3`, `0x10`, nothing) is
 * `undefined`.
 */
export function parseNaturalNumber(text: string | undefined): number | undefined {
  if (text === undefined || !NATURAL_NUMBER.test(text)) return undefined;
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : undefined;
}
