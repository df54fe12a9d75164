/** How a stranger's value stands in a message of ours. */
import { shorten } from "../text.ts";

/** The most characters of a foreign text that a message repeats. */
const MAX_EXCERPT_LENGTH = 200;

/**
 * Quotes a value for a message: a text bounded and with its control characters escaped, a number or boolean as it
 * is written, anything else by its kind.
 */
export function excerpt(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(shorten(value, MAX_EXCERPT_LENGTH));
  if (typeof value === "number" || typeof value === "boolean") return `"${value}"`;
  if (value === null) return `"null"`;
  return Array.isArray(value) ? `"array"` : `"${typeof value}"`;
}
