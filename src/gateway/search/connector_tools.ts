/** `search` and `fetch` as the connectors and the deep research of ChatGPT expect them: each answers one JSON text. */
import {
  askEach,
  chosenComputers,
  makeBuiltin,
  problemLines,
  type Reach,
  readClientUri,
} from "../../agent/toolkit/builtins/builtin.ts";
import { ArgumentError } from "../../agent/toolkit/builtins/arguments.ts";
import { findPlace, type Place, textOf, titleOf } from "../../agent/toolkit/builtins/read_document.ts";
import type { Json, LocalTool, McpToolResult } from "../../agent/toolkit/mcp.ts";
import type { RemoteComputer } from "../../agent/remote_computer.ts";
import type { DPEDocumentSummary } from "../../protocol/dpe.ts";
import { MAX_FINDER_LIMIT, MAX_FINDER_TEXT_LENGTH } from "../../protocol/finder.ts";
import { escapeUnreadable, printableLine, toBareLine, toSeenLine } from "../../text/safe_text.ts";
import { isValidDpeUri, parseDpeUri } from "../../uri/dpe_uri.ts";
import { hasWindowScheme } from "../../uri/window_uri.ts";
import { type Found, queryTerms, rankByWords } from "./word_index.ts";

export const CONNECTOR_TOOL_NAMES = ["search", "fetch"] as const;

/** The most results of a search. */
const MAX_RESULTS = 20;
/** The most documents of one Computer that a search weighs. */
const MAX_CANDIDATES = 500;
/** The most characters of one answer of `fetch`. */
const MAX_CHARACTERS = 100_000;

export function makeConnectorTools(reach: Reach): LocalTool[] {
  return [searchTool(reach), fetchTool(reach)];
}

function searchTool(reach: Reach): LocalTool {
  return makeBuiltin({
    name: "search",
    title: "Search documents and windows",
    description:
      "Searches the documents (by title, keywords and summary) and the open windows (by title and text) of all Computers. " +
      "Words that a title would have find the most. Read a result with fetch.",
    properties: { query: { type: "string", description: "What to look for, in a few words." } },
    required: ["query"],
    outputSchema: {
      type: "object",
      properties: { results: { type: "array", items: { type: "object" } } },
      required: ["results"],
    },
    async run(args, { signal, clientName: client }) {
      const query = args.text("query") ?? args.missing("query");
      const keywords = queryTerms(query).map((term) => term.slice(0, MAX_FINDER_TEXT_LENGTH));
      const answers = await askEach(
        chosenComputers({ ...reach, client }, undefined),
        (computer) => findOn(computer, { keywords, signal }),
      );
      const found = answers.flatMap((answer) => "value" in answer ? answer.value : []);
      const results = (await rankByWords(query, found)).slice(0, MAX_RESULTS)
        .map(({ id, title }) => ({ id, title, url: id }));
      const problems = problemLines(answers);
      const isFailed = problems.length === answers.length;
      return jsonResult({ results, ...(problems.length === 0 ? {} : { problems }) }, isFailed);
    },
  });
}

function fetchTool(reach: Reach): LocalTool {
  return makeBuiltin({
    name: "fetch",
    title: "Read a document or a window",
    description:
      "Reads a result of search: a document as Markdown, or the text of a window. Of a long document it reads as much as " +
      "fits, and metadata.next is the id with which to go on.",
    properties: { id: { type: "string", description: "The id of a result of search." } },
    required: ["id"],
    outputSchema: {
      type: "object",
      properties: {
        id: { type: "string" },
        title: { type: "string" },
        text: { type: "string" },
        url: { type: "string" },
        metadata: { type: "object" },
      },
      required: ["id", "title", "text", "url"],
    },
    async run(args, { signal, clientName: client }) {
      const id = args.text("id") ?? args.missing("id");
      const { uri, computer } = readClientUri(id);
      const place = { reach: { ...reach, client }, uri, computer, signal };
      if (hasWindowScheme(uri)) return jsonResult(await readWindow(place));
      if (isValidDpeUri(uri) && parseDpeUri(uri).docRef !== undefined) {
        return jsonResult(await readDocument(await findPlace(place.reach, place)));
      }
      throw new ArgumentError(`Cannot fetch ${toSeenLine(id)}: not the id of a result of search`);
    },
  });
}

/** The documents that may fit, and the windows. A Computer that answers one of the two is asked successfully. */
async function findOn(
  computer: RemoteComputer,
  { keywords, signal }: { readonly keywords: readonly string[]; readonly signal: AbortSignal },
): Promise<Found[]> {
  const asked = [findDocuments(computer, { keywords, signal }), findWindows(computer, signal)];
  const [documents, windows] = await Promise.allSettled(asked);
  signal.throwIfAborted();
  const lists = [documents, windows].flatMap((list) => list?.status === "fulfilled" ? [list.value] : []);
  if (lists.length === 0 && documents?.status === "rejected") throw documents.reason;
  return lists.flat();
}

