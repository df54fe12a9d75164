/** What was read from files, kept on disk between runs. */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { join } from "@std/path";
import { type Logger, PACKAGE_VERSION } from "@a2c-smcp/sdk/base";
import { describeError } from "../basics.ts";
import type { DocumentErrorCode } from "../formats/format.ts";
import type { FolderFile } from "../folder/tree.ts";
import type { DocumentReport } from "../report.ts";

/** How long another process that uses the same index may hold it, in milliseconds. */
const BUSY_MS = 2_000;

/** What is known of a file, or why it cannot be read. */
export type FileReport = DocumentReport | { readonly refused: DocumentErrorCode; readonly message: string };

/** The version of a file: a report holds for one of them. */
export type FileVersion = Pick<FolderFile, "root" | "path" | "size" | "modifiedMs" | "inode">;

/**
 * Opens the index in a folder that only its owner can read. A damaged index, or one of another version, is replaced. When
 * the folder cannot be written, there is none, which is logged.
 */
export function openReportStore(folder: string, logger: Logger): ReportStore | undefined {
  const path = join(folder, "documents.sqlite");
  for (const isRetry of [false, true]) {
    try {
      Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
      return new ReportStore(path, logger);
    } catch (error) {
      if (
        isRetry || error instanceof Deno.errors.NotCapable || error instanceof Deno.errors.PermissionDenied
      ) {
        logger.warn("the index cannot be used; files are read anew at each start", {
          path,
          error: describeError(error),
        });
        break;
      }
      logger.warn("the index is damaged, and made anew", { path, error: describeError(error) });
      for (const end of ["", "-wal", "-shm"]) removeIfThere(path + end);
    }
  }
  return undefined;
}

export class ReportStore implements Disposable {
  readonly #database: DatabaseSync;
  readonly #select: StatementSync;
  readonly #upsert: StatementSync;
  readonly #log: Logger;
  #isWriting = false;
  /** Whether nothing is read and written any more. */
  #isBroken = false;

  constructor(path: string, logger: Logger) {
    this.#log = logger;
    this.#database = new DatabaseSync(path);
    try {
      Deno.chmodSync(path, 0o600);
      this.#database.exec(
        `PRAGMA busy_timeout = ${BUSY_MS}; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL`,
      );
      this.#check();
      this.#prepareTables();
      this.#select = this.#database.prepare(
        "SELECT report FROM reports WHERE root = ? AND path = ? AND version = ?",
      );
      this.#upsert = this.#database.prepare(
        "INSERT OR REPLACE INTO reports (root, path, version, report) VALUES (?, ?, ?, ?)",
      );
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  get(file: FileVersion): FileReport | undefined {
    return this.#guarded(() => {
      const row = this.#select.get(file.root, file.path, versionOf(file));
      return typeof row?.["report"] === "string" ? JSON.parse(row["report"]) : undefined;
    });
  }

  /** Reports that come at the same time are written together. */
  set(file: FileVersion, report: FileReport): void {
    this.#guarded(() => {
      if (!this.#isWriting) {
        this.#isWriting = true;
        this.#database.exec("BEGIN");
        setTimeout(() => this.#guarded(() => this.#commit()), 0);
      }
      this.#upsert.run(file.root, file.path, versionOf(file), JSON.stringify(report));
    });
  }

  /** An index that fails costs nothing but the time to read files again. */
  #guarded<T>(use: () => T): T | undefined {
    if (this.#isBroken) return undefined;
    try {
      return use();
    } catch (error) {
      this.#isBroken = true;
      this.#log.warn("the index fails; files are read anew", { error: describeError(error) });
      return undefined;
    }
  }

  /** Forgets every file that `keep` does not name. */
  prune(keep: (root: string, path: string) => boolean): void {
    this.#guarded(() => {
      const remove = this.#database.prepare("DELETE FROM reports WHERE root = ? AND path = ?");
      for (const { root, path } of this.#database.prepare("SELECT root, path FROM reports").all()) {
        if (typeof root === "string" && typeof path === "string" && !keep(root, path)) remove.run(root, path);
      }
    });
  }

  [Symbol.dispose](): void {
    this.#guarded(() => this.#commit());
    this.#isBroken = true;
    this.#database.close();
  }

  #commit(): void {
    if (!this.#isWriting) return;
    this.#isWriting = false;
    this.#database.exec("COMMIT");
  }

  #check(): void {
    const verdict = this.#database.prepare("PRAGMA quick_check(1)").get()?.["quick_check"];
    if (verdict !== "ok") throw new TypeError(`Cannot use index: ${verdict}`);
  }

  #prepareTables(): void {
    this.#database.exec(`
      CREATE TABLE IF NOT EXISTS reports (
        root TEXT NOT NULL, path TEXT NOT NULL, version TEXT NOT NULL, report TEXT NOT NULL, PRIMARY KEY (root, path)
      ) WITHOUT ROWID
    `);
  }
}

/** Another version of this package may read more of a file. */
function versionOf({ size, modifiedMs, inode }: FileVersion): string {
  return `${PACKAGE_VERSION}/${size}.${modifiedMs}.${inode}`;
}

function removeIfThere(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
