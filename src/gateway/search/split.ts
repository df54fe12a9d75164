/** Splits long texts into parts that can be read on their own: JSON stays JSON, and no character is cut. */
import { type Part, splitJson } from "./split_json.ts";
import { splitPlain } from "./split_plain.ts";

/** Parts of at most `max` characters; a text that is not longer is one part. */
export function splitText(text: string, max: number): Part[] {
  if (text.length <= max) return [{ text }];
  return splitJson(text, max) ?? splitPlain(text, max).map((part) => ({ text: part }));
}
