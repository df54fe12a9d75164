/** Texts whose names do not tell what they are: for people, or for programs. */
import { readCode } from "./code/mod.ts";
import { decodeText } from "./decode_text.ts";
import type { ParsedDocument, ParseInput } from "./format.ts";
import { readText } from "./text.ts";

const FOR_PEOPLE =
  /^(?:readme|licen[cs]e|copying|copyright|notice|authors|contributors|credits|thanks|change(?:s|log)|history|news|install|todo|faq)(?:[.-]|$)/i;
const FOR_PROGRAMS = /^(?:docker|container|make|jenkins|vagrant|gem|rake|proc|brew|pod|just)file/i;

/** Opens a text as one for people where its name or its words say so, else as code. */
export function open({ bytes, fileName }: ParseInput): ParsedDocument {
  const decoded = decodeText(bytes);
  const isForPeople = FOR_PEOPLE.test(fileName) || !FOR_PROGRAMS.test(fileName) && isProse(decoded.text);
  return isForPeople ? readText(decoded, fileName) : readCode(decoded, fileName);
}

/** Whether a text is made of words, and hardly of the signs of programs and settings. */
function isProse(text: string): boolean {
  const sample = text.slice(0, 8_000);
  const countOf = (pattern: RegExp) => (sample.match(pattern)?.length ?? 0) / sample.length;
  return countOf(/[{}[\]<>=;$\\|&_@#*/+^~`%]/g) < 0.02 && countOf(/[\p{L}\p{M}\s]/gu) > 0.8;
}
