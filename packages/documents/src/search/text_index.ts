/** The index of words of the pages of all files, in SQLite. */
import type { OutlineSection } from "@a2c-smcp/sdk/provider";
import type { IndexDatabase, Prepare } from "../index/database.ts";
import type { FolderFile } from "../folder/tree.ts";
import { versionOf } from "../index/store.ts";
import type { QueryTerm } from "./found_words.ts";
import { OFTEN, type PageText, TITLE } from "./terms.ts";

/** The most bytes of an index in memory, and of one on disk. */
const MAX_MEMORY_BYTES = 64 * 1024 * 1024;
const MAX_DISK_BYTES = 4 * 1024 * 1024 * 1024;
/** Before the version of a file of which no further pages are taken. */
const GIVEN_UP = "!";
/** How many pages of its file are merged in one step. */
const MERGE_PAGES = 64;
/** The most pages that are weighed for one term. */
const MAX_WEIGHED = 200_000;
/** A term of a query that fewer pages have is also searched as the beginning of words. */
const FEW = 10;
/** How much it counts that a page has a term often, and in a title. */
const WEIGHTS = [[OFTEN, 0.5], [TITLE, 1]] as const;
/** Pages that cover less of a query than this share of the best coverage are left out. */
const MIN_COVERAGE = 0.6;
/** How much a term counts that is only the beginning of a word: it may be another word. */
const PREFIX_WEIGHT = 0.5;

/** A page that fits a query. */
export interface FoundPage {
  readonly docRef: string;
  readonly index: number;
}

export class TextIndex {
  readonly #database: IndexDatabase;
  /** A negative number of pages begins to merge all that there is; a positive one goes on with it. */
  #isTidying = false;

  constructor(database: IndexDatabase) {
    this.#database = database;
  }

  /** Whether no text is taken any more: the index has its size, or fails. */
  get isFull(): boolean {
    const { isBroken, isLasting, sizeBytes } = this.#database;
    return isBroken || sizeBytes >= (isLasting ? MAX_DISK_BYTES : MAX_MEMORY_BYTES);
  }

  /** How many pages of this version of a file are in the index; `undefined` if it has not been begun. */
  pagesOf(file: FolderFile): number | "given up" | undefined {
    return this.#database.read((prepare) => {
      const known = find(prepare, file);
      if (known?.version === GIVEN_UP + versionOf(file)) return "given up";
      return known?.version === versionOf(file) ? known.done : undefined;
    });
  }

  /** Takes no further pages of this version of a file, also in later runs: they exceed a limit. */
  giveUp(file: FolderFile): void {
    this.#database.write((prepare) =>
      prepare("UPDATE texts SET version = ? WHERE doc_ref = ?").run(GIVEN_UP + versionOf(file), file.docRef)
    );
  }

  /** Makes room for the pages of a file, in place of an earlier version. */
  begin(file: FolderFile, pageCount: number): void {
    this.#database.write((prepare) => {
      remove(prepare, file);
      prepare("INSERT INTO texts (first, doc_ref, version, pages, done) VALUES (?, ?, ?, ?, 0)")
        .run(nextRow(prepare), file.docRef, versionOf(file), pageCount);
    });
  }

  /** Adds the next pages of a file that has been begun, each by its terms. */
  add(file: FolderFile, pages: readonly PageText[]): void {
    this.#database.write((prepare) => {
      const known = find(prepare, file);
      if (known === undefined || known.version !== versionOf(file)) return;
      const insert = prepare("INSERT INTO words (rowid, terms) VALUES (?, ?)");
      const added = pages.slice(0, known.pages - known.done);
      const name = prepare("INSERT INTO titles (page, title) VALUES (?, ?)");
      for (const [at, { terms, title = "" }] of added.entries()) {
        const row = known.first + known.done + at;
        insert.run(row, terms.join(" "));
        const named = title.replace(/^Page \S+(?:: |$)/, "");
        if (named !== "") name.run(row, named);
      }
      prepare("UPDATE texts SET done = done + ? WHERE first = ?").run(added.length, known.first);
    });
  }

  /** The titles of pages that say more than a number, where they differ, as the outline of a document that has none. */
  outlineOf(file: FolderFile): OutlineSection[] {
    return this.#database.read((prepare) => {
      const known = find(prepare, file);
      if (!known?.version.endsWith(versionOf(file))) return [];
      const rows = prepare("SELECT page, title FROM titles WHERE page BETWEEN ? AND ? ORDER BY page")
        .all(known.first, known.first + known.pages - 1);
      return rows.filter(({ title }, at) => title !== rows[at - 1]?.["title"])
        .map(({ page, title }) => ({ page: Number(page) - known.first, title: `${title}`, level: 1 }));
    }) ?? [];
  }

  remove(file: Pick<FolderFile, "docRef">): void {
    this.#database.write((prepare) => remove(prepare, file));
  }

  /** Forgets every file that `keep` does not name. */
  prune(keep: (docRef: string) => boolean): void {
    const files = this.#database.read((prepare) => prepare("SELECT doc_ref FROM texts").all()) ?? [];
    for (const { doc_ref: docRef } of files) {
      if (typeof docRef === "string" && !keep(docRef)) this.remove({ docRef });
    }
  }

  /** Takes a short step to make the index small and fast; returns whether another one is of use. */
  tidy(): boolean {
    const mergePages = this.#isTidying ? MERGE_PAGES : -MERGE_PAGES;
    this.#isTidying = true;
    const changes = (prepare: Prepare) => Number(prepare("SELECT total_changes() AS count").get()?.["count"]);
    const isMerged = this.#database.write((prepare) => {
      const before = changes(prepare);
      prepare("INSERT INTO words (words, rank) VALUES ('merge', ?)").run(mergePages);
      // The command itself counts as one change.
      return changes(prepare) - before < 2;
    }) ?? true;
    this.#isTidying = !isMerged || this.#database.shrink();
    return this.#isTidying;
  }

  /** The pages that fit, the best first, and of one file alone if it is given. */
  find(
    terms: readonly QueryTerm[],
    file?: FolderFile,
  ): { readonly total: number; readonly pages: Iterable<FoundPage> } {
    const rows = this.#database.read((prepare) => rank(prepare, terms, file)) ?? [];
    return { total: rows.length, pages: this.#places(rows) };
  }

  *#places(rows: readonly number[]): Generator<FoundPage, void> {
    let place: ReturnType<typeof fileAt>;
    for (const row of rows) {
      if (place === undefined || row < place.first || row >= place.first + place.pages) {
        place = this.#database.read((prepare) => fileAt(prepare, row));
      }
      if (place === undefined) continue;
      yield { docRef: place.docRef, index: row - place.first };
    }
  }
}

