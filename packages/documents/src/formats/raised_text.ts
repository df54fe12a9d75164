/** How the form of letters is kept in plain text: `10⁶`, `x^(q,1)`, `~~100~~`. */

/** Marks, such as that of a note, are raised by themselves. */
const RAISED = characterMap(
  "0123456789+-=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVW−βγδφχ®™©†‡§*",
  "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂ⁻ᵝᵞᵟᵠᵡ®™©†‡§*",
);
const LOWERED = characterMap(
  "0123456789+-=()aehijklmnoprstuvx−βγρφχ",
  "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ₋ᵦᵧᵨᵩᵪ",
);

/** The most characters of superscript and subscript. */
const MAX_LENGTH = 40;
/** The most letters that are written in their raised forms, in which no search finds a word. */
const MAX_LETTERS = 2;

/** How a piece of text differs from the text around it. */
export interface TextForm {
  readonly position?: "raised" | "lowered" | undefined;
  readonly isStruck?: boolean | undefined;
}

/**
 * Superscript or subscript in plain text, which would read as another value without it: Unicode has the form of most
 * characters (`10⁶`, `CO₂`, `1ˢᵗ`); words and texts with others are in brackets (`_(max)`, `^(3,4)`). White space around
 * it stays outside. A long text stays as it is: it is written small.
 */
export function raiseText(text: string, position: "raised" | "lowered"): string {
  const forms = position === "raised" ? RAISED : LOWERED;
  const sign = position === "raised" ? "^" : "_";
  return markText(text, (inner) => {
    const characters = [...inner].map((character) => forms.get(character));
    const letters = inner.match(/\p{Ll}|\p{Lu}/gu) ?? [];
    if (!characters.includes(undefined) && letters.length <= MAX_LETTERS) return characters.join("");
    if (inner.length > MAX_LENGTH) return inner;
    // Commas between raised numbers and the like mean nothing by themselves.
    if (!/[\p{L}\p{N}]/u.test(inner)) return inner;
    return sign + (/^\([^()]*\)$/.test(inner) ? inner : `(${inner})`);
  });
}

/** Text that is struck out, as in Markdown. */
export function strikeText(text: string): string {
  return markText(text, (inner) => `~~${inner}~~`);
}

/** Joins pieces of text, of which those side by side that have the same form are one. */
export function joinText(pieces: Iterable<TextForm & { readonly text: string }>): string {
  const runs: (TextForm & { text: string })[] = [];
  for (const { text, position, isStruck = false } of pieces) {
    const last = runs.at(-1);
    if (last !== undefined && last.position === position && last.isStruck === isStruck) last.text += text;
    else runs.push({ text, position, isStruck });
  }
  return runs.map(({ text, position, isStruck }) => {
    const placed = position === undefined ? text : raiseText(text, position);
    return isStruck === true ? strikeText(placed) : placed;
  }).join("");
}

/** Marks a text without the white space around it; an empty text stays empty. */
function markText(text: string, mark: (inner: string) => string): string {
  const inner = text.trim();
  if (inner === "") return text;
  const start = text.indexOf(inner);
  return text.slice(0, start) + mark(inner) + text.slice(start + inner.length);
}

/** Characters with their forms, and the forms themselves, which stay as they are. */
function characterMap(characters: string, forms: string): ReadonlyMap<string, string> {
  const [from, to] = [[...characters], [...forms]];
  return new Map([
    ...to.map((form): [string, string] => [form, form]),
    ...from.map((character, index): [string, string] => [character, to[index] ?? character]),
  ]);
}
