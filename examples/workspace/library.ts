/** A folder of Markdown and CSV files as documents of the Document-Page-Element model. */
import { basename, extname, join, toFileUrl } from "@std/path";
import type { DocumentInfo, DocumentPage, DocumentSource } from "../../src/provider/mod.ts";
import { readCsv } from "./csv.ts";
import { readMarkdown } from "./markdown.ts";
import type { FileContent } from "./page.ts";

const READERS: Readonly<Record<string, (text: string, name: string) => FileContent>> = {
  ".md": readMarkdown,
  ".csv": readCsv,
};

/** A file of the folder. */
export interface LibraryFile {
  readonly docRef: string;
  readonly path: string;
  readonly modifiedAt: Date;
}

/** The documents of a folder. Each read opens the file, so an Agent always gets the content on the disk. */
export class Library implements DocumentSource {
  readonly folder: string;
  readonly host: string;

  constructor(folder: string, host: string) {
    this.folder = folder;
    this.host = host;
  }

  /** The files that are documents, by name. */
  async list(): Promise<LibraryFile[]> {
    const files: LibraryFile[] = [];
    for await (const { name, isFile } of Deno.readDir(this.folder)) {
      if (!isFile || !(extname(name) in READERS)) continue;
      const path = join(this.folder, name);
      const { mtime } = await Deno.stat(path);
      files.push({ docRef: name, path, modifiedAt: mtime ?? new Date(0) });
    }
    return files.sort((a, b) => a.docRef < b.docRef ? -1 : 1);
  }

  /** The metadata of a file; `undefined` when it does not exist. */
  async document(docRef: string): Promise<DocumentInfo | undefined> {
    const file = await this.#read(docRef);
    if (file === undefined) return undefined;
    const { title, keywords, summary, pages, path, modifiedAt } = file;
    return {
      docRef,
      title,
      keywords,
      summary,
      fileUri: toFileUrl(path).href,
      pageCount: pages.length,
      lastModified: modifiedAt,
    };
  }

  /** The pages of a file; `undefined` when it does not exist. */
  async pages(docRef: string): Promise<readonly DocumentPage[] | undefined> {
    return (await this.#read(docRef))?.pages;
  }

  async #read(docRef: string): Promise<FileContent & LibraryFile | undefined> {
    const file = (await this.list()).find((candidate) => candidate.docRef === docRef);
    const extension = extname(docRef);
    const read = READERS[extension];
    if (file === undefined || read === undefined) return undefined;
    return { ...file, ...read(await Deno.readTextFile(file.path), basename(docRef, extension)) };
  }
}
