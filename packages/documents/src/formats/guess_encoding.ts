/** The likeliest encoding of a text that does not say its own, and is no UTF-8. */

/** How many bytes are looked at, and how many characters beyond ASCII. */
export const SAMPLE_BYTES = 64 * 1024;
const MAX_CHARACTERS = 2_000;

/** The letters beyond ASCII of languages that share encodings; those of other alphabets by their frequency. */
const WESTERN = "éèàêçùâôûîëïœüæ áéíóñúüºª äüöß ãçáéêõóâíúàô èàòùìé åäöøæé áíðéóþúæöý àéèóòçíúïü ëéïöüèó";
const CENTRAL = "łąężśćóńź áíéěřžčšýůúťďňó áíéčšžýťľúôňďäóĺŕ áéőöüóúíű čšžćđ ăâîșțşţ äöüß";
const CYRILLIC =
  "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё оанитрвісеклудпмязьбгчйхцїжюєшфщґ оаиентрсвјлдпкумгзбчцшхњђжљфћџѓќѕ" +
  " аінеоырстклвяудмпзбгўчцшьйжхюфэё";
const GREEK = "αοιετσνηυρπκμλςωδγήθίάόχέφβύώξζψϊϋΐΰ";
const TURKISH = "ıüşiçöğİâîû";
const BALTIC = "ėšžąįųčęū āīēšņūļģžķčō õäöüšž";
const HEBREW = "יוהלאברתשמנםעדחקפגצטכזסןץךף";
const ARABIC = "اليمونرتبةعدسفهكقحجأشصطخىإذءغضثئزظآؤ";
const THAI = "านรอกเงมยลวดสตทะปบคหแจพชขใไผโณถซธศภษฐฟญ่้ีัิ็์ืุู๊๋ึำ";

/** The most frequent encoding of texts that are not in UTF-8. */
const WESTERN_EUROPE = "windows-1252";
/** Encodings with a byte for each letter, the most frequent ones first. */
const ALPHABETS: Readonly<Record<string, string>> = {
  [WESTERN_EUROPE]: WESTERN,
  "windows-1251": CYRILLIC,
  "windows-1250": CENTRAL,
  "iso-8859-2": CENTRAL,
  "iso-8859-15": WESTERN,
  "koi8-r": CYRILLIC,
  "koi8-u": CYRILLIC,
  "ibm866": CYRILLIC,
  "x-mac-cyrillic": CYRILLIC,
  "iso-8859-5": CYRILLIC,
  "windows-1253": GREEK,
  "iso-8859-7": GREEK,
  "windows-1254": TURKISH,
  "windows-1257": BALTIC,
  "iso-8859-13": BALTIC,
  "windows-1255": HEBREW,
  "windows-1256": ARABIC,
  "iso-8859-6": ARABIC,
  "windows-874": THAI,
  "macintosh": WESTERN,
};
/** Encodings with two bytes for a character, and the first bytes of those that are frequent. */
const IDEOGRAPHS: Readonly<Record<string, readonly [from: number, to: number]>> = {
  "euc-kr": [0xb0, 0xc8],
  "gb18030": [0xb0, 0xd7],
  "shift_jis": [0x88, 0x97],
  "big5": [0xa4, 0xc6],
  "euc-jp": [0xb0, 0xcf],
};

/** The likeliest encoding of a text, by its first bytes beyond ASCII. */
export function guessEncoding(bytes: Uint8Array): string {
  const first = Math.max(0, bytes.findIndex((byte) => byte >= 0x80) - 100);
  const sample = bytes.subarray(first, first + SAMPLE_BYTES);
  let best = { encoding: WESTERN_EUROPE, fit: -Infinity };
  for (const [rank, encoding] of [...Object.keys(ALPHABETS), ...Object.keys(IDEOGRAPHS)].entries()) {
    const fit = fitOf(sample, encoding) + (encoding === WESTERN_EUROPE ? 0.1 : -0.002 * rank);
    if (fit > best.fit) best = { encoding, fit };
  }
  return best.encoding;
}

