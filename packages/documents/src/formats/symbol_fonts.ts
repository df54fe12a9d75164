/** Fonts whose letters are signs: their characters are at U+F020 to U+F0FF, or are written as the letters of their keys. */

const SYMBOL_LOW =
  " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼";
const SYMBOL_HIGH =
  "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐⎯↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪\uf8ff〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭";

/** The signs of each font, by the code of the first one of a run of them. */
const FONTS: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  symbol: { 0x20: SYMBOL_LOW, 0xa0: SYMBOL_HIGH },
  wingdings: {
    ...{
      0x20: " ✏✂✁👓🔔📖🕯☎✆✉",
      0x36: "⌛⌨",
      0x3f: "✍",
      0x41: "✌👌👍👎☜☞☝☟✋☺😐☹💣☠",
      0x6c: "●❍■□❐❑❒⬧⧫◆❖⬥⌧",
    },
    ...{ 0x80: "⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹❺❻❼❽❾❿", 0x9e: "·•▪○", 0xa4: "◉◎", 0xa7: "▪◻", 0xab: "★", 0xd8: "➢" },
    ...{ 0xdf: "←→↑↓↖↗↙↘", 0xe8: "➔", 0xef: "⇦⇨⇧⇩⬄⇳", 0xfb: "✗✓☒☑" },
  },
  "wingdings 2": { 0x4f: "✗✓☒☑☒", 0x97: "•" },
  "wingdings 3": { 0x22: "↑", 0x7d: "▶", 0x66: "←→↑↓" },
  webdings: { 0x61: "✓", 0x63: "□", 0x67: "■", 0x72: "✗" },
};

/**
 * Text in a font as Unicode. Text of other fonts, and signs that are not known, stay as they are.
 *
 * @param hasLetters whether signs are also written as letters
 */
export function symbolText(
  text: string,
  font: string | undefined,
  { hasLetters = true }: { readonly hasLetters?: boolean } = {},
): string {
  const signs = FONTS[font?.trim().toLowerCase() ?? ""];
  if (signs === undefined) return text;
  return text.replace(hasLetters ? /[\u0020-\u00ff\uf020-\uf0ff]/g : /[\uf020-\uf0ff]/g, (character) => {
    const code = character.charCodeAt(0) % 0x1000;
    for (const [first, run] of Object.entries(signs)) {
      const sign = [...run][code - Number(first)];
      if (sign !== undefined) return sign;
    }
    return character;
  });
}
