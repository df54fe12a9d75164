/** Texts of strangers inside Markdown's own marks, so that they end where the mark ends (CommonMark 0.31, GFM). */
import { toOneLine } from "./plain_text.ts";

/**
 * The label of a link or an image, or what stands in brackets of ours. Brackets would end it; code, HTML and
 * autolinks bind more tightly than it, so a backtick or `<` could swallow its end.
 */
export function escapeLabel(text: string): string {
  return toOneLine(text).replace(/[[\]\\`<]/g, "\\$&");
}

/**
 * The target of a link or an image. One with spaces or parentheses, or an empty one, stands in angle brackets.
 * Backslashes, backticks, angle brackets and what reads as an entity are escaped, so that the target stays what it is.
 */
export function escapeTarget(url: string): string {
  const target = toOneLine(url).replace(/[\\`<>]|&(?=#?\w+;)/g, "\\$&");
  // deno-lint-ignore no-control-regex -- a bare target may hold no control characters
  return target === "" || /[\s()\u0000-\u001f\u007f]/.test(target) ? `<${target}>` : target;
}

/** A pipe would end the cell, unless an odd number of backslashes is before it; a line break would end the row. */
export function escapeCell(text: string): string {
  return text
    .replace(/\\+|\|/g, (match, at: number, whole: string) => {
      if (match === "|") return "\\|";
      return whole[at + match.length] === "|" ? match + match : match;
    })
    .replace(/\r\n?|[\n\u2028\u2029]/g, "<br>");
}

/** Number signs at the end of a heading would be taken for its closing mark. */
export function escapeHeading(text: string): string {
  return toOneLine(text).replace(/(?<=^|\s)#+$/, "\\$&");
}

/** What begins like a list, a heading, a quote or a rule would be one inside the item of a list. */
export function escapeItem(text: string): string {
  return text
    .replace(/^(\s*)([-+*>]|#{1,6})(?=\s|$)/, "$1\\$2")
    .replace(/^(\s*)(?=([-*_])(?:[ \t]*\2){2,}[ \t]*(?:\n|$))/, "$1\\")
    .replace(/^(\s*\d{1,9})([.)])(?=\s|$)/, "$1\\$2");
}

/** A fence longer than any run of backticks inside. */
export function fenceOf(code: string): string {
  const runs = code.match(/`+/g) ?? [];
  return "`".repeat(runs.reduce((longest, run) => Math.max(longest, run.length + 1), 3));
}
