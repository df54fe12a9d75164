/** Names of text encodings, as the web and Python spell them. */

/** The names of Windows and Python that the web does not know. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  "utf-8-sig": "utf-8",
  cp932: "shift_jis",
  cp936: "gbk",
  cp949: "euc-kr",
  cp950: "big5",
};

/**
 * Finds the web's name of an encoding that contains ASCII, so that its bytes can be split into lines.
 *
 * @param name As the web or Python spells it: `utf-8`, `utf_8_sig`, `latin-1`, `cp936`, `euc_jp`, `windows-1252` …
 * @throws {RangeError} for an unknown encoding, and for UTF-16.
 */
export function textEncodingOf(name: string): string {
  const dashed = name.toLowerCase().replaceAll("_", "-");
  const known = Object.hasOwn(OTHER_NAMES, dashed) ? OTHER_NAMES[dashed] : undefined;
  const label = known ?? [name, dashed, dashed.replaceAll("-", "")].find(isLabel);
  const encoding = label === undefined ? undefined : new TextDecoder(label).encoding;
  if (encoding === undefined || encoding.startsWith("utf-16")) {
    throw new RangeError(`Cannot use encoding "${name}": unknown, or not compatible with ASCII`);
  }
  return encoding;
}

function isLabel(name: string): boolean {
  try {
    new TextDecoder(name);
    return true;
  } catch {
    return false;
  }
}
