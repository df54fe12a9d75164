/** Splits long texts into parts that can be read on their own: JSON stays JSON, and no character is cut. */
import { splitJson } from "./split_json.ts";
import { splitPlain } from "./split_plain.ts";

/** A part of a text. */
export interface Part {
  readonly text: string;
  /** Where the part is in a JSON text, such as `$.items[20..39]`; `undefined` in any other text. */
  readonly place?: string;
}

/** Parts of at most `max` characters; a text that is not longer is one part. */
export function splitText(text: string, max: number): Part[] {
  if (text.length <= max) return [{ text }];
  return splitJson(text, max) ?? splitPlain(text, max).map((part) => ({ text: part }));
}
