/** Short forms of texts and of errors, for messages and log lines. */

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * The text, or the first `maxLength` characters and `…` of a longer one, with `�` for an emoji that was cut in half. A
 * plain slice would keep the long text in memory.
 */
export function shorten(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${decoder.decode(encoder.encode(text.slice(0, maxLength)))}…`;
}

/** What to write into a log line for whatever was thrown. */
export function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** `1 tool`, `2 tools` */
export function countOf(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}
