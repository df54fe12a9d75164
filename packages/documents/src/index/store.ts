/** What was read from files, kept between runs. */
import { PACKAGE_VERSION } from "@a2c-smcp/sdk/base";
import type { DocumentErrorCode, ScanTexts } from "../formats/format.ts";
import type { FolderFile } from "../folder/tree.ts";
import type { DocumentReport } from "../report.ts";
import type { IndexDatabase } from "./database.ts";

/** What is known of a file, or why it cannot be read. */
export type FileReport = DocumentReport | { readonly refused: DocumentErrorCode; readonly message: string };

/** The version of a file: a report holds for one of them. */
export type FileVersion = Pick<FolderFile, "root" | "path" | "size" | "modifiedMs" | "inode">;

export class ReportStore {
  readonly #database: IndexDatabase;

  constructor(database: IndexDatabase) {
    this.#database = database;
  }

  get(file: FileVersion): FileReport | undefined {
    return this.#database.read((prepare) => {
      const row = prepare("SELECT report FROM reports WHERE root = ? AND path = ? AND version = ?")
        .get(file.root, file.path, versionOf(file));
      return typeof row?.["report"] === "string" ? JSON.parse(row["report"]) : undefined;
    });
  }

  set(file: FileVersion, report: FileReport): void {
    this.#database.write((prepare) =>
      prepare("INSERT OR REPLACE INTO reports (root, path, version, report) VALUES (?, ?, ?, ?)")
        .run(file.root, file.path, versionOf(file), JSON.stringify(report))
    );
  }

  scanTexts(file: FileVersion): ScanTexts | undefined {
    return this.#database.read((prepare) => {
      const rows = prepare("SELECT page, text FROM scans WHERE root = ? AND path = ? AND version = ?")
        .all(file.root, file.path, versionOf(file));
      return Object.fromEntries(rows.map(({ page, text }) => [Number(page), String(text)]));
    });
  }

  addScanTexts(file: FileVersion, texts: ScanTexts): void {
    const { root, path } = file;
    this.#database.write((prepare) => {
      prepare("DELETE FROM scans WHERE root = ? AND path = ? AND version <> ?").run(
        root,
        path,
        versionOf(file),
      );
      const insert = prepare(
        "INSERT OR REPLACE INTO scans (root, path, page, version, text) VALUES (?, ?, ?, ?, ?)",
      );
      for (const [page, text] of Object.entries(texts)) {
        insert.run(root, path, Number(page), versionOf(file), text);
      }
    });
  }

  /** Forgets every file that `keep` does not name. */
  prune(keep: (root: string, path: string) => boolean): void {
    this.#database.write((prepare) => {
      const removals = ["reports", "scans"].map((table) =>
        prepare(`DELETE FROM ${table} WHERE root = ? AND path = ?`)
      );
      for (const { root, path } of prepare("SELECT root, path FROM reports").all()) {
        if (typeof root !== "string" || typeof path !== "string" || keep(root, path)) continue;
        for (const removal of removals) removal.run(root, path);
      }
    });
  }
}

/** Another version of this package may read more of a file. */
export function versionOf({ size, modifiedMs, inode }: FileVersion): string {
  return `${PACKAGE_VERSION}/${size}.${modifiedMs}.${inode}`;
}
