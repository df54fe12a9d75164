/** Quotes foreign values in messages. */
import { shorten } from "../text/text.ts";

/** The most characters of a foreign string in a message. */
const MAX_EXCERPT_LENGTH = 200;

/**
 * Quotes a value for a message: a string shortened and with control characters escaped, a number or boolean as it is,
 * anything else by its type.
 */
export function excerpt(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(shorten(value, MAX_EXCERPT_LENGTH));
  if (typeof value === "number" || typeof value === "boolean") return `"${value}"`;
  if (value === null) return `"null"`;
  return Array.isArray(value) ? `"array"` : `"${typeof value}"`;
}
