/** Fills the index of words in the background. */
import type { Logger } from "@a2c-smcp/sdk/base";
import { describeError } from "../basics.ts";
import type { FolderFile } from "../folder/tree.ts";
import { nameOf } from "../file_name.ts";
import { DocumentError } from "../formats/format.ts";
import type { FileReport } from "../index/store.ts";
import { type ParsableFile, ParserLimitError, type ParserPool, PoolClosedError } from "../parsing/pool.ts";
import { titleTerms } from "./terms.ts";
import type { TextIndex } from "./text_index.ts";

/** A file whose next pages take longer, in milliseconds, lets all others go first. */
const SLOW_STEP_MS = 1_000;

export interface TextIndexerOptions {
  readonly index: TextIndex;
  readonly pool: ParserPool;
  readonly logger: Logger;
  /** How a file is read. */
  readonly toParse: (file: FolderFile) => ParsableFile;
  /** Whether files whose facts are not known yet wait to be read; they come first. */
  readonly mustWait: () => boolean;
}

interface Wanted {
  readonly file: FolderFile;
  readonly report: FileReport;
}

/** Reads the text of files one after the other, those that were changed last first. */
export class TextIndexer implements AsyncDisposable {
  readonly #options: TextIndexerOptions;
  /** By `docRef`, those that were changed last first. */
  readonly #wanted = new Map<string, Wanted>();
  /** Those of them that were changed while this runs; they come first. */
  readonly #urgent = new Set<string>();
  /** Those of them that a search waits for; they come before all others. */
  readonly #asked = new Map<string, PromiseWithResolvers<void>>();
  readonly #openedMs = Date.now();
  /** Files whose text is not in the index, or not all of it, and will not be. */
  readonly #leftOut = new Set<string>();
  #running: Promise<void> | undefined;
  #idle = Promise.withResolvers<void>();
  #isClosed = false;

  constructor(options: TextIndexerOptions) {
    this.#options = options;
  }

