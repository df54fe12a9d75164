/** Files whose content is of another kind than their name says: web pages called `.xls`, texts called `.msg`. */
import type { ParsedDocument, ParseInput } from "../format.ts";

/** How files begin, and an end of a file name that is of their kind. */
const BEGINNINGS: readonly (readonly [RegExp, string])[] = [
  [/^\{\\rtf/, "rtf"],
  [/^MIME-Version:/i, "eml"],
  [/^(?:<!--[^>]*-->\s*)?<(?:!doctype html|html|head|meta|table|body)\b/i, "html"],
];
/** The first bytes of the files that these formats are really in. */
const COMPOUND_FILE = [0xd0, 0xcf, 0x11, 0xe0];
const ZIP_FILE = [0x50, 0x4b, 0x03, 0x04];

/** Whether the content is a compound file, which all formats of Office before 2007 are. */
export function isCompoundFile(bytes: Uint8Array): boolean {
  return COMPOUND_FILE.every((byte, index) => bytes[index] === byte);
}

/**
 * Opens a file by its content; `undefined` for one that is what its name says, or of an unknown kind.
 *
 * @param zipped the end of the names of such files since 2007, such as `docx`
 */
export async function openDisguised(
  input: ParseInput,
  zipped?: string,
): Promise<ParsedDocument | undefined> {
  const { bytes, fileName, openInner } = input;
  const isZip = ZIP_FILE.every((byte, index) => bytes[index] === byte);
  const head = new TextDecoder().decode(bytes.subarray(0, 512)).trimStart();
  const extension = isZip ? zipped : BEGINNINGS.find(([beginning]) => beginning.test(head))?.[1];
  return extension === undefined
    ? undefined
    : await openInner?.({ ...input, fileName: `${fileName}.${extension}` });
}
