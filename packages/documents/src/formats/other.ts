/** Formats that are not read: their files stay in the list, and say what to do. */
import { type ParsedDocument, unreadable } from "./format.ts";

export function open(): ParsedDocument {
  throw unreadable(
    "unsupported",
    "files of this format are not read; save it as DOCX, XLSX, PPTX, PDF or text",
  );
}
