/** The kinds of files that become documents, and the parser of each. */
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import { extensionOf } from "../file_name.ts";
import { type OpenFile, type ParsedDocument, type ParseInput, unreadable } from "./format.ts";

/** A kind of file: which files are of it, and how they are opened. */
interface Kind {
  /** The ends of the file names, in lower case, without the dot. */
  readonly extensions: readonly string[];
  /** Loads the parser. Only parser processes call it. */
  readonly load: () => Promise<{ readonly open: OpenFile }>;
  /** Whether the parser can leave out what a page has beside its text. */
  readonly hasPlainPages?: boolean;
}

const KINDS = {
  pdf: { extensions: ["pdf"], load: () => import("./pdf/mod.ts"), hasPlainPages: true },
  docx: { extensions: ["docx", "docm", "dotx"], load: () => import("./docx/mod.ts") },
  pptx: { extensions: ["pptx", "pptm", "ppsx", "potx"], load: () => import("./pptx/mod.ts") },
  csv: { extensions: ["csv", "tsv"], load: () => import("./csv.ts") },
  xlsx: { extensions: ["xlsx", "xlsm", "xltx"], load: () => import("./xlsx/mod.ts") },
  image: {
    extensions: ["png", "jpg", "jpeg", "gif", "webp", "tif", "tiff", "bmp", "svg", "heic", "avif"],
    load: () => import("./image.ts"),
  },
  mail: { extensions: ["eml"], load: () => import("./mail.ts") },
  code: {
    extensions: [
      ..."ts tsx js jsx mjs cjs py rs go java kt c h cc cpp hpp".split(" "),
      ..."cs rb php swift scala sh bash ps1 sql lua pl r css scss vue toml ini".split(" "),
    ],
    load: () => import("./code/mod.ts"),
  },
  markdown: { extensions: ["md", "markdown", "mdown", "mkd"], load: () => import("./markdown.ts") },
  html: { extensions: ["html", "htm", "xhtml"], load: () => import("./html/mod.ts") },
  data: { extensions: ["json", "yaml", "yml", "geojson"], load: () => import("./data.ts") },
  text: {
    extensions: ["txt", "text", "log", "asc", "adoc", "asciidoc", "rst", "org"],
    load: () => import("./text.ts"),
  },
  other: {
    extensions: [
      ..."doc dot xls xlsb xlt ppt pps odt ods odp odg".split(" "),
      ..."rtf wpd pages numbers msg mbox epub mobi djvu xps ps".split(" "),
    ],
    load: () => Promise.resolve({ open: refuse }),
  },
} as const satisfies Record<string, Kind>;

/** Formats that are not read: their files stay in the list, and say what to do. */
function refuse(): ParsedDocument {
  throw unreadable(
    "unsupported",
    "files of this format are not read; save it as DOCX, XLSX, PPTX, PDF or text",
  );
}

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

/** Whether pages of a kind can be read without what they have beside their text. */
export function hasPlainPages(kind: FileKind): boolean {
  const { hasPlainPages = false }: Kind = KINDS[kind];
  return hasPlainPages;
}

/** Opens a file of a kind, and the files inside of it by their names. The elements of its pages have ids. */
export async function openFile(kind: FileKind, input: ParseInput): Promise<ParsedDocument> {
  const parser: { readonly open: OpenFile } = await KINDS[kind].load();
  const opened = await parser.open({ ...input, openInner });
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

async function openInner(input: ParseInput): Promise<ParsedDocument | undefined> {
  const kind = kindOf(input.fileName);
  return kind === undefined || kind === "other" ? undefined : await openFile(kind, input);
}
