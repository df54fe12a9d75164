/** Searches the text of all documents. */
import { abortable, settledWithin, toSeenWord } from "@a2c-smcp/sdk/base";
import type { DocumentHit, DocumentHits, DocumentPage } from "@a2c-smcp/sdk/provider";
import { describeError } from "../basics.ts";
import type { FileTree, FolderFile } from "../folder/tree.ts";
import type { IndexDatabase } from "../index/database.ts";
import { excerptOf } from "./excerpt.ts";
import { type QueryTerm, toTerms } from "./found_words.ts";
import type { TextIndexer } from "./indexer.ts";
import type { FoundPage, TextIndex } from "./text_index.ts";

/** How long a search that finds little waits for files that are not indexed, in milliseconds: a Computer waits 5 s. */
const PATIENCE_MS = 2_000;
/** The same for a tool, whose client waits longer. */
export const TOOL_PATIENCE_MS = 10_000;
/** How many pages of one document come first; its others follow those of all documents. */
const FIRST_OF_DOCUMENT = 3;
/** The most hits of one answer, and of all answers to a query. */
const MAX_HITS = 100;
const MAX_CHOSEN = 300;
/** How long pages are read for the words around a hit, in milliseconds; later ones go without. */
const EXCERPTS_MS = 2_000;

const NO_WORDS = "The query has no word that can be searched for.";

/** Which pages to find. */
export interface SearchOptions {
  /** The only document that is searched. */
  readonly docRef?: string | undefined;
  /** The most hits, 10 by default. */
  readonly limit?: number | undefined;
  /** How many hits are skipped. */
  readonly offset?: number | undefined;
  /** How long a search that finds fewer pages than `limit` waits for files that are not indexed; 2,000 ms by default. */
  readonly patienceMs?: number | undefined;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

/** A page that fits a query; of a table, its words are the names of the columns and the row. */
export interface SearchHit extends DocumentHit {
  /** The title of the document. */
  readonly title: string;
}

/** What a search has found: of one document three pages first, and its others behind those of all documents. */
export interface SearchResult extends DocumentHits {
  /** The pages, best first. */
  readonly hits: readonly SearchHit[];
  /** The files that the search does not cover yet, because they are not indexed. */
  readonly notIndexed: number;
}

export interface TextSearchOptions {
  readonly index: TextIndex;
  readonly indexer: TextIndexer;
  readonly tree: FileTree;
  readonly database: IndexDatabase;
  readonly titleOf: (file: FolderFile) => string;
  readonly readPage: (file: FolderFile, index: number, signal: AbortSignal) => Promise<DocumentPage>;
  /** Resolves when all files have been read once. */
  readonly allRead: Promise<void>;
  /** How many files are not read yet. */
  readonly unread: () => number;
  readonly isUnread: (file: FolderFile) => boolean;
  /** Reads a file before others, unless it is read; rejects when that is impossible. */
  readonly readNow: (file: FolderFile, signal: AbortSignal) => Promise<unknown>;
}

export class TextSearch {
  readonly #options: TextSearchOptions;
  readonly #index: TextIndex;
  readonly #indexer: TextIndexer;

  constructor(options: TextSearchOptions) {
    this.#options = options;
    this.#index = options.index;
    this.#indexer = options.indexer;
  }

