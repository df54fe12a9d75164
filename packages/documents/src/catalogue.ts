/** The documents of some folders: what the provider publishes. */
import { abortable, type Logger, settledWithin, SmcpError, Throttle, visitInTurns } from "@a2c-smcp/sdk/base";
import { describeError } from "./basics.ts";
import { toInfo, withLosses } from "./document_info.ts";
import { cannotRead, notFound, toSmcpError } from "./file_errors.ts";
import type {
  DocumentInfo,
  DocumentPage,
  DocumentSource,
  OutlineSection,
  PageInfo,
  PageRange,
  PlacedElement,
  PublishedDocuments,
  ReadRequest,
} from "@a2c-smcp/sdk/provider";
import { DocumentError } from "./formats/format.ts";
import { readInside } from "./folder/read_inside.ts";
import { nameOf } from "./file_name.ts";
import type { FileTree, FolderFile, TreeChange } from "./folder/tree.ts";
import type { IndexDatabase } from "./index/database.ts";
import { type FileReport, ReportStore } from "./index/store.ts";
import { PageCache } from "./page_cache.ts";
import {
  type ParsableFile,
  ParserLimitError,
  type ParserPool,
  PoolClosedError,
  type PoolRequestOptions,
} from "./parsing/pool.ts";
import { makeReport } from "./report.ts";
import { TextIndexer } from "./search/indexer.ts";
import { type SearchOptions, type SearchResult, TextSearch } from "./search/search.ts";
import { TextIndex } from "./search/text_index.ts";

/** How often clients are told of files that have been read, in milliseconds. */
const TELL_INTERVAL_MS = 1_000;
/** A list or a search of documents that are not read yet finds nothing. A Computer waits 5 s for a list. */
const FIRST_READ_MS = 2_000;
/** From so many changed documents on, clients are told that the list has changed. */
const MAX_TOLD = 100;
/** The id of an element begins with the number of its page. */
const ELEMENT_PAGE = /^p(0|[1-9][0-9]{0,8})-/;

export interface CatalogueOptions {
  /** The host of the URIs. */
  readonly host: string;
  readonly tree: FileTree;
  readonly pool: ParserPool;
  /** Keeps what was read, on disk between runs. */
  readonly database: IndexDatabase;
  readonly logger: Logger;
  readonly maxFileBytes: number;
  /** How many files are read in the background at the same time. */
  readonly concurrency: number;
  /** How long the first list waits until the files are read, in milliseconds; 2,000 by default. */
  readonly firstReadMs?: number | undefined;
}

/**
 * Answers with the documents of the folders, and reads files in the background until all are known. No request is answered
 * before all folders have been looked at: a part of the documents would look like all of them.
 */
export class DocumentCatalogue implements DocumentSource, AsyncDisposable {
  readonly host: string;
  readonly #options: CatalogueOptions;
  readonly #store: ReportStore;
  readonly #index: TextIndex;
  readonly #indexer: TextIndexer;
  readonly #search: TextSearch;
  readonly #pages = new PageCache();
  readonly #reports = new Map<string, { readonly file: FolderFile; readonly report: FileReport }>();
  readonly #unread = new Map<string, FolderFile>();
  /** Those that exceeded a limit in an earlier run: they are tried again when one of their pages is read. */
  readonly #limited = new Set<FolderFile>();
  /** Those that changed while they were read: what changes faster than it is read would hold up all others. */
  readonly #restless = new Map<string, FolderFile>();
  readonly #reading = new Map<string, Promise<void>>();
  readonly #told = new Set<string>();
  readonly #tell = new Throttle(() => this.#tellNow(), TELL_INTERVAL_MS);
  readonly #listed = Promise.withResolvers<void>();
  readonly #allRead = Promise.withResolvers<void>();
  #firstRead: Promise<void> | undefined;
  #published: PublishedDocuments | undefined;
  #onTold: (() => void) | undefined;
  #isListDue = false;
  #list: readonly DocumentInfo[] | undefined;
  #isClosed = false;

