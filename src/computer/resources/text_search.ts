/** A search in the text of documents: each MCP server is asked, and what they found is merged. */
import { settledWithin } from "../../async/abortable.ts";
import { isRecord } from "../../json/json.ts";
import { ServerAnswerError } from "../../mcp/errors.ts";
import { orderServers, organizeFinder } from "../../organizer/finder.ts";
import { parseDpeDocument } from "../../protocol/dpe_answers.ts";
import type { DPEDocumentSummary, DPEHit } from "../../protocol/dpe.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { badRequest } from "../../protocol/errors.ts";
import { type FinderPage, keywordsOf, MAX_FINDER_LIMIT, MAX_QUERY_LENGTH } from "../../protocol/finder.ts";
import { RpcErrorCode } from "../../protocol/mcp.ts";
import { shorten } from "../../text/text.ts";
import { buildDpeUri } from "../../uri/dpe_uri.ts";
import { MAX_NOTICE_LENGTH } from "./kinds.ts";

/** The most pages and documents that a host may count. */
const MAX_COUNT = 1_000_000_000;
/** The codes of a host that knows no such URI; 0 is that of the SDK for Python. Other failures may pass. */
const UNKNOWN_CODES: readonly number[] = [
  0,
  RpcErrorCode.METHOD_NOT_FOUND,
  RpcErrorCode.INVALID_PARAMS,
  RpcErrorCode.RESOURCE_NOT_FOUND,
  ErrorCode.NOT_FOUND,
  ErrorCode.DOCUMENT_NOT_FOUND,
];

/** What follows the names of MCP servers that have no search. */
const UNABLE = "cannot search the text of documents: only titles, summaries and keywords were searched there";

/** A page and its document. */
interface Found {
  readonly document: DPEDocumentSummary;
  readonly hit: DPEHit;
}

/** What one host has found. */
interface HostHits {
  readonly found: readonly Found[];
  /** The documents in whose texts it did not search. */
  readonly unsearched: readonly DPEDocumentSummary[];
  readonly total: number;
  readonly notIndexed: number;
  readonly notice: string | undefined;
}

/** An MCP server whose documents are searched. */
export interface SearchedServer {
  readonly name: string;
  /** The documents that the Finder shows of it. */
  readonly documents: readonly DPEDocumentSummary[];
  /** The hosts that are known to have no search in texts. */
  readonly hostsWithoutSearch: Set<string>;
  /** The document that the server lists under this URI; `undefined` when there is none. */
  readonly listed: (uri: string) => DPEDocumentSummary | undefined;
  /** Reads the JSON of a URI. */
  readonly read: (uri: string) => Promise<unknown>;
}

export interface TextQuery {
  readonly query: string;
  readonly offset: number;
  readonly limit: number;
  /** The MCP server of each tool call, oldest first. */
  readonly history: readonly string[];
  /** How long the MCP servers may take. */
  readonly withinMs: number;
}

/**
 * Asks each host for its best pages, and takes them in turns, since only a host can compare its own. Documents of hosts that
 * did not search follow, where title, summary or keywords have a word of the query.
 */
