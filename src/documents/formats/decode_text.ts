/** Texts of any encoding. */
import chardet from "chardet";
import { unreadable } from "./format.ts";

/** How many bytes are looked at to guess an encoding. */
const SAMPLE_BYTES = 64 * 1024;

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
  const guess = chardet.detect(bytes.subarray(0, SAMPLE_BYTES)) ?? "windows-1252";
  try {
    return { encoding: new TextDecoder(guess).encoding, isGuess: true };
  } catch {
    return { encoding: "windows-1252", isGuess: true };
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
