/** Texts of any encoding. */
import chardet from "chardet";
import { unreadable } from "./format.ts";

/** How many bytes are looked at to guess an encoding. */
const SAMPLE_BYTES = 64 * 1024;

/** The confidence, in percent, that chardet gives every encoding that it cannot exclude. */
const CHANCE = 10;
/** The share of bytes beyond ASCII from which on a text is not in Latin letters. */
const MANY_FOREIGN = 0.5;

/** The most frequent encoding of texts that are not in UTF-8. */
const WESTERN = "windows-1252";

/** A text and its encoding. */
export interface DecodedText {
  readonly text: string;
  /** As `TextDecoder` names it, such as `utf-8` or `gb18030`. */
  readonly encoding: string;
  /** Whether the encoding was guessed from the frequency of bytes. */
  readonly isGuess: boolean;
}

/**
 * Decodes a text: by its byte order mark, else as UTF-8, else in the most likely encoding. Line ends become `\n`.
 *
 * @throws {DocumentError} `unsupported` when the bytes are no text
 */
export function decodeText(bytes: Uint8Array): DecodedText {
  const { encoding, isGuess } = encodingOf(bytes);
  const text = new TextDecoder(encoding).decode(bytes).replace(/\r\n?/g, "\n");
  if (text.slice(0, SAMPLE_BYTES).includes("\0")) {
    throw unreadable("unsupported", "the file is no text: it has zero bytes");
  }
  return { text, encoding, isGuess };
}

function encodingOf(bytes: Uint8Array): { readonly encoding: string; readonly isGuess: boolean } {
  const marked = markedEncoding(bytes);
  if (marked !== undefined) return { encoding: marked, isGuess: false };
  if (isUtf8(bytes)) return { encoding: "utf-8", isGuess: false };
  return { encoding: guessEncoding(bytes.subarray(0, SAMPLE_BYTES)), isGuess: true };
}

/** The likeliest encoding in which the bytes are a text. Of a short text in an alphabet that is Latin's. */
function guessEncoding(sample: Uint8Array): string {
  const likely = chardet.analyse(sample).filter(({ confidence }) => confidence > CHANCE).map(({ name }) =>
    name
  );
  const foreign = sample.filter((byte) => byte >= 0x80).length / sample.length;
  const candidates = [...likely, ...foreign > MANY_FOREIGN ? ["gb18030", "shift_jis", "euc-kr"] : []];
  const fitting = candidates.find((encoding) => canDecode(sample, encoding));
  if (fitting === undefined) return WESTERN;
  // Where its letters are the same as in a rarer encoding, the most frequent one is the better guess.
  const isSame = new TextDecoder(fitting).decode(sample) === new TextDecoder(WESTERN).decode(sample);
  return isSame ? WESTERN : new TextDecoder(fitting).encoding;
}

/** The end of a sample may cut a character. */
function canDecode(sample: Uint8Array, encoding: string): boolean {
  try {
    new TextDecoder(encoding, { fatal: true }).decode(sample, { stream: true });
    return true;
  } catch {
    return false;
  }
}

function markedEncoding([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  return undefined;
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
