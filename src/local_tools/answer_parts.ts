/** How much one answer may have, and where a longer text is cut. */

/**
 * The most room of one answer, beside what it says of the rest: at most 25,000 tokens, which is the limit of Claude Code. With
 * `cl100k_base`, the room is 8,000 tokens of English, 17,000 of numbers in tables, 20,000 of Chinese, 23,000 of Base64.
 */
export const MAX_ROOM = 32_000;

/** The room that a text takes: 1 for an ASCII character, 2 for another one, 3 for arrows, signs of mathematics and the like. */
export function roomOf(text: string): number {
  return measure(text, { start: 0, max: Infinity }).room;
}

function measure(
  text: string,
  { start, max }: { readonly start: number; readonly max: number },
): { readonly end: number; readonly room: number } {
  let room = 0;
  let end = start;
  for (const character of text.slice(start)) {
    const next = roomOfCharacter(character);
    if (room + next > max && end > start) return { end, room };
    room += next;
    end += character.length;
  }
  return { end, room };
}

function roomOfCharacter(character: string): number {
  const code = character.charCodeAt(0);
  if (code < 0x80) return 1;
  return character.length * (code >= 0x2190 && code < 0x2c00 ? 3 : 2);
}

/** A part of a text that begins at `offset`: what has room, at least one character, and never half of an emoji. */
export function partOf(
  text: string,
  { offset, max }: { readonly offset: number; readonly max: number },
): { readonly part: string; readonly end: number; readonly room: number } {
  const start = isLowSurrogate(text, offset) ? offset + 1 : offset;
  const { end: limit, room } = measure(text, { start, max });
  const end = cutWithin(text, { start, limit });
  return { part: text.slice(start, end), end, room };
}

/** The last place from `start` to `limit` where nothing that is seen as one character is cut. */
export function cutWithin(
  text: string,
  { start, limit }: { readonly start: number; readonly limit: number },
): number {
  let end = Math.min(limit, text.length);
  while (end < text.length && end > start + 1 && limit - end < MAX_STEPS_BACK && isWithin(text, end)) end--;
  return end;
}

const MAX_STEPS_BACK = 16;

/** Whether a character is cut here, or an emoji that others are joined to. */
function isWithin(text: string, index: number): boolean {
  return isLowSurrogate(text, index) || /[\u200c-\u200e\ufe0e\ufe0f]/.test(text.slice(index - 1, index + 1));
}

function isLowSurrogate(text: string, index: number): boolean {
  const code = text.charCodeAt(index);
  return code >= 0xdc00 && code <= 0xdfff;
}