  /** Searches all documents, or one file. */
  async search(
    query: string,
    { file, limit = 10, offset = 0, patienceMs = PATIENCE_MS, signal }: Omit<SearchOptions, "docRef"> & {
      readonly file?: FolderFile | undefined;
    },
  ): Promise<SearchResult> {
    const terms = toTerms(query);
    if (terms.length === 0) return { hits: [], total: 0, notIndexed: 0, notice: NO_WORDS };
    let { total, pages } = this.#index.find(terms, file);
    if (total < limit && (file === undefined ? this.#late > 0 : this.#isLate(file))) {
      const indexed = file === undefined
        ? this.#options.allRead.then(() => this.#indexer.settled)
        : this.#options.readNow(file, signal).then(() => this.#indexer.advance(file));
      // Nobody waits for a failure that comes too late.
      indexed.catch(() => {});
      await abortable(settledWithin(indexed, patienceMs), signal);
      ({ total, pages } = this.#index.find(terms, file));
    }
    // Nothing has been indexed since: what is indexed while pages are read was not searched.
    const state = this.#state(file);
    const wanted = this.#choose(pages, { isAll: file !== undefined, limit, offset });
    const late = AbortSignal.any([signal, AbortSignal.timeout(EXCERPTS_MS)]);
    const hits = await Promise.all(wanted.map((place) => this.#toHit(place, terms, late)));
    signal.throwIfAborted();
    return { hits, total, ...state };
  }

  /** So that one long document does not hide the others, only its best pages come first. */
  #choose(
    pages: Iterable<FoundPage>,
    { isAll, limit, offset }: { readonly isAll: boolean; readonly limit: number; readonly offset: number },
  ): Place[] {
    const first: Place[] = [];
    const further: Place[] = [];
    const counts = new Map<string, number>();
    for (const { docRef, index } of pages) {
      if (first.length + further.length >= MAX_CHOSEN) break;
      const file = this.#options.tree.files.get(docRef);
      if (file === undefined) continue;
      const count = counts.get(docRef) ?? 0;
      counts.set(docRef, count + 1);
      (isAll || count < FIRST_OF_DOCUMENT ? first : further).push({ file, index });
    }
    return [...first, ...further].slice(offset, offset + Math.min(limit, MAX_HITS));
  }

  async #toHit({ file, index }: Place, terms: readonly QueryTerm[], signal: AbortSignal): Promise<SearchHit> {
    const hit = { docRef: file.docRef, title: this.#options.titleOf(file), page: index };
    try {
      const page = await this.#options.readPage(file, index, signal);
      return { ...hit, pageTitle: page.title, ...excerptOf(page, terms) };
    } catch (error) {
      // The file has changed, cannot be read, or takes too long: its place is told all the same.
      const snippet = signal.aborted ? "" : describeError(error).replaceAll('"', "'");
      return { ...hit, pageTitle: undefined, elementId: undefined, snippet };
    }
  }

  /** How many files will be indexed. */
  get #late(): number {
    return this.#indexer.progress.waiting + this.#options.unread();
  }

  #isLate(file: FolderFile): boolean {
    return this.#options.isUnread(file) || this.#indexer.isWaiting(file);
  }

  #state(file: FolderFile | undefined): Pick<SearchResult, "notIndexed" | "notice"> {
    const { leftOut } = this.#indexer.progress;
    const files = this.#options.tree.files.size;
    if (this.#options.database.isBroken) {
      return {
        notIndexed: files,
        notice: "The index of words fails: nothing can be found until the next start.",
      };
    }
    if (file !== undefined) return this.#stateOf(file);
    const late = this.#late;
    const { notice } = this.#options.tree;
    const parts = [
      ...notice === undefined ? [] : [notice],
      ...late === 0 ? [] : [`${late} of ${files} documents are not searched yet: ask again in a while.`],
      ...leftOut === 0 ? [] : [
        `${leftOut} of ${files} documents are not searched, or not whole, because they cannot be read or the index is full.`,
      ],
    ];
    return { notIndexed: late + leftOut, notice: parts.length === 0 ? undefined : parts.join(" ") };
  }

  /** Others do not matter to a search in one document. */
  #stateOf(file: FolderFile): Pick<SearchResult, "notIndexed" | "notice"> {
    const name = toSeenWord(file.path);
    if (this.#isLate(file)) {
      const part = this.#index.pagesOf(file) ?? 0 ? "is searched only in part yet" : "is not searched yet";
      return { notIndexed: 1, notice: `${name} ${part}: ask again in a while.` };
    }
    if (!this.#indexer.isLeftOut(file)) return { notIndexed: 0, notice: undefined };
    const reason = "because it cannot be read or the index is full";
    return { notIndexed: 1, notice: `${name} is not searched, or not whole, ${reason}.` };
  }
}

interface Place {
  readonly file: FolderFile;
  readonly index: number;
}