  /** How many files are not in the index yet, and how many will not be, or only in part. */
  get progress(): { readonly waiting: number; readonly leftOut: number } {
    return { waiting: this.#wanted.size, leftOut: this.#leftOut.size };
  }

  /** Resolves when nothing waits. */
  get settled(): Promise<void> {
    return this.#wanted.size === 0 ? Promise.resolve() : this.#idle.promise;
  }

  isWaiting({ docRef }: FolderFile): boolean {
    return this.#wanted.has(docRef);
  }

  isLeftOut({ docRef }: FolderFile): boolean {
    return this.#leftOut.has(docRef);
  }

  /** Indexes a file before all others. Resolves when it waits no more. */
  async advance({ docRef }: FolderFile): Promise<void> {
    if (!this.#wanted.has(docRef)) return;
    const asked = this.#asked.get(docRef) ?? Promise.withResolvers<void>();
    this.#asked.set(docRef, asked);
    this.resume();
    await asked.promise;
  }

  /** Takes a file whose report is known now. */
  enter(file: FolderFile, report: FileReport): void {
    this.#leftOut.delete(file.docRef);
    const done = this.#options.index.pagesOf(file);
    if (done === "given up") this.#leftOut.add(file.docRef);
    if (done === "given up" || done === pageCountOf(report)) return this.#drop(file);
    this.#wanted.set(file.docRef, { file, report });
    if (file.modifiedMs >= this.#openedMs) this.#urgent.add(file.docRef);
    this.resume();
  }

  remove(file: FolderFile): void {
    this.#drop(file);
    this.#leftOut.delete(file.docRef);
    this.#options.index.remove(file);
  }

  /** Goes on, if nothing else must be read before. */
  resume(): void {
    if (this.#isClosed || this.#running !== undefined || this.#wanted.size === 0) return;
    if (this.#mustWait) return;
    this.#running = this.#run().finally(() => {
      this.#running = undefined;
      if (this.#wanted.size > 0) return this.resume();
      this.#idle.resolve();
      this.#idle = Promise.withResolvers();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#wanted.clear();
    this.#urgent.clear();
    for (const { resolve } of this.#asked.values()) resolve();
    this.#asked.clear();
    await this.#running;
    this.#idle.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #run(): Promise<void> {
    while (!this.#isClosed && !this.#mustWait) {
      const next = this.#next();
      if (next === undefined) return await this.#tidy();
      const startMs = performance.now();
      const outcome = await this.#indexSome(next).catch((error: unknown) => this.#note(next.file, error));
      const { docRef } = next.file;
      // Another version of it may wait by now.
      if (this.#wanted.get(docRef) !== next) continue;
      if (outcome === "more") {
        if (performance.now() - startMs > SLOW_STEP_MS) this.#postpone(next);
        continue;
      }
      if (outcome === "failed") this.#leftOut.add(docRef);
      this.#drop(next.file);
    }
  }

  get #mustWait(): boolean {
    return this.#asked.size === 0 && this.#options.mustWait();
  }

  #postpone(wanted: Wanted): void {
    const { docRef } = wanted.file;
    this.#wanted.delete(docRef);
    this.#urgent.delete(docRef);
    this.#wanted.set(docRef, wanted);
  }

  /** The file waits no more. */
  #drop({ docRef }: FolderFile): void {
    this.#wanted.delete(docRef);
    this.#urgent.delete(docRef);
    this.#asked.get(docRef)?.resolve();
    this.#asked.delete(docRef);
  }

  /** Others are answered between the steps. */
  async #tidy(): Promise<void> {
    while (!this.#isClosed && this.#wanted.size === 0 && this.#options.index.tidy()) {
      await new Promise((resolve) => setTimeout(resolve));
    }
  }

  #next(): Wanted | undefined {
    const [first] = [...this.#asked.keys(), ...this.#urgent];
    return first === undefined ? this.#wanted.values().next().value : this.#wanted.get(first);
  }

  /** Indexes the next pages of a file: another one may be more urgent by then. */
  async #indexSome(wanted: Wanted): Promise<"done" | "more" | "failed"> {
    const { index, pool } = this.#options;
    const { file, report } = wanted;
    if (index.isFull) return "failed";
    const pageCount = pageCountOf(report);
    let done = index.pagesOf(file);
    if (typeof done !== "number") {
      index.begin(file, pageCount);
      done = 0;
    }
    const ofDocument = titleTerms(titlesOf(file, report));
    if ("refused" in report) {
      index.add(file, [{ terms: ofDocument }]);
      return "done";
    }
    const isBackground = !this.#asked.has(file.docRef);
    const pages = await pool.terms(this.#options.toParse(file), done, { isBackground });
    if (this.#isClosed || this.#wanted.get(file.docRef) !== wanted) return "more";
    index.add(
      file,
      pages.map(({ terms, title }) => ({ terms: [...new Set([...ofDocument, ...terms])], title })),
    );
    if (done + pages.length >= pageCount) return "done";
    return pages.length === 0 ? "failed" : "more";
  }

  #note(file: FolderFile, error: unknown): "failed" {
    if (error instanceof PoolClosedError) return "failed";
    if (error instanceof ParserLimitError) this.#options.index.giveUp(file);
    const reason = error instanceof DocumentError ? error.reason : describeError(error);
    this.#options.logger.warn("a file cannot be searched, or not all of it", {
      file: file.path,
      error: reason,
    });
    return "failed";
  }
}

function pageCountOf(report: FileReport): number {
  return "refused" in report ? 1 : report.pageCount;
}

/** What a document is called: also by its path and by its author. */
function titlesOf({ path }: FolderFile, report: FileReport): readonly string[] {
  return "refused" in report ? [path] : [path, report.title ?? nameOf(path), report.about?.author ?? ""];
}
