/** The words of Rich Text files, and what they mean as far as they are read (specification 1.9.1). */

export interface RtfToken {
  readonly kind: "open" | "close" | "word" | "byte" | "text";
  /** The name of a control word or the sign of a control symbol, or characters, one for each byte. */
  readonly text: string;
  /** The number of a control word, or a byte in the encoding of the text around it. */
  readonly value?: number | undefined;
}

const TOKEN = /\\(?:([a-zA-Z]{1,64})(-?\d{1,10})? ?|'([\da-fA-F]{2})|([^]))|([{}])|[\r\n]+|[^\\{}\r\n]+/y;

/** @param source the file, with a character for each of its bytes */
export function* readTokens(source: string): Generator<RtfToken, void> {
  const pattern = new RegExp(TOKEN);
  for (let match; (match = pattern.exec(source)) !== null;) {
    const [text, name, digits, hex, sign, brace] = match;
    const value = digits === undefined ? undefined : Number(digits);
    if (brace !== undefined) yield { kind: brace === "{" ? "open" : "close", text };
    // So many bytes are no text, whatever they look like.
    else if (name === "bin") pattern.lastIndex += Math.max(value ?? 0, 0);
    else if (name !== undefined || sign !== undefined) {
      yield { kind: "word", text: name ?? sign ?? "", value };
    } else if (hex !== undefined) yield { kind: "byte", text, value: Number.parseInt(hex, 16) };
    else if (!/^[\r\n]/.test(text)) yield { kind: "text", text };
  }
}

/** Texts that stand for themselves; something is made of them at their end. */
export const APART = new Set(
  ("title subject author keywords doccomm creatim revtim fldinst listtext pntext footnote annotation atnauthor header headerl " +
    "headerr headerf footer footerl footerr footerf").split(" "),
);
/** Groups that are a part of the text around them. */
export const SHOWN = new Set(
  "rtf field fldrslt nesttableprops shp shptxt shppict object result ud pn".split(" "),
);
export const SKIPPED = new Set(
  ("info colortbl listtable listoverridetable rsidtbl generator themedata datastore filetbl revtbl nonesttables nonshppict " +
    "objdata objclass bkmkstart bkmkend upr shpinst sp private tc xe").split(" "),
);
export const SIGNS: Readonly<Record<string, string>> = {
  ...{ tab: "\t", line: "\n", emdash: "—", endash: "–", bullet: "•", emspace: " ", enspace: " " },
  ...{ lquote: "‘", rquote: "’", ldblquote: "“", rdblquote: "”", nestcell: " | ", nestrow: "\n" },
  ...{ "~": "\u00a0", "_": "‑", "{": "{", "}": "}", "\\": "\\" },
};
/** The code pages of the character sets of fonts, and those that are no code pages of Windows by their number. */
const CHARSETS = new Map(
  ("77 10000, 128 932, 129 949, 134 936, 136 950, 161 1253, 162 1254, 163 1258, 177 1255, 178 1256, 186 1257, 204 1251, " +
    "222 874, 238 1250").split(", ").map((pair) => pair.split(" ").map(Number) as [number, number]),
);
const ENCODINGS: Readonly<Record<number, string>> = {
  ...{ 932: "shift_jis", 936: "gbk", 949: "euc-kr", 950: "big5", 866: "ibm866" },
  ...{ 10000: "macintosh", 65001: "utf-8" },
};

/** The encoding of a code page, or of a character set of a font; `undefined` for one that is unknown. */
export function encodingOf(codePage: number, { isCharset = false } = {}): string | undefined {
  const page = isCharset ? CHARSETS.get(codePage) : codePage;
  try {
    return page === undefined ? undefined : new TextDecoder(ENCODINGS[page] ?? `windows-${page}`).encoding;
  } catch {
    return undefined;
  }
}
