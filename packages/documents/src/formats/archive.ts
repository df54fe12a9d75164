/**
 * ZIP archives, read as folders: a page that lists the files, and then the pages of each file that can be read. Nothing is
 * unpacked to a disk, so that a name leads nowhere.
 */
import type { DocumentElement, DocumentPage } from "@a2c-smcp/sdk/provider";
import { describeSize, isLeftBehind, nameOf } from "../file_name.ts";
import {
  DocumentError,
  type OutlineEntry,
  type PageOptions,
  type ParsedDocument,
  type ParseInput,
  unreadable,
} from "./format.ts";
import { guessEncoding } from "./guess_encoding.ts";
import { tableOf } from "./sections.ts";
import { hasPassword, resolvePart, ZipParts } from "./zip.ts";

/** The most files that are opened, and the most bytes of them; others are only named. */
const MAX_OPENED = 500;
const MAX_OPENED_BYTES = 32 * 1024 * 1024;
/** The most files that are named. */
const MAX_NAMED = 5_000;
/** An archive in an archive is named: what it unpacks to has no end. */
const ARCHIVE = /\.zip$/i;

/** A file of the archive. Its pages follow each other from `firstPage` on; it has none when it is not read. */
interface InnerFile {
  readonly name: string;
  /** Its path as a person sees it. */
  readonly path: string;
  readonly sizeBytes: number;
  readonly firstPage: number;
  readonly pageTitles: readonly string[];
  readonly outline: readonly OutlineEntry[];
  readonly opening: string;
  /** Why it is not read. */
  readonly reason?: string;
}

type InnerFacts = Pick<InnerFile, "pageTitles" | "outline" | "opening" | "reason">;

const NOTHING: InnerFacts = { pageTitles: [], outline: [], opening: "" };

export async function open(input: ParseInput): Promise<ParsedDocument> {
  if (hasPassword(input.bytes)) {
    throw unreadable("encrypted", "the archive has a password; unpack it");
  }
  const archive = new Archive(input);
  const files = await archive.files();
  const { fileName } = input;
  const pageTitles = [`Files of ${fileName}`, ...files.flatMap(({ pageTitles }) => pageTitles)];
  const read = files.filter(({ pageTitles }) => pageTitles.length > 0);
  const unread = files.filter(({ reason }) => reason !== undefined).length;
  const paths = files.map(({ path }) => path);
  const losses = [
    ...(unread === 0 ? [] : [`Files that are named, and not read: ${unread}`]),
    ...(archive.unnamed === 0
      ? []
      : [`Files that are not named, because there are too many: ${archive.unnamed}`]),
  ];
  return {
    facts: {
      title: fileName,
      pageCount: pageTitles.length,
      pageTitles,
      headings: paths.slice(0, 200),
      outline: [{ title: "Files", level: 1, page: 0 }, ...read.flatMap(outlineOf)],
      opening: [
        `Archive of ${files.length} files: ${paths.slice(0, 20).join(", ")}.`,
        ...read.map(({ opening }) => opening),
      ]
        .join("\n").slice(0, 4_000).toWellFormed(),
      losses,
    },
    page: (index, options) => {
      if (index === 0) return { title: pageTitles[0] ?? fileName, elements: [contentsOf(files)] };
      const file = read.findLast(({ firstPage }) => firstPage <= index);
      if (file === undefined) throw unreadable("damaged", `there is no page ${index}`);
      return archive.page(file, index, options);
    },
    close: () => archive.close(),
  };
}

class Archive {
  readonly #zip: ZipParts;
  readonly #input: ParseInput;
  /** The file that is open. */
  #open: { readonly name: string; readonly document: ParsedDocument } | undefined;
  #unnamed = 0;

  constructor(input: ParseInput) {
    this.#input = input;
    this.#zip = new ZipParts(input.bytes, input.limits, { keepsCase: true });
  }

  /** How many files are left out of the list. */
  get unnamed(): number {
    return this.#unnamed;
  }

