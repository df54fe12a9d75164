/** The kinds of files that become documents, and the parser of each. */
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import { withScans } from "./ocr.ts";
import { extensionOf } from "../file_name.ts";
import { looksLikeText } from "./decode_text.ts";
import type { OpenFile, ParsedDocument, ParseInput } from "./format.ts";
import { isUnread, unreadExtensions } from "./unread.ts";

/** A kind of file: which files are of it, and how they are opened. */
export interface Kind {
  /** The ends of the file names, in lower case, without the dot. */
  readonly extensions: readonly string[];
  /** Loads the parser. Only parser processes call it. */
  readonly load: () => Promise<{ readonly open: OpenFile }>;
  /** Whether the pages can be read without what they have beside their text, or without the text in pictures. */
  readonly hasPlainPages?: boolean;
  /** Whether each file is read in a process of its own, because its parser was not made for hostile files. */
  readonly isAlone?: boolean;
}

const KINDS = {
  pdf: { extensions: ["pdf"], load: () => import("./pdf/mod.ts"), hasPlainPages: true },
  docx: { extensions: ["docx", "docm", "dotx", "dotm"], load: () => import("./docx/mod.ts") },
  pptx: { extensions: ["pptx", "pptm", "ppsx", "ppsm", "potx", "potm"], load: () => import("./pptx/mod.ts") },
  csv: { extensions: ["csv", "tsv", "tab"], load: () => import("./csv.ts") },
  xlsx: { extensions: ["xlsx", "xlsm", "xltx", "xltm"], load: () => import("./xlsx/mod.ts") },
  oldWorkbook: {
    extensions: ["xls", "xlt", "xlsb", "dbf", "ods", "ots", "fods"],
    load: () => import("./old/workbook.ts"),
    isAlone: true,
  },
  oldWord: { extensions: ["doc", "dot"], load: () => import("./old/word.ts"), isAlone: true },
  outlook: { extensions: ["msg"], load: () => import("./old/outlook.ts"), isAlone: true },
  image: {
    extensions: ["png", "jpg", "jpeg", "gif", "webp", "tif", "tiff", "bmp", "svg", "heic", "avif"],
    load: () => import("./image.ts"),
    hasPlainPages: true,
  },
  mail: { extensions: ["eml", "mht", "mhtml"], load: () => import("./mail.ts") },
  code: {
    extensions: [
      ..."ts tsx js jsx mjs cjs py rs go java kt c h cc cpp hpp".split(" "),
      ..."cs rb php swift scala sh bash ps1 sql lua pl r css scss vue toml ini".split(" "),
    ],
    load: () => import("./code/mod.ts"),
  },
  markdown: {
    extensions: ["md", "markdown", "mdown", "mkd", "mdx", "rmd", "qmd"],
    load: () => import("./markdown.ts"),
  },
  openDocument: {
    extensions: ["odt", "ott", "fodt", "odp", "otp", "fodp", "odg", "otg", "fodg"],
    load: () => import("./odf/mod.ts"),
  },
  rtf: { extensions: ["rtf"], load: () => import("./rtf/mod.ts") },
  epub: { extensions: ["epub"], load: () => import("./epub.ts") },
  notebook: { extensions: ["ipynb"], load: () => import("./notebook.ts") },
  html: { extensions: ["html", "htm", "xhtml"], load: () => import("./html/mod.ts") },
  data: {
    extensions: ["json", "yaml", "yml", "geojson", "jsonl", "ndjson"],
    load: () => import("./data.ts"),
  },
  archive: { extensions: ["zip"], load: () => import("./archive.ts") },
  text: {
    extensions: ["txt", "text", "log", "asc", "adoc", "asciidoc", "rst", "org", "tex", "srt", "vtt"],
    load: () => import("./text.ts"),
  },
  /** What its content tells: {@linkcode kindOfContent}. */
  plain: { extensions: [], load: () => import("./plain.ts") },
  other: { extensions: unreadExtensions, load: () => import("./unread.ts") },
} as const satisfies Record<string, Kind>;

export type FileKind = keyof typeof KINDS;

const kindByExtension: ReadonlyMap<string, FileKind> = new Map(
  (Object.keys(KINDS) as FileKind[]).flatMap((kind) =>
    KINDS[kind].extensions.map((extension): [string, FileKind] => [extension, kind])
  ),
);

