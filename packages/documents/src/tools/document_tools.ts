/** The tools of the documents server, for models of clients that know nothing but tools. */
import {
  type CallContext,
  countOf,
  type Json,
  type LocalToolOf,
  type LocalToolParts,
  makeLocalTool,
  MAX_ROOM,
  pagingOf,
  READING_PROPERTIES,
  readingOf,
  roomOf,
  toBareLine,
  toHitLine,
  toSeenLine,
  toSeenPath,
  toSeenWord,
} from "@a2c-smcp/sdk/base";
import type { DocumentInfo } from "@a2c-smcp/sdk/provider";
import type { DocumentCatalogue } from "../catalogue.ts";
import type { FileTree, FolderFile } from "../folder/tree.ts";
import { nameOf } from "../file_name.ts";
import { type SearchHit, type SearchResult, TOOL_PATIENCE_MS } from "../search/search.ts";
import { findNamed, type NamedFiles, pathOf } from "./names.ts";
import { readDocument } from "./read_document.ts";

/** A tool, for any MCP server. */
export type DocumentTool = LocalToolOf<CallContext>;

const placesPaging = pagingOf("pages", { max: 50, usual: 10 });
const listPaging = pagingOf("documents", { max: 500, usual: 100 });
/** The most characters of why a document cannot be read. */
const MAX_PROBLEM = 160;

const NO_DOCUMENTS = "There are no documents.";
const NOT_IN_TIME = "[words not shown in time: ask again, or read the page]";

export interface ToolPlace {
  readonly catalogue: DocumentCatalogue;
  readonly tree: FileTree;
  readonly roots: readonly string[];
}

const DOCUMENT: Json = {
  type: "string",
  description: "The document: its path, as find_documents and list_documents tell it, or its dpe:// URI.",
};

/** `find_documents`, `read_document` and `list_documents`. */
export function makeDocumentTools(place: ToolPlace): DocumentTool[] {
  return [findTool(place), readTool(place), listTool(place)];
}

/** Makes a tool that modifies nothing. */
export function makeTool(parts: Omit<LocalToolParts<CallContext>, "annotations">): DocumentTool {
  return makeLocalTool({ ...parts, annotations: { readOnlyHint: true, openWorldHint: false } });
}

function findTool(place: ToolPlace): DocumentTool {
  return makeTool({
    name: "find_documents",
    title: "Find documents by their text",
    description:
      "Searches the text of all documents (PDF, Word, Excel, slides, mail, notes, code …) and gives the pages that fit best, " +
      "with the words around. Use a few words that the text itself would have. The answer is often there; else read the page, " +
      'or what is around the element, by read_document. Example: {"query": "tray mapping toner"}',
    properties: {
      query: { type: "string", description: "Words to look for. There are no operators." },
      document: { ...DOCUMENT, description: "Searches only in this document: its path." },
      ...placesPaging.properties,
    },
    required: ["query"],
    async run(args, { signal }) {
      const query = args.text("query") ?? args.missing("query");
      const { limit, offset } = placesPaging.read(args);
      const named = args.text("document");
      const given = await namedFiles(place, signal);
      const docRef = named === undefined ? undefined : findNamed(named, given).file.docRef;
      const found = await place.catalogue.search(query, {
        docRef,
        limit,
        offset,
        patienceMs: TOOL_PATIENCE_MS,
        signal,
      });
      return { content: [{ type: "text", text: findLines(found, { given, offset }).join("\n") }] };
    },
  });
}

function findLines(
  { hits, total, notice }: SearchResult,
  { given, offset }: { readonly given: NamedFiles; readonly offset: number },
): string[] {
  const lines: string[] = [];
  let before: string | undefined;
  for (const hit of hits) {
    const file = given.files.get(hit.docRef);
    if (file === undefined) continue;
    if (hit.docRef !== before) lines.push(headOf(file, hit.title, given));
    before = hit.docRef;
    lines.push(lineOf(hit));
  }
  if (given.files.size === 0) return [given.notice ?? NO_DOCUMENTS];
  if (hits.length === 0) {
    lines.push(
      offset > 0 && total > 0
        ? `Only ${countOf(total, "page")} fit: use a lower offset.`
        : notice === undefined
        ? "No page has these words. Try other or fewer words, those that the text would have."
        : "Nothing found so far.",
    );
  }
  const end = offset + hits.length;
  if (hits.length > 0 && end < total) lines.push(`[${total} pages fit: go on with offset ${end}]`);
  if (notice !== undefined) lines.push(`[${notice}]`);
  return lines;
}

function headOf(file: FolderFile, title: string, given: NamedFiles): string {
  const path = toSeenPath(pathOf(file, given));
  return title === nameOf(file.path) ? path : `${path}: ${toSeenWord(title)}`;
}

/** A hit as a line. */
export function lineOf(hit: SearchHit): string {
  const { page, title, pageTitle, elementId: element_id, snippet } = hit;
  const line = toHitLine({ page_index: page, title: pageTitle, element_id, snippet }, title);
  return snippet === "" && pageTitle === undefined ? `${line} ${NOT_IN_TIME}` : line;
}