export async function searchTexts(
  servers: readonly SearchedServer[],
  { query, offset, limit, history, withinMs }: TextQuery,
): Promise<FinderPage> {
  if (query.length > MAX_QUERY_LENGTH) {
    const message =
      `Cannot search for a text of ${query.length} characters: at most ${MAX_QUERY_LENGTH} are allowed`;
    throw badRequest("query", message);
  }
  const names = orderServers(servers.map(({ name }) => name), history);
  const ordered = names.flatMap((name) => servers.find((server) => server.name === name) ?? []);
  const wanted = Math.max(1, Math.min(offset + limit, MAX_FINDER_LIMIT));
  const late = new Set<string>();
  const failed = new Set<string>();
  const unable = new Set<string>();
  const answers = await Promise.all(
    ordered.flatMap((server) =>
      [...hostsOf(server)].map(async ([host, documents]) => {
        const notIndexed = documents.length;
        const uri = buildDpeUri({ host, queryParams: { query, limit: String(wanted) } });
        const asked = server.hostsWithoutSearch.has(host)
          ? "unable"
          : await settledWithin(askHost(server, uri), withinMs);
        if (asked === undefined) {
          late.add(server.name);
          return { ...NOTHING, notIndexed };
        }
        if (asked === "unable") {
          server.hostsWithoutSearch.add(host);
          unable.add(server.name);
        } else if (asked === "failed") failed.add(server.name);
        else return asked;
        return { ...NOTHING, unsearched: documents, notIndexed };
      })
    ),
  );
  const pages = inTurns(answers.map(({ found }) => found));
  const shown = pages.slice(offset, offset + limit);
  const others = matchesOf(answers.flatMap(({ unsearched }) => unsearched), {
    query,
    history,
    offset: Math.max(0, offset - pages.length),
    limit: limit - shown.length,
  });
  const notices = [
    ...answers.map(({ notice }) => notice),
    ...late.size === 0 ? [] : [`No answer in time from ${[...late].join(", ")}.`],
    ...failed.size === 0 ? [] : [`The search failed at ${[...failed].join(", ")}: ask again.`],
    ...unable.size === 0 ? [] : [`${[...unable].join(", ")} ${UNABLE}.`],
  ].filter((notice) => notice !== undefined);
  return {
    documents: [...toDocuments(shown), ...others.documents],
    totalCount: answers.reduce((sum, { total }) => sum + total, others.totalCount),
    notIndexed: answers.reduce((sum, { notIndexed }) => sum + notIndexed, 0),
    notice: notices.length === 0 ? undefined : notices.join(" "),
  };
}

const NOTHING: HostHits = { found: [], unsearched: [], total: 0, notIndexed: 0, notice: undefined };

function hostsOf({ documents }: SearchedServer): Map<string, DPEDocumentSummary[]> {
  return Map.groupBy(documents, ({ uri }) => /^dpe:\/\/([^/?]*)/i.exec(uri)?.[1]?.toLowerCase() ?? "");
}

/**
 * What a host finds; `unable` when it does not know the search, and answers with its whole catalogue, or that there is no such
 * resource.
 */
async function askHost(server: SearchedServer, uri: string): Promise<HostHits | "unable" | "failed"> {
  try {
    const catalogue = await server.read(uri);
    if (!isRecord(catalogue) || !Array.isArray(catalogue["documents"])) return "unable";
    const { documents, total_count, not_indexed, notice } = catalogue;
    if (documents.some((document) => !isRecord(document) || !Array.isArray(document["hits"]))) {
      return "unable";
    }
    const found = documents.flatMap((document): Found[] => {
      const { hits = [], uri } = parseDpeDocument(document);
      const listed = server.listed(uri);
      return listed === undefined ? [] : hits.map((hit) => ({ document: listed, hit }));
    });
    return {
      ...NOTHING,
      found,
      total: isCount(total_count) ? total_count : found.length,
      notIndexed: isCount(not_indexed) ? not_indexed : 0,
      notice: typeof notice === "string" ? shorten(notice, MAX_NOTICE_LENGTH) : undefined,
    };
  } catch (error) {
    const isUnknown = error instanceof ServerAnswerError
      ? UNKNOWN_CODES.includes(error.rpcCode)
      : error instanceof SyntaxError || error instanceof TypeError;
    return isUnknown ? "unable" : "failed";
  }
}

/** Another number would spoil the sum for all hosts. */
function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MAX_COUNT;
}

/** The documents whose title, summary or keywords have a word of the query. */
function matchesOf(
  documents: readonly DPEDocumentSummary[],
  { query, ...page }: Pick<TextQuery, "query" | "offset" | "limit" | "history">,
): FinderPage {
  const keywords = keywordsOf(query);
  if (keywords.length === 0 || documents.length === 0) return { documents: [], totalCount: 0 };
  return organizeFinder(documents, { ...page, keywords });
}

/** The first of each list, then the second of each, and so on. */
function inTurns<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, rank) => lists.flatMap((list) => list.slice(rank, rank + 1)))
    .flat();
}

/** Each document once, with its hits. */
function toDocuments(found: readonly Found[]): DPEDocumentSummary[] {
  return [...Map.groupBy(found, ({ document }) => document.uri).values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    return [{ ...first.document, hits: group.map(({ hit }) => hit) }];
  });
}