/** The kind of a file by the end of its name; `undefined` for files that are no documents. */
export function kindOf(fileName: string): FileKind | undefined {
  const extension = extensionOf(fileName);
  return extension === "" ? undefined : kindByExtension.get(extension);
}

/**
 * The ends of names of files that are no documents, whatever is in them: what compilers make, fonts, disks, passwords of
 * programs, and what they keep for a while.
 */
const NEVER: ReadonlySet<string> = new Set(
  ("o obj a lib so dll dylib exe class jar war pyc pyo pyd wasm bin iso img dmg pkg msi deb rpm apk whl woff woff2 ttf otf " +
    "eot ico icns map tmp part crdownload swp swo pid env pem").split(" "),
);

/** Whether a file may be a document, though its name does not tell its kind: {@linkcode kindOfContent} does. */
export function isUnknown(fileName: string): boolean {
  return kindOf(fileName) === undefined && !NEVER.has(extensionOf(fileName)) && !fileName.endsWith("~");
}

/** How many bytes of a file of an unknown kind tell it. */
export const HEAD_BYTES = 4096;

/** How files of some kinds begin, whatever their names are. */
const BEGINNINGS: readonly (readonly [RegExp, FileKind])[] = [
  [/^%PDF-/, "pdf"],
  [/^\{\\rtf/, "rtf"],
  [/^\s*<(?:!doctype\s+)?html\b/i, "html"],
];

/**
 * The kind of a file whose name does not tell it, by its first bytes: a text of any sort, mostly. `undefined` for other data,
 * and for the private keys of programs, which nobody means to show.
 */
export function kindOfContent(head: Uint8Array, fileName: string): FileKind | undefined {
  const start = new TextDecoder("latin1").decode(head);
  const kind = BEGINNINGS.find(([beginning]) => beginning.test(start))?.[1];
  if (kind !== undefined) return kind;
  if (!looksLikeText(head)) return head.length > 0 && isUnread(fileName) ? "other" : undefined;
  // A key may follow behind certificates.
  const isKey = PRIVATE_KEY.test(start) || head.length >= HEAD_BYTES && CERTIFICATE.test(start);
  return isKey ? undefined : "plain";
}

/** How the keys of programs begin: those of OpenSSL, OpenSSH and GnuPG, of PuTTY, of age. */
const PRIVATE_KEY = /^(?:-----BEGIN [A-Z ]*PRIVATE KEY|PuTTY-User-Key-File-|AGE-SECRET-KEY-)/m;

const CERTIFICATE = /^-----BEGIN [A-Z ]*CERTIFICATE/m;

/** How files of a kind are read. */
export function kindNamed(kind: FileKind): Kind {
  return KINDS[kind];
}

/** Opens a file of a kind, and the files inside of it by their names. The elements of its pages have ids. */
export async function openFile(kind: FileKind, input: ParseInput): Promise<ParsedDocument> {
  const parser: { readonly open: OpenFile } = await KINDS[kind].load();
  const within = (input.within ?? 0) + 1;
  const { recognize } = input;
  const inside = (inner: ParseInput) => openInner({ ...inner, within, recognize });
  const opened = withScans(await parser.open({ ...input, openInner: inside }), input);
  return {
    ...opened,
    page: async (index, options) => {
      const page = await opened.page(index, options);
      return { ...page, elements: withIds(page.elements, index) };
    },
  };
}

/**
 * Gives each element of a page its id: the page, the category, and the position among the elements of this category, from
 * 1: `p3-table-1`. So an id stays the same when elements of other categories are added before it.
 */
function withIds(elements: readonly DocumentElement[], pageIndex: number): DocumentElement[] {
  const counts = new Map<string, number>();
  return elements.map((element) => {
    const count = (counts.get(element.category) ?? 0) + 1;
    counts.set(element.category, count);
    return { ...element, elementId: `p${pageIndex}-${element.category}-${count}` };
  });
}

/** The most files that a file is in, each in the next one: a file of an archive that is attached to a message is in two. */
const MAX_WITHIN = 3;

async function openInner(input: ParseInput): Promise<ParsedDocument | undefined> {
  const { bytes, fileName, within = 0 } = input;
  if (within > MAX_WITHIN) return undefined;
  const kind = kindOf(fileName) ??
    (isUnknown(fileName) ? kindOfContent(bytes.subarray(0, HEAD_BYTES), fileName) : undefined);
  if (kind === undefined || kind === "other" || kindNamed(kind).isAlone) return undefined;
  return await openFile(kind, input);
}
