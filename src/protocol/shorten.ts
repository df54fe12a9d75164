/** Texts that others wrote, where there is room for a part of them alone. */

/** The text; of a longer one the first `maxLength` characters and `…`, with `�` for an emoji that was cut in half. */
export function shorten(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength).toWellFormed()}…`;
}
