/** Splits texts into terms for searching, in any language. */

/** Words that tell tools from one another in no way. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  ("a an and any are as at be by can do does for from has have how i if in into is it its me my of on or our so some " +
    "that the their them then there these this those to us use used using via want was we what when where which who " +
    "will with you your please need would should like tool").split(" "),
);

/** Words for which descriptions use one another. */
const SYNONYMS: readonly (readonly string[])[] = [
  "delete remove erase drop destroy clear",
  "create add new make insert generate open",
  "find search query lookup look locate discover filter",
  "list show display view see browse enumerate all",
  "get fetch read retrieve load download",
  "update edit change modify set rename patch",
  "send post publish submit reply write message",
  "run execute start launch invoke trigger",
  "stop cancel end kill terminate abort close",
  "picture image photo screenshot snapshot",
  "file document doc",
  "folder directory",
  "mail email inbox",
  "person user people contact member",
  "page site website web url link",
  "table sheet spreadsheet database",
  "ticket issue bug",
  "money payment charge price invoice refund",
  "meeting event appointment calendar",
  "code source repository repo program",
  "merge combine join",
  "copy duplicate clone fork",
  "weather forecast temperature",
  "route direction map navigate",
  "remember store save note memory",
  "click press tap",
  "type fill enter input",
].map((line) => line.split(" ").map(stem));

const RELATED = new Map<string, readonly string[]>(
  SYNONYMS.flatMap((words) => words.map((word): [string, readonly string[]] => [word, words])),
);

/** Letters, or digits, of any script; a word in camel case is several. */
const WORDS = /\p{Lu}?\p{Ll}+|\p{Lu}+(?!\p{Ll})|[\p{Lo}\p{Lm}\p{M}]+|\p{N}+/gu;
/** Scripts that put no spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/** The terms of a text, in order, repeated as often as they occur. */
export function termsOf(text: string): string[] {
  const words = text.normalize("NFKC").match(WORDS) ?? [];
  return words.flatMap((word) => {
    const lower = word.toLowerCase();
    if (UNSPACED.test(lower)) return pairsOf(lower);
    return STOP_WORDS.has(lower) || (lower.length < 2 && !/\d/.test(lower)) ? [] : [stem(lower)];
  });
}

/** Terms that mean about the same. */
export function relatedTerms(term: string): readonly string[] {
  return RELATED.get(term)?.filter((other) => other !== term) ?? [];
}

/** Each two characters that follow one another: the usual terms where nothing separates words. */
function pairsOf(text: string): string[] {
  const characters = [...text];
  if (characters.length < 2) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

/** The word without the endings of English plurals and verbs, and without the vowel that they replace. */
function stem(word: string): string {
  const base = withoutEnding(word);
  return base.length > 3 ? base.replace(/([b-df-hj-np-tv-z])\1$/, "$1").replace(/[ey]$/, "") : base;
}

function withoutEnding(word: string): string {
  if (word.length > 4 && word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  if (word.length > 4 && /(?:s|x|z|ch|sh)es$/.test(word)) return word.slice(0, -2);
  if (word.length > 3 && /[^su]s$/.test(word)) return withoutEnding(word.slice(0, -1));
  for (const ending of ["ations", "ation", "ings", "ing", "ers", "ed", "er", "ion"]) {
    if (word.length > ending.length + 2 && word.endsWith(ending)) return word.slice(0, -ending.length);
  }
  return word;
}
