/** The file in which is kept what was read, or the memory of this process. */
import { lstatSync, rmSync } from "node:fs";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { join } from "@std/path";
import type { Logger } from "@a2c-smcp/sdk/base";
import { describeError } from "../basics.ts";

/** How long a process that ends may hold its index, in milliseconds. */
const BUSY_MS = 300;
/** How many processes may have an index in one folder at the same time. */
const MAX_INDEXES = 4;
/** How long changes are collected before they are written together, in milliseconds. */
const COMMIT_MS = 200;
/** How many pages of the file are given back at once. */
const SHRINK_PAGES = 500;

/**
 * Opens the index in a folder that only its owner can read. A damaged index, or one of another version, is replaced. Each
 * process has a file of its own, since others may have other folders or rules. When the folder cannot be written, which is
 * logged, or none is given, the index is in memory.
 */
export function openIndex(
  folder: string | undefined,
  { logger, ocr }: { readonly logger: Logger; readonly ocr?: string | undefined },
): IndexDatabase {
  if (folder === undefined) return new IndexDatabase(undefined, logger);
  // With OCR, the same files have other texts.
  const name = ocr === undefined ? "documents" : `documents-${ocr}`;
  let path = folder;
  try {
    Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (let number = 1; number <= MAX_INDEXES; number++) {
      path = join(folder, number === 1 ? `${name}.sqlite` : `${name}-${number}.sqlite`);
      const index = openUnused(path, logger);
      if (index !== undefined) return index;
    }
    throw new TypeError("Cannot use index: other processes use it");
  } catch (error) {
    logger.warn("the index cannot be used; files are read anew at each start", {
      path,
      error: describeError(error),
    });
  }
  return new IndexDatabase(undefined, logger);
}

/** The index at a path; `undefined` when another process uses it. */
function openUnused(path: string, logger: Logger): IndexDatabase | undefined {
  try {
    return openFile(path, logger);
  } catch (error) {
    if (isLocked(error)) return undefined;
    if (error instanceof Deno.errors.NotCapable || error instanceof Deno.errors.PermissionDenied) throw error;
    logger.warn("the index is damaged, and made anew", { path, error: describeError(error) });
    for (const end of ["", "-wal", "-shm"]) rmSync(path + end, { force: true });
    return openFile(path, logger);
  }
}

/** What a link or a pipe in place of the file leads to is neither read nor written. */
function openFile(path: string, logger: Logger): IndexDatabase {
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() === false) {
    throw new TypeError("Cannot use index: it is no regular file");
  }
  return new IndexDatabase(path, logger);
}

function isLocked(error: unknown): boolean {
  return /database is locked/.test(describeError(error));
}

/** Gives the statement of a text of SQL. */
export type Prepare = (sql: string) => StatementSync;

/** A database whose failure costs nothing but the time to read files again. */
export class IndexDatabase implements Disposable {
  /** Whether it is kept on disk. */
  readonly isLasting: boolean;
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #log: Logger;
  #commitTimer: ReturnType<typeof setTimeout> | undefined;
  /** Whether nothing is read and written any more. */
  #isBroken = false;

  /** @param path in memory when `undefined` */
  constructor(path: string | undefined, logger: Logger) {
    this.#log = logger;
    this.isLasting = path !== undefined;
    this.#database = new DatabaseSync(path ?? ":memory:");
    try {
      if (path !== undefined) {
        Deno.chmodSync(path, 0o600);
        this.#database.exec(
          `PRAGMA busy_timeout = ${BUSY_MS}; PRAGMA locking_mode = EXCLUSIVE; PRAGMA auto_vacuum = INCREMENTAL;
          PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; BEGIN IMMEDIATE; COMMIT`,
        );
        this.#check();
      }
      this.#prepareTables();
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  get isBroken(): boolean {
    return this.#isBroken;
  }

  get sizeBytes(): number {
    return this.read((prepare) => {
      const page = (name: string) => Number(Object.values(prepare(`PRAGMA ${name}`).get() ?? {})[0]);
      return page("page_count") * page("page_size");
    }) ?? 0;
  }

  /** What `use` gives; `undefined` when the database fails. */
  read<T>(use: (prepare: Prepare) => T): T | undefined {
    if (this.#isBroken) return undefined;
    try {
      return use(this.#prepare);
    } catch (error) {
      this.#isBroken = true;
      this.#log.warn("the index fails; files are read anew", { error: describeError(error) });
      return undefined;
    }
  }

  /** Changes that come at the same time are written together. */
  write<T>(use: (prepare: Prepare) => T): T | undefined {
    return this.read((prepare) => {
      if (this.#commitTimer === undefined) {
        this.#database.exec("BEGIN IMMEDIATE");
        this.#commitTimer = setTimeout(() => this.read(() => this.#commit()), COMMIT_MS);
      }
      return use(prepare);
    });
  }

  /** Gives back a part of the room that is not used any more; returns whether there may be more. */
  shrink(): boolean {
    return this.read((prepare) => {
      this.#commit();
      const free = () => Number(prepare("PRAGMA freelist_count").get()?.["freelist_count"]);
      const before = free();
      this.#database.exec(`PRAGMA incremental_vacuum(${SHRINK_PAGES})`);
      return free() < before;
    }) ?? false;
  }

  [Symbol.dispose](): void {
    this.read(() => this.#commit());
    this.#isBroken = true;
    this.#database.close();
  }

  readonly #prepare: Prepare = (sql) => {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  };

  #commit(): void {
    if (this.#commitTimer === undefined) return;
    clearTimeout(this.#commitTimer);
    this.#commitTimer = undefined;
    this.#database.exec("COMMIT");
  }

  #check(): void {
    const verdict = this.#database.prepare("PRAGMA quick_check(1)").get()?.["quick_check"];
    if (verdict !== "ok") throw new TypeError(`Cannot use index: ${verdict}`);
  }

  #prepareTables(): void {
    this.#database.exec(`
      CREATE TABLE IF NOT EXISTS files (doc_ref TEXT PRIMARY KEY, version TEXT NOT NULL, report TEXT NOT NULL);
      CREATE TABLE IF NOT EXISTS pictures (
        doc_ref TEXT NOT NULL, page INTEGER NOT NULL, version TEXT NOT NULL, text TEXT NOT NULL,
        PRIMARY KEY (doc_ref, page)
      ) WITHOUT ROWID;
      -- A file has the rows from "first" on, one for each of its pages; "done" of them are in the index.
      CREATE TABLE IF NOT EXISTS texts (
        first INTEGER PRIMARY KEY, doc_ref TEXT NOT NULL UNIQUE, version TEXT NOT NULL, pages INTEGER NOT NULL,
        done INTEGER NOT NULL
      );
      CREATE TABLE IF NOT EXISTS titles (page INTEGER PRIMARY KEY, title TEXT NOT NULL);
      CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(
        terms, content = '', contentless_delete = 1, detail = none, tokenize = "ascii tokenchars '+_'"
      );
    `);
  }
}
