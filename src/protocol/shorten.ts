/** Texts that others wrote, where there is room for a part of them alone. */

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * The text; of a longer one the first `maxLength` characters and `…`, with `�` for an emoji that was cut in half. Who
 * keeps it does not keep the long one: a slice would.
 */
export function shorten(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${decoder.decode(encoder.encode(text.slice(0, maxLength)))}…`;
}
