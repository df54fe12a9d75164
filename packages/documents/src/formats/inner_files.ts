/** Files in a file, such as an archive or a message: the pages of each follow those of the one before. */
import type { DocumentPage, OutlineSection } from "@a2c-smcp/sdk/provider";
import { nameOf } from "../file_name.ts";
import { notice } from "./sections.ts";
import {
  DocumentError,
  type PageOptions,
  type ParsedDocument,
  type ParseInput,
  unreadable,
} from "./format.ts";

/** The most bytes of files that are opened; others are only named. */
const MAX_OPENED_BYTES = 32 * 1024 * 1024;

/** A file that is packed in another one. */
export interface PackedFile {
  /** Its path as a person sees it. */
  readonly path: string;
  readonly sizeBytes: number;
  bytes(): Uint8Array | undefined;
  /** Why it is not opened, if it is not. */
  readonly reason?: string | undefined;
}

/** A file whose pages begin with `firstPage`; it has none when there is a `reason` why it is not read. */
export interface InnerFile extends PackedFile {
  readonly firstPage: number;
  readonly pageTitles: readonly string[];
  /** The file as a chapter, with its own chapters below. */
  readonly outline: readonly OutlineSection[];
  readonly opening: string;
}

/** One of them is open at a time. */
export class InnerFiles {
  readonly #input: Pick<ParseInput, "limits" | "openInner">;
  #files: readonly InnerFile[] = [];
  #open: { readonly file: PackedFile; readonly document: ParsedDocument } | undefined;

  constructor(input: Pick<ParseInput, "limits" | "openInner">) {
    this.#input = input;
  }

  /** Opens each file once, for what is known of it without its pages, the first of which is `firstPage`. */
  async read(packed: readonly PackedFile[], firstPage: number): Promise<readonly InnerFile[]> {
    const files: InnerFile[] = [];
    let [next, openedBytes] = [firstPage, 0];
    const endMs = performance.now() + (this.#input.limits.innerMs ?? Infinity);
    for (const file of packed) {
      const isTooMuch = openedBytes + file.sizeBytes > MAX_OPENED_BYTES || performance.now() > endMs;
      if (!isTooMuch) openedBytes += file.sizeBytes;
      const reason = file.reason ?? (isTooMuch ? "too much for one file" : undefined);
      const read = reason === undefined ? await this.#factsOf(file, next) : unread(file, reason);
      files.push({ ...read, firstPage: next });
      next += read.pageTitles.length;
    }
    this.close();
    return this.#files = files;
  }

  /** A page of one of them, by its number among all. */
  async page(index: number, options?: PageOptions): Promise<DocumentPage> {
    const file = this.#files.findLast(({ firstPage, pageTitles }) =>
      firstPage <= index && pageTitles.length > 0
    );
    const document = file && await this.#document(file);
    if (file === undefined || document === undefined) {
      throw unreadable("damaged", `there is no page ${index}`);
    }
    const { title, elements } = await document.page(index - file.firstPage, options);
    const losses = index > file.firstPage ? [] : document.facts.losses;
    return {
      title: document.facts.pageCount === 1 ? file.path : `${file.path}: ${title}`,
      elements: [...elements, ...losses.map(notice)],
    };
  }

  close(): void {
    this.#open?.document.close?.();
    this.#open = undefined;
  }

  async #factsOf(file: PackedFile, firstPage: number): Promise<Omit<InnerFile, "firstPage">> {
    try {
      const document = await this.#document(file);
      if (document === undefined) return unread(file, "of a kind that is not read");
      const { path } = file;
      const { pageCount, pageTitles = [], title, outline = [], opening } = document.facts;
      const titles = Array.from({ length: pageCount }, (_, page) => pageTitles[page] ?? `Page ${page + 1}`);
      const below = outline.map(({ title, level, page }) => ({
        title,
        level: level + 1,
        page: page + firstPage,
      }));
      return {
        ...file,
        pageTitles: titles.map((each) => pageCount === 1 ? path : `${path}: ${each}`),
        outline: [{ title: path, level: 1, page: firstPage }, ...below],
        opening: [title ?? "", opening.slice(0, 200)].join("\n").trim(),
      };
    } catch (error) {
      return unread(file, error instanceof DocumentError ? error.reason : "the file may be damaged");
    }
  }

  async #document(file: PackedFile): Promise<ParsedDocument | undefined> {
    if (this.#open?.file.bytes === file.bytes) return this.#open.document;
    this.close();
    const bytes = file.bytes();
    const { limits, openInner } = this.#input;
    const inner = { ...limits, maxUnpackedBytes: Math.floor(limits.maxUnpackedBytes / 2) };
    const document = bytes &&
      await openInner?.({ bytes: new Uint8Array(bytes), fileName: nameOf(file.path), limits: inner });
    if (document !== undefined) this.#open = { file, document };
    return document;
  }
}

function unread(file: PackedFile, reason: string): Omit<InnerFile, "firstPage"> {
  return { ...file, reason, pageTitles: [], outline: [], opening: "" };
}

/** Its pages as they are numbered in URIs, or why it has none. */
export function pagesText({ firstPage, pageTitles, reason }: InnerFile): string {
  if (reason !== undefined) return `not read: ${reason}`;
  const last = firstPage + pageTitles.length - 1;
  return firstPage === last ? `${firstPage}` : `${firstPage}–${last}`;
}
