/** A folder of Markdown and CSV files as documents of the Document-Page-Element model. */
import { basename, extname, join, toFileUrl } from "@std/path";
import {
  buildDpeUri,
  type DPEDocument,
  type DPEElementDetail,
  type DPEPage,
  type DPEPageSummary,
} from "../../mod.ts";
import { readCsv } from "./csv.ts";
import { readMarkdown } from "./markdown.ts";
import type { Block, FileContent, Page } from "./page.ts";

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

/** A folder's documents. What is asked for is read from its file: what an Agent sees is what is on the disk. */
export class Library {
  readonly folder: string;
  readonly host: string;

  constructor(folder: string, host: string) {
    this.folder = folder;
    this.host = host;
  }

  /** The files that are documents, by name. */
  async files(): Promise<LibraryFile[]> {
    const files: LibraryFile[] = [];
    for await (const { name, isFile } of Deno.readDir(this.folder)) {
      if (!isFile || !(extname(name) in READERS)) continue;
      const path = join(this.folder, name);
      const { mtime } = await Deno.stat(path);
      files.push({ docRef: name, path, modifiedAt: mtime ?? new Date(0) });
    }
    return files.sort((a, b) => a.docRef < b.docRef ? -1 : 1);
  }

  /** The `dpe://` URI of a document, or of a place in it. */
  uri(docRef?: string, subPath?: string): string {
    return buildDpeUri({ host: this.host, docRef, subPath });
  }

  /** Level 1 without the page index; `undefined` when there is no such file. */
  async document(
    docRef: string,
  ): Promise<{ readonly document: DPEDocument; readonly pages: readonly Page[] } | undefined> {
    const file = (await this.files()).find((candidate) => candidate.docRef === docRef);
    if (file === undefined) return undefined;
    const extension = extname(file.path);
    const read = READERS[extension];
    if (read === undefined) return undefined;
    const { title, keywords, summary, pages } = read(
      await Deno.readTextFile(file.path),
      basename(docRef, extension),
    );
    const document = {
      doc_ref: docRef,
      uri: this.uri(docRef),
      file_uri: toFileUrl(file.path).href,
      file_type: extension.slice(1),
      title,
      page_count: pages.length,
      keywords: [...keywords],
      summary,
      last_modified: file.modifiedAt.toISOString(),
    };
    return { document, pages };
  }

  /** A line of a document's page index. */
  pageSummary(docRef: string, page: Page, index: number): DPEPageSummary {
    return {
      page_index: index,
      title: page.title,
      element_count: page.blocks.length,
      uri: this.uri(docRef, `pages/${index}`),
      doc_ref: docRef,
    };
  }

  /** Level 2; `categories` keeps elements of these only. */
  page(
    docRef: string,
    page: Page,
    options: { readonly index: number; readonly categories?: readonly string[] | undefined },
  ): DPEPage {
    const { index, categories } = options;
    const all = page.blocks.map((block, position) => this.element(docRef, block, { index, position }));
    const elements = all.filter(({ category }) => categories?.includes(category) ?? true);
    return {
      page_index: index,
      title: page.title,
      doc_ref: docRef,
      uri: this.uri(docRef, `pages/${index}`),
      elements,
      element_count: elements.length,
    };
  }

  /** Level 3. Its id says where it stands: `p0-e2` is the third element of the first page. */
  element(
    docRef: string,
    block: Block,
    place: { readonly index: number; readonly position: number },
  ): DPEElementDetail {
    const element_id = `p${place.index}-e${place.position}`;
    return {
      element_id,
      category: block.category,
      doc_ref: docRef,
      page_index: place.index,
      uri: this.uri(docRef, `elements/${element_id}`),
      summary: block.summary,
      content: block.content,
    };
  }
}
