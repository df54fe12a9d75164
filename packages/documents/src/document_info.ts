/** What the catalogue tells of a file. */
import { join, toFileUrl } from "@std/path";
import type { DocumentElement, DocumentInfo, DocumentPage } from "@a2c-smcp/sdk/provider";
import { extensionOf, nameOf } from "./file_name.ts";
import type { FolderFile } from "./folder/tree.ts";
import type { AboutFile } from "./formats/format.ts";
import type { FileReport } from "./index/store.ts";

/** The metadata of a document. */
export function toInfo(
  file: FolderFile,
  report: FileReport | undefined,
): DocumentInfo & { readonly title: string } {
  const { docRef, kind, root, path, modifiedMs } = file;
  const info = {
    docRef,
    title: nameOf(path),
    fileType: extensionOf(path) || kind,
    fileUri: toFileUrl(join(root, path)).href,
    lastModified: new Date(modifiedMs),
  };
  if (report === undefined) return { ...info, pageCount: 0, summary: "Not read yet" };
  if ("refused" in report) return { ...info, pageCount: 1, summary: `Cannot be read: ${report.message}` };
  const { title = info.title, pageCount, keywords, summary, about } = report;
  return { ...info, title, pageCount, keywords, summary, metadata: about && toMetadata(about) };
}

function toMetadata({ author, created, changed, description, language, pageLabels }: AboutFile) {
  return {
    author,
    created_at: created,
    modified_at: changed,
    description,
    language,
    page_labels: pageLabels,
  };
}

/** What the pages do not show is said on the first one. */
export function withLosses(page: DocumentPage, losses: readonly string[]): DocumentPage {
  if (losses.length === 0) return page;
  const notes = losses.map((text, position): DocumentElement => ({
    elementId: `p0-loss-${position + 1}`,
    category: "annotation",
    content: { text },
  }));
  return { ...page, elements: [...page.elements, ...notes] };
}
