/** Texts of any encoding. */
import { unreadable } from "./format.ts";
import { guessEncoding, SAMPLE_BYTES } from "./guess_encoding.ts";

/** How many characters make a text in UTF-8 that says to be in an encoding of two bytes for each. */
const MANY = 4;

export interface DecodedText {
  readonly text: string;
  /** Says so, where the encoding is a guess by the frequency of bytes. */
  readonly losses: readonly string[];
}

/**
 * Decodes a text: by its byte order mark, else as it declares, else as UTF-8, else in the most likely
 * encoding. A declaration that does not fit counts for nothing. Line ends become `\n`.
 *
 * @param declaredIn finds the name of the encoding in the beginning of a file, for formats with a way of their own
 * @throws {DocumentError} `unsupported` when the bytes are no text
 */
export function decodeText(
  bytes: Uint8Array,
  declaredIn: (head: string) => string | undefined = declaredEncoding,
): DecodedText {
  const { encoding, isGuess = false } = encodingOf(bytes, declaredIn);
  const text = new TextDecoder(encoding).decode(bytes);
  const losses = isGuess ? [`The encoding "${encoding}" is a guess; some characters may be wrong`] : [];
  return { text: text.replace(/\r\n?/g, "\n").replaceAll("\0", "\ufffd"), losses };
}

// deno-lint-ignore no-control-regex
const NO_TEXT = /[\0-\x07\x0e-\x1a\x1c-\x1f\ufffd]/g;
/** Fewer bytes that are no UTF-8 may be anything. */
const LEAST_BYTES = 64;

/** Whether a file of an unknown kind is a text, by its first bytes. Where the name says so, {@linkcode decodeText} bears more. */
export function looksLikeText(head: Uint8Array): boolean {
  const marked = markedEncoding(head);
  const isUtf8 = marked === undefined && canDecode(head, "utf-8", { isCut: true });
  if (marked === undefined && !isUtf8 && head.length < LEAST_BYTES) return false;
  const text = new TextDecoder(marked ?? "latin1").decode(head, { stream: true });
  return text !== "" && !text.includes("\0") && (text.match(NO_TEXT)?.length ?? 0) * 200 <= text.length;
}

function encodingOf(
  bytes: Uint8Array,
  declaredIn: (head: string) => string | undefined,
): { readonly encoding: string; readonly isGuess?: boolean } {
  const marked = markedEncoding(bytes);
  if (marked !== undefined) return { encoding: marked };
  const sample = bytes.subarray(0, SAMPLE_BYTES);
  const isUtf8 = canDecode(bytes, "utf-8");
  assertText(sample, isUtf8);
  const head = new TextDecoder("latin1").decode(sample);
  const declared = encodingNamed(declaredIn(head));
  const isDeclared = declared !== undefined && !declared.startsWith("utf-") && canDecode(bytes, declared);
  // Hardly any text in another encoding is valid UTF-8: whoever converted the file left the declaration.
  const isConverted = isUtf8 && (!/^(?:gb|big5|shift|euc)/.test(declared ?? "") || countsMany(bytes));
  if (isDeclared && !isConverted) return { encoding: declared };
  // deno-lint-ignore no-control-regex
  if (/^[\0-\x7f]*$/.test(head) && /\x1b(?:\$[@B]|\([JI])/.test(head) && canDecode(bytes, "iso-2022-jp")) {
    return { encoding: "iso-2022-jp" };
  }
  return isUtf8 ? { encoding: "utf-8" } : { encoding: guessEncoding(bytes), isGuess: true };
}

/** What the beginning of a file says of its encoding, in the ways of XML, CSS and source code. */
export function declaredEncoding(head: string): string | undefined {
  return /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']\s*([\w.:-]+)/.exec(head)?.[1] ??
    /^@charset\s+["']([^"']+)/.exec(head)?.[1] ??
    /^.*(?:\n.*)?/.exec(head)?.[0].match(/coding[:=][ \t]*([\w.-]+)/)?.[1];
}

/** The encoding of a name, also of one that Python or Emacs have for it. */
function encodingNamed(name = ""): string | undefined {
  const plain = name.toLowerCase().replace(/-(?:unix|dos|mac)$/, "");
  const code = /^(?:cp|windows|ms)[-_]?(\d+)$/.exec(plain)?.[1] ?? "";
  const pages: Readonly<Record<string, string>> = {
    932: "shift_jis",
    936: "gbk",
    949: "euc-kr",
    950: "big5",
  };
  const others = [
    plain.replaceAll("_", "-"),
    plain.replace(/^(?:iso-)?latin[-_]/, "latin"),
    `windows-${code}`,
  ];
  for (const label of [pages[code] ?? plain, ...others, plain.replace(/^mac[-_]?roman$/, "macintosh")]) {
    try {
      return new TextDecoder(label).encoding;
    } catch {
      // The next spelling.
    }
  }
  return undefined;
}

/** Whether bytes are valid in an encoding, but for a few that are damaged among many characters. */
function canDecode(bytes: Uint8Array, encoding: string, { isCut = false } = {}): boolean {
  try {
    new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: isCut });
    return true;
  } catch {
    const foreign =
      new TextDecoder(encoding).decode(bytes.subarray(0, SAMPLE_BYTES * 16)).match(/[^\0-\x7f]/g) ?? [];
    return foreign.filter((character) => character === "\ufffd").length * 50 < foreign.length;
  }
}

function countsMany(bytes: Uint8Array): boolean {
  let count = 0;
  return bytes.some((byte) => byte >= 0xc0 && ++count >= MANY);
}

function markedEncoding([first, second, third, fourth]: Uint8Array): string | undefined {
  // With zeros after it, it is the mark of UTF-32, which nobody writes.
  if (first === 0xff && second === 0xfe && (third !== 0 || fourth !== 0)) return "utf-16le";
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
  return first === 0xfe && second === 0xff ? "utf-16be" : undefined;
}

/** Data has more zeros and other codes without a meaning in texts than a text that is damaged. */
function assertText(sample: Uint8Array, isUtf8: boolean): void {
  const codes = sample.filter((byte) => byte < 0x20 && (byte < 9 || byte > 13) && byte !== 27);
  if (sample.includes(0) && codes.length > sample.length * (isUtf8 ? 0.2 : 0.02)) {
    throw unreadable("unsupported", "the file is binary data, not text");
  }
}
