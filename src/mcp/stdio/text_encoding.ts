/** Names of text encodings, as the web and Python spell them. */

/** Names that only Python knows, reduced to letters and digits; the web knows many without their signs. */
const PYTHON_NAMES: Readonly<Record<string, string>> = {
  utf8sig: "utf-8",
  u8: "utf-8",
  cp65001: "utf-8",
  latin: "latin1",
  "8859": "latin1",
  cp932: "shift_jis",
  mskanji: "shift_jis",
  shiftjis: "shift_jis",
  eucjp: "euc-jp",
  ujis: "euc-jp",
  cp936: "gbk",
  ms936: "gbk",
  euccn: "gbk",
  cp949: "euc-kr",
  ms949: "euc-kr",
  uhc: "euc-kr",
  euckr: "euc-kr",
  cp950: "big5",
  ms950: "big5",
  big5hkscs: "big5",
  cp874: "windows-874",
  koi8r: "koi8-r",
  koi8u: "koi8-u",
  macroman: "macintosh",
  maccyrillic: "x-mac-cyrillic",
};

/**
 * Finds the web's name of an encoding that contains ASCII, so that its bytes can be split into lines.
 *
 * @param name As the web or Python spells it: `utf-8`, `utf_8_sig`, `latin-1`, `cp936`, `euc_jp`, `windows-1252` …
 * @throws {RangeError} for an unknown encoding, and for UTF-16.
 */
export function textEncodingOf(name: string): string {
  const letters = name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  const known = Object.hasOwn(PYTHON_NAMES, letters) ? PYTHON_NAMES[letters] : undefined;
  const label = known ?? [name, letters, name.replaceAll("_", "-"), familyName(letters)].find(isLabel);
  const encoding = label === undefined ? undefined : new TextDecoder(label).encoding;
  if (encoding === undefined || encoding.startsWith("utf-16")) {
    throw new RangeError(`Cannot use encoding "${name}": unknown, or not compatible with ASCII`);
  }
  return encoding;
}

/** Converts names such as Python's `cp1252` and `iso8859_15`. */
function familyName(letters: string): string {
  return letters.replace(/^cp(125\d)$/, "windows-$1").replace(/^(?:iso)?8859(\d+)$/, "iso-8859-$1");
}

function isLabel(name: string): boolean {
  try {
    new TextDecoder(name);
    return true;
  } catch {
    return false;
  }
}