  /** Opens each file once, for what is known of it without its pages. */
  async files(): Promise<readonly InnerFile[]> {
    const pathOf = pathsOf(this.#zip.names);
    const named = this.#zip.names.filter((name) => !name.endsWith("/"))
      .map((name) => ({ name, path: pathOf(name), sizeBytes: this.#zip.sizeOf(name) }))
      .filter(({ path }) => !path.split("/").some((part) => part.startsWith(".") || isLeftBehind(part)))
      .sort((a, b) => a.path < b.path ? -1 : a.path > b.path ? 1 : 0);
    this.#unnamed = Math.max(named.length - MAX_NAMED, 0);
    const files: InnerFile[] = [];
    let [firstPage, opened, openedBytes] = [1, 0, 0];
    for (const file of named.slice(0, MAX_NAMED)) {
      const isTooMuch = opened >= MAX_OPENED || openedBytes + file.sizeBytes > MAX_OPENED_BYTES;
      const facts = ARCHIVE.test(file.path)
        ? { ...NOTHING, reason: "an archive in an archive" }
        : isTooMuch
        ? { ...NOTHING, reason: "too much for an archive" }
        : await this.#factsOf(file);
      if (!isTooMuch) [opened, openedBytes] = [opened + 1, openedBytes + file.sizeBytes];
      files.push({ ...file, ...facts, firstPage });
      firstPage += facts.pageTitles.length;
    }
    this.close();
    return files;
  }

  async #factsOf({ name, path }: Pick<InnerFile, "name" | "path">): Promise<InnerFacts> {
    try {
      const document = await this.#document(name, path);
      if (document === undefined) return { ...NOTHING, reason: "of a kind that is not read" };
      const { pageCount, pageTitles = [], title, outline = [], opening } = document.facts;
      const titles = Array.from({ length: pageCount }, (_, page) => pageTitles[page] ?? `Page ${page + 1}`);
      return {
        pageTitles: titles.map((each) => pageCount === 1 ? path : `${path}: ${each}`),
        outline,
        opening: [title ?? "", opening.slice(0, 200)].join("\n").trim(),
      };
    } catch (error) {
      if (error instanceof DocumentError) return { ...NOTHING, reason: error.reason };
      return { ...NOTHING, reason: "the file may be damaged" };
    }
  }

  async page(
    { name, path, firstPage }: InnerFile,
    index: number,
    options?: PageOptions,
  ): Promise<DocumentPage> {
    const document = await this.#document(name, path);
    if (document === undefined) throw unreadable("damaged", `there is no page ${index}`);
    const { title, elements } = await document.page(index - firstPage, options);
    const losses = index > firstPage ? [] : document.facts.losses;
    return {
      title: document.facts.pageCount === 1 ? path : `${path}: ${title}`,
      elements: [
        ...elements,
        ...losses.map((text): DocumentElement => ({ category: "annotation", content: { text } })),
      ],
    };
  }

  async #document(name: string, path: string): Promise<ParsedDocument | undefined> {
    if (this.#open?.name === name) return this.#open.document;
    this.close();
    const bytes = this.#zip.bytes(name);
    const { limits, openInner } = this.#input;
    const inner = { ...limits, maxUnpackedBytes: Math.floor(limits.maxUnpackedBytes / 2) };
    const document = bytes &&
      await openInner?.({ bytes: new Uint8Array(bytes), fileName: nameOf(path), limits: inner });
    if (document !== undefined) this.#open = { name, document };
    return document;
  }

  close(): void {
    this.#open?.document.close?.();
    this.#open = undefined;
  }
}

/** The table of the files, with the pages that each has, as they are numbered in URIs. */
function contentsOf(files: readonly InnerFile[]): DocumentElement {
  const rows = files.map(({ path, sizeBytes, firstPage, pageTitles, reason }) => {
    const last = firstPage + pageTitles.length - 1;
    const pages = firstPage === last ? `${firstPage}` : `${firstPage}–${last}`;
    return [path, describeSize(sizeBytes), reason === undefined ? pages : `not read: ${reason}`];
  });
  return tableOf([["file", "size", "pages"], ...rows], 1);
}

/** A file is a chapter; its own chapters are below it. */
function outlineOf({ path, firstPage, outline }: InnerFile): OutlineEntry[] {
  return [
    { title: path, level: 1, page: firstPage },
    ...outline.map(({ title, level, page }) => ({ title, level: level + 1, page: page + firstPage })),
  ];
}

/** The paths for names, which say nothing of their encoding where it is not UTF-8. They have no signs that lead out. */
function pathsOf(names: readonly string[]): (name: string) => string {
  // A character for each byte.
  const bytesOf = (text: string) => Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const foreign = names.filter((name) => /^[\0-\xff]*$/.test(name) && /[\x80-\xff]/.test(name));
  const encoding = guessEncoding(bytesOf(foreign.join("\n")));
  const decoded = new Map(foreign.map((name) => {
    const bytes = bytesOf(name);
    const isUtf8 = !new TextDecoder().decode(bytes).includes("\ufffd");
    return [name, new TextDecoder(isUtf8 ? "utf-8" : encoding).decode(bytes)];
  }));
  return (name) =>
    resolvePart("", (decoded.get(name) ?? name).replaceAll("\\", "/")).replace(
      /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
      "\ufffd",
    )
      .replace(/^\/+/, "");
}