async function findDocuments(
  computer: RemoteComputer,
  { keywords, signal }: { readonly keywords: readonly string[]; readonly signal: AbortSignal },
): Promise<Found[]> {
  const documents: DPEDocumentSummary[] = [];
  for (let isMore = true; isMore;) {
    const page = { keywords, offset: documents.length, limit: MAX_FINDER_LIMIT, signal };
    const { documents: next, totalCount } = await computer.getFinder(page);
    documents.push(...next);
    isMore = next.length > 0 && documents.length < Math.min(totalCount, MAX_CANDIDATES);
  }
  return documents.filter(({ uri }) => isValidDpeUri(uri) && isVisible(uri)).map((
    { uri, title, keywords: words = [], summary = "" },
  ) => ({
    id: idOf(computer, uri),
    title: toBareLine(title),
    keywords: words.join(" "),
    text: summary,
    isMatch: true,
  }));
}

async function findWindows(computer: RemoteComputer, signal: AbortSignal): Promise<Found[]> {
  const windows = await computer.getWindows({ signal });
  return windows.filter(({ uri }) => hasWindowScheme(uri) && isVisible(uri)).map(({ uri, title, text }) => ({
    id: idOf(computer, uri),
    title: toBareLine(title ?? uri),
    keywords: "",
    text,
    isMatch: false,
  }));
}

/** A URI goes back as it is, so it has to be one that is shown as it is. */
function isVisible(uri: string): boolean {
  return printableLine(uri) === uri;
}

async function readWindow(
  { reach, uri, computer, signal }: Omit<Place, "remote"> & {
    readonly reach: Reach;
    readonly computer: string | undefined;
  },
): Promise<Json> {
  const answers = await askEach(
    chosenComputers(reach, computer),
    async (remote) => ({ remote, window: (await remote.getWindows({ window: uri, signal }))[0] }),
  );
  for (const answer of answers) {
    if (!("value" in answer) || answer.value.window === undefined) continue;
    const { remote, window: { title = uri, text } } = answer.value;
    const id = idOf(remote, uri);
    const { part, isCut } = fittingPart(text);
    const metadata = { computer: remote.name, type: "window", ...(isCut ? { truncated: "true" } : {}) };
    return { id, title: toBareLine(title), text: part, url: id, metadata };
  }
  throw new ArgumentError([`No window ${toSeenLine(uri)} is open`, ...problemLines(answers)].join("\n"));
}

/** Reads pages one after the other, from the one that the URI names on, as long as there is room for them. */
async function readDocument({ remote, uri, signal }: Place): Promise<Json> {
  const { pageIndex: start = 0, docRef = "", elementId, host } = parseDpeUri(uri);
  const document = await remote.readDocumentMetadata(uri, { signal });
  const id = idOf(remote, uri);
  const { title, file_type, page_count, last_modified } = document;
  const metadata = {
    computer: remote.name,
    type: "document",
    file_type,
    pages: String(page_count),
    ...(last_modified === undefined ? {} : { last_modified }),
  };
  const base = { id, title: toBareLine(title), url: idOf(remote, document.uri) };
  if (elementId !== undefined) {
    const element = await remote.readElement(uri, elementId, { format: "markdown", signal });
    return { ...base, text: fittingPart(textOf(element, "markdown")).part, metadata };
  }
  const parts: string[] = [];
  let left = MAX_CHARACTERS;
  for (let page = start; page < page_count; page++) {
    const read = await remote.readPage(uri, page, { format: "markdown", signal });
    const text = `## ${titleOf(read, page, document)}\n\n${textOf(read, "markdown")}`;
    if (text.length > left && page > start) {
      const next = idOf(remote, `dpe://${host}/${encodeURIComponent(docRef)}/pages/${page}`);
      parts.push(`[Pages from ${page} on follow: fetch ${next}]`);
      return { ...base, text: parts.join("\n\n"), metadata: { ...metadata, next } };
    }
    const { part } = fittingPart(text);
    parts.push(part);
    left -= part.length;
  }
  return { ...base, text: parts.join("\n\n"), metadata };
}

/** The beginning of a text, with a note where something is missing. */
function fittingPart(text: string): { readonly part: string; readonly isCut: boolean } {
  const shown = escapeUnreadable(text);
  if (shown.length <= MAX_CHARACTERS) return { part: shown, isCut: false };
  const part = shown.slice(0, MAX_CHARACTERS).toWellFormed();
  return { part: `${part}\n\n[${shown.length - MAX_CHARACTERS} more characters are left out]`, isCut: true };
}

/** The URI by which a client of the gateway reads it, with its Computer, since two Computers may have the same. */
function idOf({ name }: RemoteComputer, uri: string): string {
  return `a2c://${encodeURIComponent(name)}/${uri}`;
}

/** One text that is the JSON of the value, and the value itself. */
function jsonResult(value: Json, isFailed = false): McpToolResult {
  return {
    content: [{ type: "text", text: JSON.stringify(value) }],
    structuredContent: value,
    ...(isFailed ? { isError: true } : {}),
  };
}
