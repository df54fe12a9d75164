/** Texts for messages and log lines. */

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * The text, or the first `maxLength` characters of a longer one and `…`. Half of a cut surrogate pair becomes `�`. The
 * result is a copy, because a slice would keep the whole text in memory.
 */
export function shorten(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${decoder.decode(encoder.encode(text.slice(0, maxLength)))}…`;
}

/** The length to which a peer's text is cut in log lines and refusals. */
const MAX_QUOTED_LENGTH = 128;

/** Shortens a peer's text for log lines and refusals. */
export function quoted(text: string): string {
  return shorten(text, MAX_QUOTED_LENGTH).toWellFormed();
}

/** The message of anything that was thrown, with `�` in place of halves of characters, which a peer may have sent. */
export function describeError(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).toWellFormed();
}

/** `1 tool`, `2 tools` */
export function countOf(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

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

/** A time for people, to the minute. */
export function timeText(time: Date | string | number): string {
  return `${new Date(time).toISOString().replace("T", " ").slice(0, 16)} UTC`;
}

const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** Whether a text is a day of the calendar, such as 2026-01-31; `Date` moves 2026-02-30 to March. */
export function isDate(text: string): boolean {
  if (!DATE.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}
