/** What was read from files, kept between runs. */
import { PACKAGE_VERSION } from "@a2c-smcp/sdk/base";
import type { DocumentErrorCode, ScanTexts } from "../formats/format.ts";
import type { FolderFile } from "../folder/tree.ts";
import type { DocumentReport } from "../report.ts";
import type { IndexDatabase } from "./database.ts";

/** What is known of a file, or why it cannot be read. */
export type FileReport = DocumentReport | {
  readonly refused: DocumentErrorCode;
  readonly message: string;
  /** The limits of the parser, one of which it exceeded. */
  readonly limits?: string;
};

/** The version of a file: a report holds for one of them. */
export type FileVersion = Pick<FolderFile, "docRef" | "size" | "modifiedMs" | "inode">;

export class ReportStore {
  readonly #database: IndexDatabase;

  constructor(database: IndexDatabase) {
    this.#database = database;
  }

  get(file: FileVersion): FileReport | undefined {
    return this.#database.read((prepare) => {
      const row = prepare("SELECT report FROM files WHERE doc_ref = ? AND version = ?")
        .get(file.docRef, versionOf(file));
      return typeof row?.["report"] === "string" ? JSON.parse(row["report"]) : undefined;
    });
  }

  set(file: FileVersion, report: FileReport): void {
    this.#database.write((prepare) =>
      prepare("INSERT OR REPLACE INTO files (doc_ref, version, report) VALUES (?, ?, ?)")
        .run(file.docRef, versionOf(file), JSON.stringify(report))
    );
  }

  scanTexts(file: FileVersion): ScanTexts | undefined {
    return this.#database.read((prepare) => {
      const rows = prepare("SELECT page, text FROM pictures WHERE doc_ref = ? AND version = ?")
        .all(file.docRef, versionOf(file));
      return Object.fromEntries(rows.map(({ page, text }) => [Number(page), String(text)]));
    });
  }

  addScanTexts(file: FileVersion, texts: ScanTexts): void {
    const version = versionOf(file);
    this.#database.write((prepare) => {
      prepare("DELETE FROM pictures WHERE doc_ref = ? AND version <> ?").run(file.docRef, version);
      const insert = prepare(
        "INSERT OR REPLACE INTO pictures (doc_ref, page, version, text) VALUES (?, ?, ?, ?)",
      );
      for (const [page, text] of Object.entries(texts)) insert.run(file.docRef, Number(page), version, text);
    });
  }

  /** Forgets every file that `keep` does not name. */
  prune(keep: (docRef: string) => boolean): void {
    this.#database.write((prepare) => {
      const removals = ["files", "pictures"].map((table) =>
        prepare(`DELETE FROM ${table} WHERE doc_ref = ?`)
      );
      for (const { doc_ref: docRef } of prepare("SELECT doc_ref FROM files").all()) {
        if (typeof docRef !== "string" || keep(docRef)) continue;
        for (const removal of removals) removal.run(docRef);
      }
    });
  }
}

/** Another version of this package may read more of a file. */
export function versionOf({ size, modifiedMs, inode }: FileVersion): string {
  return `${PACKAGE_VERSION}/${size}.${modifiedMs}.${inode}`;
}
