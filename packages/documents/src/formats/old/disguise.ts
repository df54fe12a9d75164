/** Files whose content is of another kind than their name says: web pages called `.xls`, texts called `.msg`. */
import type { ParsedDocument, ParseInput } from "../format.ts";
import { isZipFile } from "../zip.ts";

/** How files begin, and an end of a file name that is of their kind. */
const BEGINNINGS: readonly (readonly [RegExp, string])[] = [
  [/^\{\\rtf/, "rtf"],
  [/^MIME-Version:/i, "eml"],
  [/^(?:<!--[^>]*-->\s*)?<(?:!doctype html|html|head|meta|table|body)\b/i, "html"],
];

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
  const head = new TextDecoder().decode(bytes.subarray(0, 512)).trimStart();
  const extension = isZipFile(bytes) ? zipped : BEGINNINGS.find(([beginning]) => beginning.test(head))?.[1];
  return extension === undefined
    ? undefined
    : await openInner?.({ ...input, fileName: `${fileName}.${extension}` });
}
