/** How a stranger's value stands in a message of ours. */

/** The most characters of a foreign text that a message repeats. */
const MAX_EXCERPT_LENGTH = 200;

/**
 * Quotes a value for a message: a text bounded and with its control characters escaped, a number or boolean as it
 * is written, anything else by its kind.
 */
export function excerpt(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(shorten(value));
  if (typeof value === "number" || typeof value === "boolean") return `"${value}"`;
  if (value === null) return `"null"`;
  return Array.isArray(value) ? `"array"` : `"${typeof value}"`;
}

function shorten(text: string): string {
  return text.length <= MAX_EXCERPT_LENGTH ? text : `${text.slice(0, MAX_EXCERPT_LENGTH)}…`;
}