/**
 * The rows of the pages that fit, the best first. A page counts by the terms that it has, the rare ones more, and more where
 * it has them often or in a title: BM25 in three steps, since the index keeps no frequencies.
 */
function rank(prepare: Prepare, terms: readonly QueryTerm[], file: FolderFile | undefined): number[] {
  const within = file && find(prepare, file);
  if (file !== undefined && within === undefined) return [];
  const range: Range = within === undefined
    ? { from: 0, to: Number.MAX_SAFE_INTEGER }
    : { from: within.first, to: within.first + within.pages - 1 };
  const pages = within?.pages ?? nextRow(prepare);
  /** Where a row stands in the lists. */
  const places = new Map<number, number>();
  const rows: number[] = [];
  const scores: number[] = [];
  const covered: number[] = [];
  for (const { term, isPrefix } of terms) {
    const exact = rowsOf(prepare, `"${term}"`, range);
    const found = exact.length < FEW && isPrefix ? rowsOf(prepare, `"${term}"*`, range) : exact;
    const rarity = Math.log(1 + Math.max(0, pages - found.length + 0.5) / (found.length + 0.5));
    const whole = new Set(found === exact ? [] : exact);
    for (const row of found) {
      const weight = found === exact || whole.has(row) ? rarity : rarity * PREFIX_WEIGHT;
      let at = places.get(row);
      if (at === undefined) {
        at = rows.push(row) - 1;
        places.set(row, at);
      }
      scores[at] = (scores[at] ?? 0) + weight;
      covered[at] = (covered[at] ?? 0) + weight;
    }
    for (const [mark, weight] of WEIGHTS) {
      for (const row of rowsOf(prepare, `"${mark}${term}"`, range)) {
        const at = places.get(row);
        if (at !== undefined) scores[at] = (scores[at] ?? 0) + rarity * weight;
      }
    }
  }
  const best = covered.reduce((best, each) => Math.max(best, each), 0);
  const weightOf = (at: number) => (scores[at] ?? 0) * (covered[at] ?? 0);
  return [...rows.keys()].filter((at) => (covered[at] ?? 0) >= best * MIN_COVERAGE)
    .sort((one, other) => weightOf(other) - weightOf(one) || (rows[one] ?? 0) - (rows[other] ?? 0))
    .map((at) => rows[at] ?? 0);
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** The pages that have a term, in ascending order. */
function rowsOf(prepare: Prepare, expression: string, { from, to }: Range): number[] {
  const row = prepare(
    "SELECT json_group_array(rowid) AS found FROM (SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ? LIMIT ?)",
  ).get(expression, from, to, MAX_WEIGHED);
  return typeof row?.["found"] === "string" ? JSON.parse(row["found"]) : [];
}

/** The first row that no file has had; about as many pages are in the index. */
function nextRow(prepare: Prepare): number {
  const last = prepare("SELECT first + pages AS next FROM texts ORDER BY first DESC LIMIT 1").get();
  return Number(last?.["next"] ?? 1);
}

interface IndexedFile {
  readonly first: number;
  readonly docRef: string;
  readonly version: string;
  readonly pages: number;
  readonly done: number;
}

const COLUMNS = "first, doc_ref, version, pages, done";

function find(prepare: Prepare, { docRef }: Pick<FolderFile, "docRef">): IndexedFile | undefined {
  return toFile(prepare(`SELECT ${COLUMNS} FROM texts WHERE doc_ref = ?`).get(docRef));
}

function fileAt(prepare: Prepare, row: number): IndexedFile | undefined {
  return toFile(
    prepare(`SELECT ${COLUMNS} FROM texts WHERE first <= ? ORDER BY first DESC LIMIT 1`).get(row),
  );
}

function toFile(row: Record<string, unknown> | undefined): IndexedFile | undefined {
  if (row === undefined) return undefined;
  const { first, doc_ref: docRef, version, pages, done } = row;
  return {
    first: Number(first),
    docRef: String(docRef),
    version: String(version),
    pages: Number(pages),
    done: Number(done),
  };
}

function remove(prepare: Prepare, file: Pick<FolderFile, "docRef">): void {
  const known = find(prepare, file);
  if (known === undefined) return;
  prepare("DELETE FROM words WHERE rowid BETWEEN ? AND ?").run(known.first, known.first + known.done - 1);
  prepare("DELETE FROM titles WHERE page BETWEEN ? AND ?").run(known.first, known.first + known.done - 1);
  prepare("DELETE FROM texts WHERE first = ?").run(known.first);
}