  constructor(options: CatalogueOptions) {
    this.host = options.host;
    this.#options = options;
    this.#store = new ReportStore(options.database);
    this.#index = new TextIndex(options.database);
    this.#indexer = new TextIndexer({
      ...options,
      index: this.#index,
      toParse: (file) => this.#toParse(file),
      mustWait: () => this.#unread.size > 0,
    });
    this.#search = new TextSearch({
      ...options,
      index: this.#index,
      indexer: this.#indexer,
      titleOf: (file) => this.titleOf(file),
      readPage: (file, index, signal) => this.#page(file, index, signal),
      allRead: this.#allRead.promise,
      unread: () => this.progress.unread,
      isUnread: (file) => this.#reports.get(file.docRef)?.file !== file,
      readNow: (file, signal) => this.#report(file, { signal }),
    });
  }

  /** Tells the clients of these documents of changes, and `onTold` each time. */
  attach(published: PublishedDocuments, onTold: () => void): void {
    this.#published = published;
    this.#onTold = onTold;
  }

  /** How many files there are, and how many of them have not been read yet. */
  get progress(): { readonly files: number; readonly unread: number } {
    const restless = [...this.#restless.keys()].filter((docRef) => !this.#reading.has(docRef)).length;
    return {
      files: this.#options.tree.files.size,
      unread: this.#unread.size + this.#reading.size + restless,
    };
  }

  /** Looks at all folders. */
  async refresh(): Promise<void> {
    await this.apply(await this.#options.tree.refresh());
    this.#readNext();
    this.#listed.resolve();
  }

  /** Resolves when all folders have been looked at once. */
  async untilListed({ signal }: Pick<ReadRequest, "signal">): Promise<void> {
    await abortable(this.#listed.promise, signal);
  }

  /** Takes over what changed in the folders. The files that were changed last are read first. */
  async apply({ added, changed, removed }: TreeChange): Promise<void> {
    if (added.length + changed.length + removed.length === 0) return;
    for (const file of removed) {
      this.#reports.delete(file.docRef);
      this.#limited.delete(file);
      this.#unread.delete(file.docRef);
      this.#restless.delete(file.docRef);
      this.#indexer.remove(file);
    }
    const entered = [...added, ...changed].sort((a, b) => b.modifiedMs - a.modifiedMs);
    await visitInTurns(entered, (file) => this.#enter(file));
    for (const { docRef } of changed) this.#told.add(docRef);
    if (added.length + removed.length > 0) this.#isListDue = true;
    this.#noteChange();
    this.#readNext();
  }

  /** The title of a document; the name of its file until it is read. Of a file that was changed, that before the change. */
  titleOf(file: FolderFile): string {
    return toInfo(file, this.#reports.get(file.docRef)?.report).title;
  }

  async list(request: ReadRequest): Promise<readonly DocumentInfo[]> {
    await this.untilListed(request);
    this.#firstRead ??= settledWithin(this.#allRead.promise, this.#options.firstReadMs ?? FIRST_READ_MS);
    await abortable(this.#firstRead, request.signal);
    this.#list ??= [...this.#options.tree.files.values()]
      .sort((a, b) => a.path < b.path ? -1 : a.path > b.path ? 1 : 0)
      .map((file) => toInfo(file, this.#reports.get(file.docRef)?.report));
    return this.#list;
  }

  async notice(request: ReadRequest): Promise<string | undefined> {
    await this.untilListed(request);
    return this.#options.tree.notice;
  }

  async document(docRef: string, request: ReadRequest): Promise<DocumentInfo | undefined> {
    await this.untilListed(request);
    const file = this.#options.tree.files.get(docRef);
    if (file === undefined) return undefined;
    return toInfo(file, await this.#report(file, { signal: request.signal }));
  }

  async page(docRef: string, index: number, request: ReadRequest): Promise<DocumentPage | undefined> {
    await this.untilListed(request);
    const file = this.#options.tree.files.get(docRef);
    if (file === undefined) return undefined;
    const isAgain = this.#limited.delete(file);
    const report = await this.#report(file, { signal: request.signal }, isAgain);
    if ("refused" in report) throw cannotRead(file, report);
    if (index >= report.pageCount) return undefined;
    const page = await this.#page(file, index, request.signal);
    return index === 0 ? withLosses(page, report.losses) : page;
  }

  async pageIndex(
    docRef: string,
    { offset, limit }: PageRange,
    request: ReadRequest,
  ): Promise<readonly PageInfo[] | undefined> {
    const indices = Array.from({ length: limit }, (_, position) => offset + position);
    const pages = await Promise.all(indices.map((index) => this.#pageInfo(docRef, index, request)));
    return pages.filter((page) => page !== undefined);
  }

  /** A page that cannot be read costs the index nothing but its elements. */
  async #pageInfo(docRef: string, index: number, request: ReadRequest): Promise<PageInfo | undefined> {
    try {
      const page = await this.page(docRef, index, request);
      return page && { title: page.title, elementCount: page.elements.length };
    } catch (error) {
      const report = this.#reports.get(docRef)?.report;
      if (!(error instanceof SmcpError) || report === undefined || "refused" in report) throw error;
      return { title: report.pageTitles?.[index] ?? `Page ${index + 1}`, elementCount: 0 };
    }
  }

  /** Its outline; where it has none, the titles of its pages, as far as they are known. */
  async outline(docRef: string, request: ReadRequest): Promise<readonly OutlineSection[] | undefined> {
    await this.untilListed(request);
    const file = this.#options.tree.files.get(docRef);
    if (file === undefined) return undefined;
    const report = await this.#report(file, { signal: request.signal });
    if ("refused" in report) return undefined;
    const titles = report.pageTitles?.map((title, page) => ({ title, level: 1, page }));
    const outline = report.outline ?? titles ?? this.#index.outlineOf(file);
    return outline.length === 0 ? undefined : outline;
  }

  async element(docRef: string, elementId: string, request: ReadRequest): Promise<PlacedElement | undefined> {
    const match = ELEMENT_PAGE.exec(elementId);
    if (match === null) return undefined;
    const pageIndex = Number(match[1]);
    const page = await this.page(docRef, pageIndex, request);
    const element = page?.elements.find((element) => element.elementId === elementId);
    return element && { pageIndex, element };
  }

  /**
   * The pages that have the words of a query, as they are or as the beginning of longer ones, the best first. A query is words
   * and nothing else. Throws 4201 for a `docRef` that does not exist.
   */
  async search(query: string, { docRef, ...options }: SearchOptions): Promise<SearchResult> {
    await this.untilListed(options);
    const file = docRef === undefined ? undefined : this.#options.tree.files.get(docRef);
    if (docRef !== undefined && file === undefined) throw notFound(docRef);
    return await this.#search.search(query, { ...options, file });
  }

  /** Forgets what is kept of files that are not there any more. */
  prune(): void {
    const keep = (docRef: string) => this.#options.tree.files.has(docRef);
    this.#store.prune(keep);
    this.#index.prune(keep);
  }

  /** Stops reading in the background. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#tell.close();
    this.#unread.clear();
    this.#restless.clear();
    this.#allRead.resolve();
    await Promise.all([...this.#reading.values(), this.#indexer.close()]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #enter(file: FolderFile): void {
    const stored = this.#store.get(file);
    const limits = stored !== undefined && "refused" in stored ? stored.limits : undefined;
    if (stored === undefined || limits !== undefined && limits !== this.#options.pool.limits) {
      const isRestless = this.#reading.has(file.docRef) || this.#restless.has(file.docRef);
      (isRestless ? this.#restless : this.#unread).set(file.docRef, file);
      // Its earlier version is found no more.
      return this.#indexer.remove(file);
    }
    if (limits !== undefined) this.#limited.add(file);
    this.#reports.set(file.docRef, { file, report: stored });
    this.#indexer.enter(file, stored);
  }

  async #report(file: FolderFile, options: PoolRequestOptions, isAgain = false): Promise<FileReport> {
    const known = this.#reports.get(file.docRef);
    if (known !== undefined && known.file === file && !isAgain) return known.report;
    const report = await this.#readReport(file, options);
    // Another version of it may wait by now.
    for (const waiting of [this.#unread, this.#restless]) {
      if (waiting.get(file.docRef) === file) waiting.delete(file.docRef);
    }
    if (this.#options.tree.files.get(file.docRef) !== file) return report;
    this.#reports.set(file.docRef, { file, report });
    // One that is only too large is known to be without a look into it.
    if (file.size <= this.#options.maxFileBytes) this.#store.set(file, report);
    this.#indexer.enter(file, report);
    this.#told.add(file.docRef);
    this.#noteChange();
    return report;
  }

  async #readReport(file: FolderFile, options: PoolRequestOptions): Promise<FileReport> {
    const { pool } = this.#options;
    try {
      return makeReport(await pool.facts(this.#toParse(file), options), file.path);
    } catch (error) {
      if (!(error instanceof DocumentError)) throw toSmcpError(file, error);
      this.#options.logger.warn("a file cannot be read", {
        file: file.path,
        error: error.reason,
      });
      const refusal = { refused: error.code, message: error.reason };
      if (!(error instanceof ParserLimitError)) return refusal;
      return { ...refusal, limits: error.failure === "disk" ? "" : pool.limits };
    }
  }

  async #page(file: FolderFile, index: number, signal: AbortSignal): Promise<DocumentPage> {
    const parse = this.#toParse(file);
    try {
      const read = (signal: AbortSignal) => this.#options.pool.page(parse, index, { signal });
      return await this.#pages.get(`${parse.key}/${index}`, { signal, read });
    } catch (error) {
      throw error instanceof DocumentError
        ? cannotRead(file, { refused: error.code, message: error.reason })
        : toSmcpError(file, error);
    }
  }

  #toParse(file: FolderFile): ParsableFile {
    const { docRef, kind, root, path, size, modifiedMs, inode } = file;
    return {
      key: `${docRef}@${size}.${modifiedMs}.${inode}`,
      kind,
      fileName: nameOf(path),
      bytes: () => readInside({ root, path, maxBytes: this.#options.maxFileBytes }),
      scanTexts: {
        get: () => this.#store.scanTexts(file),
        add: (texts) => this.#store.addScanTexts(file, texts),
      },
    };
  }

  #readNext(): void {
    if (this.#isClosed) return;
    if (this.progress.unread === 0) this.#allRead.resolve();
    for (const file of this.#unread.values()) {
      if (this.#reading.size >= this.#options.concurrency) return;
      this.#unread.delete(file.docRef);
      this.#read(file);
    }
    this.#indexer.resume();
    if (this.#restless.size > 0) void this.#indexer.settled.then(() => this.#readRestless());
  }

  /** When nothing else waits to be read or searched. */
  #readRestless(): void {
    const [file] = this.#restless.values();
    if (file === undefined || this.#reading.size + this.#unread.size > 0) return;
    this.#restless.delete(file.docRef);
    this.#read(file);
  }

  #read(file: FolderFile): void {
    const { docRef } = file;
    const reading = this.#report(file, { isBackground: true }).then(
      () => {},
      (error: unknown) => {
        if (error instanceof PoolClosedError) return;
        this.#options.logger.warn("a file cannot be read", { file: file.path, error: describeError(error) });
      },
    ).finally(() => {
      this.#reading.delete(docRef);
      this.#readNext();
    });
    this.#reading.set(docRef, reading);
  }

  #noteChange(): void {
    this.#list = undefined;
    this.#tell.request();
  }

  #tellNow(): void {
    const documents = [...this.#told].filter((docRef) => this.#options.tree.files.has(docRef));
    const isList = this.#isListDue || documents.length > MAX_TOLD;
    this.#told.clear();
    this.#isListDue = false;
    if (isList) this.#published?.listChanged();
    for (const docRef of documents) this.#published?.changed(docRef);
    this.#onTold?.();
  }
}
