/** The interface between the parsers of file formats and the rest of the documents server: bytes in, pages out. */
import type { DocumentPage, OutlineSection } from "@a2c-smcp/sdk/provider";

/** A file that a parser has opened. Only what is read is parsed, where the format allows it. */
export interface ParsedDocument {
  /** What is known of the document without its pages. */
  readonly facts: DocumentFacts;
  /**
   * A page with its elements in reading order, which have no ids yet.
   *
   * @param index the number of the page, from 0, below `facts.pageCount`
   * @throws {DocumentError} when the page cannot be read
   */
  page(index: number, options?: PageOptions): DocumentPage | Promise<DocumentPage>;
  /** The pictures of a page that hold its text, from top to bottom, in a format of pictures; none where it has its own. */
  readonly scans?: ((index: number) => Promise<readonly Uint8Array<ArrayBuffer>[]>) | undefined;
  /** The texts of scans that were read since the last call. */
  takeScanTexts?(): ScanTexts;
  /** Frees memory outside of the JavaScript heap. */
  close?(): void;
}

export interface PageOptions {
  /**
   * Whether pictures and drawings are left out, which the page then says. Asked for when a page with them has exceeded the
   * limits, of parsers that say so (`hasPlainPages`).
   */
  readonly isPlain: boolean;
  /** Whether text in pictures is left out: reading it has exceeded the limits. */
  readonly isTextOnly?: boolean;
}

/** Reads the text in a picture: PNG, JPEG, TIFF, BMP, WebP or PNM. */
export type Recognize = (picture: Uint8Array<ArrayBuffer>) => Promise<string>;

/** The texts of scans by the numbers of their pages, from 0. */
export type ScanTexts = Readonly<Record<number, string>>;

/** What the catalogue shows of a document. */
export interface DocumentFacts {
  /** From the metadata of the file, else its first heading; the name of the file is used when neither exists. */
  readonly title?: string | undefined;
  /** The number of pages, at least 1: a page is what a person would call one. */
  readonly pageCount: number;
  /** The titles of the pages, if they are known without reading the pages. */
  readonly pageTitles?: readonly string[] | undefined;
  /** Headings, names of sheets and columns, and the like: the words by which a person would search. At most 200. */
  readonly headings: readonly string[];
  /** The keywords that the author of the file set. */
  readonly keywords?: readonly string[] | undefined;
  /** The beginning of the running text, at most 4,000 characters, from which the summary is made. */
  readonly opening: string;
  /** Its chapters and sections in reading order; `documentOf()` makes them of the headings. */
  readonly outline?: readonly OutlineSection[] | undefined;
  readonly about?: AboutFile | undefined;
  /** Each feature of the file that its pages do not show, as one sentence: `2 embedded videos are not shown`. */
  readonly losses: readonly string[];
}

/** What a file says of itself, as far as people wrote it or programs know it. */
export interface AboutFile {
  /** Who wrote it; several names are separated by commas. */
  readonly author?: string | undefined;
  /** When it was made, and changed last, in ISO 8601; a date without a time where the file has none. */
  readonly created?: string | undefined;
  readonly changed?: string | undefined;
  /** What its author says of it. */
  readonly description?: string | undefined;
  /** The language, as a tag such as `de` or `pt-BR`. */
  readonly language?: string | undefined;
  /** How its pages are numbered, where it is not from 1 on: `i–xii, 1–452`. */
  readonly pageLabels?: string | undefined;
}

/** What a parser may use. Whoever exceeds it throws a {@linkcode DocumentError} with the code `too_large`. */
export interface ParseLimits {
  /** The most bytes that a compressed file may unpack to, all its parts together. */
  readonly maxUnpackedBytes: number;
  /**
   * The most bytes of JSON of a page of a workbook: further rows are left out, which the page says. What is longer than a
   * page in other formats is continued on the next one, where they have no pages of their own.
   */
  readonly maxPageBytes: number;
  /** The most levels of nesting that are followed, in XML, lists, JSON and so on. */
  readonly maxDepth: number;
  /** For how long files in this one are opened, in milliseconds; others are only named. No end by default. */
  readonly innerMs?: number;
}

export interface ParseInput {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The name of the file without its folder; only for display and for the kind of source code. */
  readonly fileName: string;
  readonly limits: ParseLimits;
  /** In how many files this one is. */
  readonly within?: number | undefined;
  /** Reads text in pictures; without it, it is not read. */
  readonly recognize?: Recognize | undefined;
  /** Texts of scans that an earlier process has read. */
  readonly scanTexts?: ScanTexts | undefined;
  /** Opens a file inside of this one, of any kind; `undefined` for a kind that is not read, or too many files within files. */
  readonly openInner?: ((input: ParseInput) => Promise<ParsedDocument | undefined>) | undefined;
}

/** Opens files of one kind. Loaded only when a file of this kind is opened, and run without permissions. */
export type OpenFile = (input: ParseInput) => ParsedDocument | Promise<ParsedDocument>;

/** Why a file cannot be read. */
export type DocumentErrorCode = "damaged" | "encrypted" | "too_large" | "unsupported";

/** A file that cannot be read. Make it by {@linkcode unreadable}. */
export class DocumentError extends Error {
  override readonly name: string = "DocumentError";
  /** Why, and what a person can do: the end of `Cannot read "x.pdf": …`. It is shown to Agents. */
  readonly reason: string;

  constructor(
    readonly code: DocumentErrorCode,
    { reason, cause }: { readonly reason: string; readonly cause?: unknown },
  ) {
    super(`Cannot read file: ${reason}`, { cause });
    this.reason = reason;
  }
}

/**
 * The error of a file that cannot be read.
 *
 * @param reason why, and what a person can do, in lower case: `the file is encrypted; save it without a password`
 */
export function unreadable(
  code: DocumentErrorCode,
  reason: string,
  options: { readonly cause?: unknown } = {},
): DocumentError {
  return new DocumentError(code, { reason, ...options });
}

/** Counts what is in a file and is not read, by its kind: whatever no reader handles. */
export class UnreadParts {
  readonly #counts = new Map<string, number>();

  add(kind: string): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
  }

  get losses(): string[] {
    const counts = [...this.#counts];
    const total = counts.reduce((sum, [, count]) => sum + count, 0);
    const kinds = counts.map(([kind, count]) => count === 1 ? kind : `${kind} (${count})`).join(", ");
    const what = total === 1 ? "part of a kind that is" : "parts of kinds that are";
    return total === 0 ? [] : [`${total} ${what} not read: ${kinds}`];
  }
}
