/** Workbooks in the formats before 2007, in Excel's binary one and of OpenDocument: they are written as XLSX, which is then read. */
import { read, type WorkBook, write } from "@e965/xlsx";
import { describeError } from "../../basics.ts";
import { extensionOf } from "../../file_name.ts";
import { type ParsedDocument, type ParseInput, unreadable } from "../format.ts";
import { open as openXlsx } from "../xlsx/mod.ts";
import { openDisguised } from "./disguise.ts";

/** What the library keeps of cells. */
const CELLS = { type: "array", cellNF: true, cellStyles: true, cellHTML: false, cellText: false } as const;

/** Opens a workbook. Its pages are those of XLSX. */
export async function open(input: ParseInput): Promise<ParsedDocument> {
  const { bytes, fileName } = input;
  const disguised = await openDisguised(input, /^xl[st]$/.test(extensionOf(fileName)) ? "xlsx" : undefined);
  if (disguised !== undefined) return disguised;
  const xlsx: ArrayBuffer = write(readWorkbook(bytes), { ...CELLS, bookType: "xlsx", bookSST: true });
  const { facts, page } = openXlsx({ ...input, bytes: new Uint8Array(xlsx) });
  const losses = ["Charts, pictures and macros of this format are not read", ...facts.losses];
  return { facts: { ...facts, losses }, page };
}

function readWorkbook(bytes: Uint8Array): WorkBook {
  try {
    return read(bytes, CELLS);
  } catch (cause) {
    throw /password|encrypt/i.test(describeError(cause))
      ? unreadable("encrypted", "the file has a password; save it without one", { cause })
      : unreadable("damaged", "the file is damaged, or no workbook of this format", { cause });
  }
}