function readTool(place: ToolPlace): DocumentTool {
  return makeTool({
    name: "read_document",
    title: "Read a document",
    description:
      "Reads a document as Markdown, with its pictures: all of a short one; of one with more than 20 pages the outline, so that " +
      "you can choose pages. `around` gives only what stands around some words, such as a row with the names of its columns. " +
      "A long answer ends with how to go on. " +
      'Examples: {"document": "manuals/printer.pdf", "pages": "20-22"}, {"document": "sales.xlsx", "around": "East 2025"}',
    properties: {
      document: DOCUMENT,
      ...READING_PROPERTIES,
      around: {
        type: "string",
        description:
          "Only what is around these words: in the document, or in its pages or element where they are named.",
      },
    },
    required: ["document"],
    async run(args, { signal }) {
      const given = await namedFiles(place, signal);
      const named = findNamed(args.text("document") ?? args.missing("document"), given);
      return await readDocument(place.catalogue, {
        ...named,
        name: toSeenPath(pathOf(named.file, given)),
        ...readingOf(args, named),
        around: args.text("around"),
        signal,
      });
    },
  });
}

function listTool(place: ToolPlace): DocumentTool {
  return makeTool({
    name: "list_documents",
    title: "List documents",
    description:
      "Lists the documents by their paths, with the title, the number of pages and the day of the last change. To find what a " +
      'text says, use find_documents. Example: {"path": "contracts/"}',
    properties: {
      path: {
        type: "string",
        description: "Only documents whose path has this text, such as 2025/ or .pdf.",
      },
      newest: { type: "boolean", description: "Those that changed last come first; by path otherwise." },
      ...listPaging.properties,
    },
    async run(args, { signal }) {
      const part = args.text("path");
      const { limit, offset } = listPaging.read(args);
      const documents = await listedDocuments(place, part, signal);
      if (args.flag("newest") ?? false) documents.sort((a, b) => b.file.modifiedMs - a.file.modifiedMs);
      const lines = listLines(documents.slice(offset, offset + limit));
      const end = offset + lines.length;
      const { notice } = place.tree;
      if (documents.length === 0) lines.push(notice ?? nothingListed(part));
      else if (lines.length === 0) {
        lines.push(`Only ${countOf(documents.length, "document")}: use a lower offset.`);
      } else if (end < documents.length) {
        lines.push(`[${documents.length} documents: go on with offset ${end}]`);
      }
      if (notice !== undefined && documents.length > 0) lines.push(`[${notice}]`);
      return { content: [{ type: "text", text: lines.join("\n") }] };
    },
  });
}

interface ListedDocument {
  readonly file: FolderFile;
  readonly path: string;
  readonly info: DocumentInfo;
}

/** The documents whose path has a text, in the order of their paths. */
async function listedDocuments(
  place: ToolPlace,
  part: string | undefined,
  signal: AbortSignal,
): Promise<ListedDocument[]> {
  const given = await namedFiles(place, signal);
  const wanted = part?.normalize("NFC").toLowerCase() ?? "";
  const listed = await place.catalogue.list({ signal, sessionId: undefined, authInfo: undefined });
  return listed.flatMap((info) => {
    const file = given.files.get(info.docRef);
    if (file === undefined) return [];
    const path = pathOf(file, given);
    return path.normalize("NFC").toLowerCase().includes(wanted) ? [{ file, info, path }] : [];
  });
}

/** A line for each document, as long as there is room. */
function listLines(documents: readonly ListedDocument[]): string[] {
  const lines: string[] = [];
  let left = MAX_ROOM;
  for (const { file: { modifiedMs }, info: { title, pageCount = 0, summary = "" }, path } of documents) {
    const own = title === undefined || title === nameOf(path) ? [] : [toSeenLine(title)];
    const state = pageCount === 0 ? "not read yet" : countOf(pageCount, "page");
    // Its summary says why, and what to do.
    const problem = /^Cannot be read/.test(summary) ? [toBareLine(summary, MAX_PROBLEM)] : [state];
    const day = modifiedMs === 0 ? [] : [new Date(modifiedMs).toISOString().slice(0, 10)];
    const line = `${toSeenPath(path)} (${[...own, ...problem, ...day].join(", ")})`;
    left -= roomOf(line);
    if (left < 0 && lines.length > 0) break;
    lines.push(line);
  }
  return lines;
}

function nothingListed(part: string | undefined): string {
  return part === undefined
    ? NO_DOCUMENTS
    : `No path has ${toSeenLine(part)}. Leave it out to see all, or search texts with find_documents.`;
}

/** The documents by their names, when all folders have been looked at. */
export async function namedFiles(
  { catalogue, tree, roots }: ToolPlace,
  signal: AbortSignal,
): Promise<NamedFiles> {
  await catalogue.untilListed({ signal });
  return { host: catalogue.host, roots, files: tree.files, notice: tree.notice };
}
