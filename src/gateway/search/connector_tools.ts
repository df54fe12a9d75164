/** `search` and `fetch` of ChatGPT over the documents and windows of Computers. */
import {
  askEach,
  chosenComputers,
  makeBuiltin,
  problemLines,
  type Reach,
  readClientUri,
} from "../../agent/toolkit/builtins/builtin.ts";
import { ArgumentError } from "../../local_tools/arguments.ts";
import { findPlace, type Place, readableAt } from "../../agent/toolkit/builtins/read_document.ts";
import {
  connectorResult,
  FETCH_SHAPE,
  fetchDocument,
  fittingPart,
  SEARCH_SHAPE,
} from "../../local_tools/connector_answers.ts";
import type { Json } from "../../local_tools/mcp.ts";
import type { LocalTool } from "../../agent/toolkit/tool_context.ts";
import type { RemoteComputer } from "../../agent/remote_computer.ts";
import type { DPEDocumentSummary } from "../../protocol/dpe.ts";
import { MAX_FINDER_LIMIT, MAX_QUERY_LENGTH } from "../../protocol/finder.ts";
import { printableLine, toBareLine, toSeenLine } from "../../text/safe_text.ts";
import { buildDpeUri, isValidDpeUri, parseDpeUri } from "../../uri/dpe_uri.ts";
import { hasWindowScheme } from "../../uri/window_uri.ts";
import { type Found, rankByWords } from "./word_index.ts";

/** The most results of a search. */
const MAX_RESULTS = 20;
/** The most documents of one Computer that a search weighs. */
const MAX_CANDIDATES = 500;
/** The most room of one answer of `fetch`. */
const MAX_FETCHED_ROOM = 100_000;

export function makeConnectorTools(reach: Reach): LocalTool[] {
  return [searchTool(reach), fetchTool(reach)];
}

function searchTool(reach: Reach): LocalTool {
  return makeBuiltin({
    ...SEARCH_SHAPE,
    title: "Search documents and windows",
    description:
      "Searches the documents and the open windows of all Computers by their titles and texts. A result is a window, a page of " +
      "a document with the words around, or a document. Read it with fetch.",
    async run(args, { signal, clientName: client }) {
      const query = args.text("query") ?? args.missing("query");
      const answers = await askEach(
        chosenComputers({ ...reach, client }, undefined),
        (computer) => findOn(computer, { query, signal }),
      );
      const found = answers.flatMap((answer) => "value" in answer ? answer.value : []);
      const results = (await rankByWords(query, found)).slice(0, MAX_RESULTS)
        .map(({ id, title, text, isPage }) => ({ id, title, url: id, ...(isPage ? { text } : {}) }));
      const problems = problemLines(answers);
      const isFailed = problems.length === answers.length;
      return connectorResult({ ...(problems.length === 0 ? {} : { problems }), results }, isFailed);
    },
  });
}

function fetchTool(reach: Reach): LocalTool {
  return makeBuiltin({
    ...FETCH_SHAPE,
    title: "Read a document or a window",
    description:
      "Reads a result of search: a document as Markdown, or the text of a window. Of a long document it reads as much as " +
      "fits, and metadata.next is the id with which to go on.",
    async run(args, { signal, clientName: client }) {
      const id = args.text("id") ?? args.missing("id");
      const { uri, computer } = readClientUri(id);
      const place = { reach: { ...reach, client }, uri, computer, signal };
      if (hasWindowScheme(uri)) return connectorResult(await readWindow(place));
      if (isValidDpeUri(uri) && parseDpeUri(uri).docRef !== undefined) {
        return connectorResult(await readDocument(await findPlace(place.reach, place), uri));
      }
      throw new ArgumentError(`Cannot fetch ${toSeenLine(id)}: not the id of a result of search`);
    },
  });
}