/** How well the characters beyond ASCII fit, on the average; 1 is the best. */
function fitOf(sample: Uint8Array, encoding: string): number {
  let text: string;
  try {
    // The end of the sample may cut a character.
    text = new TextDecoder(encoding, { fatal: true }).decode(sample, { stream: true });
  } catch {
    return -Infinity;
  }
  const frequent = IDEOGRAPHS[encoding];
  if (frequent !== undefined) return ideographsFit(sample, text, frequent);
  const contexts = [...text.matchAll(/[^\0-\x7f]/g).take(MAX_CHARACTERS)].map(({ index }) =>
    text.slice(Math.max(0, index - 1), index + 2).padStart(index === 0 ? 3 : 0, " ")
  );
  const languages = (ALPHABETS[encoding] ?? "").split(" ");
  return Math.max(...languages.map((letters) => average(contexts.map((each) => letterFit(each, letters)))));
}

/** How well a character fits between the ones beside it, in a language with these letters. */
function letterFit(context: string, letters: string): number {
  const [before = " ", character = "", after = " "] = context;
  const isAfterLetter = /\p{L}/u.test(before);
  const isBeforeLetter = /\p{L}/u.test(after);
  if (!/\p{L}|\p{M}/u.test(character)) {
    if (/[\x80-\x9f]/.test(character)) return -2;
    if (/[’—\xad]/.test(character)) return 0.9;
    const isWithin = isBeforeLetter && (isAfterLetter || !/[«“„‘¿¡–]/.test(character) && !/\d/.test(before));
    if (isWithin) return -1;
    return /[“”„‘«»–…¿¡•·§©®°€£¥½¼¾±²³№\xa0]/.test(character) && !/[^\0-\x7f\p{L}]/u.test(before) ? 0.9 : 0;
  }
  // Five letters of Hebrew have a form of their own at the end of a word, which no other alphabet imitates.
  if (/[ךםןףץ]/.test(character)) return isBeforeLetter ? -1 : isAfterLetter ? 1 : 0;
  if (/[כמנצ]/.test(character) && isAfterLetter && !isBeforeLetter) return -0.5;
  const small = character.toLowerCase();
  const isUpper = small !== character;
  const isLatin = /\p{Script=Latin}/u.test(character);
  if (!isLatin && /[a-z]/i.test(before + after) || isUpper && /\p{Ll}/u.test(before)) return -1;
  const at = Math.max(letters.indexOf(small), letters.indexOf(character));
  if (at < 0) return -0.5;
  // The words of a letter are small ones.
  if (isLatin && !isAfterLetter && !isBeforeLetter) return isUpper ? 0.2 : 0.5;
  return 1 - (isLatin ? 0 : 0.4 * at / letters.length) - (isUpper ? 0.05 : 0);
}

/** How many characters are frequent ones, by their first bytes, or letters of Japanese where those are not Chinese. */
function ideographsFit(sample: Uint8Array, text: string, [from, to]: readonly [number, number]): number {
  const fits: number[] = [];
  const isShiftJis = to < 0xa0;
  const isJapanese = isShiftJis || to === 0xcf;
  const isBig5 = from === 0xa4;
  const characters = text.matchAll(/[^\0-\x7f]/gu);
  for (let at = 0; at < sample.length && fits.length < MAX_CHARACTERS; at++) {
    const lead = sample[at] ?? 0;
    if (lead < 0x80) continue;
    const [character = ""] = characters.next().value ?? [];
    // A small letter of Shift_JIS has one byte.
    if (isShiftJis && lead > 0xa0 && lead < 0xe0) {
      fits.push(-0.5);
      continue;
    }
    const before = String.fromCharCode(sample[at - 1] ?? 32);
    const trail = sample[++at] ?? 0xff;
    if (trail < 0x80 && /[a-z]/i.test(before) || trail < 0xa1 && !isShiftJis && !isBig5) fits.push(-0.5);
    else if (/[\u3041-\u30ff]/.test(character)) fits.push(isJapanese ? 1 : -0.5);
    else if (/[\u3000-\u3020\uff01-\uff5e]/.test(character)) fits.push(0.8);
    else fits.push(lead >= from && lead <= to ? 0.9 : -0.2);
  }
  return average(fits);
}

function average(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / Math.max(1, numbers.length);
}