/** The documents that may fit, and the windows. A Computer that answers one of the two is asked successfully. */
async function findOn(
  computer: RemoteComputer,
  { query, signal }: { readonly query: string; readonly signal: AbortSignal },
): Promise<Result[]> {
  const asked = [findDocuments(computer, { query, signal }), findWindows(computer, signal)];
  const [documents, windows] = await Promise.allSettled(asked);
  signal.throwIfAborted();
  const lists = [documents, windows].flatMap((list) => list?.status === "fulfilled" ? [list.value] : []);
  if (lists.length === 0 && documents?.status === "rejected") throw documents.reason;
  return lists.flat();
}

/** What is found, and whether it is a page of a document. */
type Result = Found & { readonly isPage: boolean };

async function findDocuments(
  computer: RemoteComputer,
  { query, signal }: { readonly query: string; readonly signal: AbortSignal },
): Promise<Result[]> {
  const asked = { query: query.slice(0, MAX_QUERY_LENGTH), limit: MAX_FINDER_LIMIT, signal };
  const documents: DPEDocumentSummary[] = [];
  for (let isMore = true; isMore;) {
    const { documents: next, totalCount } = await computer.getFinder({ ...asked, offset: documents.length });
    documents.push(...next);
    // Pages come with the best first; documents that were found by their titles alone are weighed here.
    isMore = next.length > 0 && documents.every(({ hits }) => hits === undefined) &&
      documents.length < Math.min(totalCount, MAX_CANDIDATES);
  }
  return documents.filter(({ uri }) => isValidDpeUri(uri) && isVisible(uri)).flatMap((document): Result[] => {
    const { uri, title, keywords: words = [], summary = "", hits = [] } = document;
    const found = { keywords: words.join(" "), isMatch: true };
    if (hits.length === 0) {
      return [{ ...found, id: idOf(computer, uri), title: toBareLine(title), text: summary, isPage: false }];
    }
    return hits.filter(({ uri }) => isValidDpeUri(uri) && isVisible(uri)).map((hit) => ({
      ...found,
      id: idOf(computer, hit.uri),
      title: toBareLine(hit.title === undefined || hit.title === title ? title : `${title}: ${hit.title}`),
      text: toBareLine(hit.snippet),
      isPage: true,
    }));
  });
}

async function findWindows(computer: RemoteComputer, signal: AbortSignal): Promise<Result[]> {
  const windows = await computer.getWindows({ signal });
  return windows.filter(({ uri }) => hasWindowScheme(uri) && isVisible(uri)).map(({ uri, title, text }) => ({
    id: idOf(computer, uri),
    title: toBareLine(title ?? uri),
    keywords: "",
    text,
    isMatch: false,
    isPage: false,
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
    const { part, isCut } = fittingPart(text, MAX_FETCHED_ROOM);
    const metadata = { computer: remote.name, type: "window", ...(isCut ? { truncated: "true" } : {}) };
    return { id, title: toBareLine(title), text: part, url: id, metadata };
  }
  const problems = problemLines(answers);
  const none = problems.length === answers.length ? [] : [`No window ${toSeenLine(uri)} is open`];
  throw new ArgumentError([...problems, ...none].join("\n"));
}

function readDocument(place: Place, uri: string): Promise<Json> {
  const { remote } = place;
  const { host, docRef, pageIndex: start, elementId: element } = parseDpeUri(uri);
  const idOfPage = (page?: number) =>
    idOf(remote, buildDpeUri({ host, docRef, subPath: page === undefined ? undefined : `pages/${page}` }));
  const facts = { computer: remote.name };
  const asked = { id: idOf(remote, uri), idOf: idOfPage, start, element, facts, maxRoom: MAX_FETCHED_ROOM };
  return fetchDocument(readableAt(place), asked);
}

/** The URI by which a client of the gateway reads it, with its Computer, since two Computers may have the same. */
function idOf({ name }: RemoteComputer, uri: string): string {
  return `a2c://${encodeURIComponent(name)}/${uri}`;
}
