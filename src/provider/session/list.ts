/** `resources/list`, page by page. */
import { isGiven, isRecord } from "../../json/json.ts";
import type { McpResource } from "../../protocol/resources.ts";
import { DocumentReader } from "../documents/reader.ts";
import { RpcError, RpcErrorCode } from "../../protocol/mcp.ts";
import type { Exchange } from "./json_rpc.ts";
import type { Publications } from "../publications.ts";

/** A page of the published windows and documents. */
export interface ResourcePage {
  readonly resources: readonly McpResource[];
  /** Where the next page begins; `undefined` on the last page. */
  readonly next: ListPosition | undefined;
}

/**
 * A position in the list: after an entry of one part, which is the windows or the documents of a host. Entries may be
 * added and removed between two pages, so the position has the key of the entry. It also has the index at that time,
 * which makes the search fast and is used when the entry was removed.
 */
export interface ListPosition {
  /** The host of the documents, or an empty string for the windows. */
  readonly part: string;
  /** The entry before the position; `undefined` at the beginning of the part. */
  readonly after?: { readonly key: string; readonly index: number } | undefined;
}

interface ListPart {
  readonly id: string;
  entries(): Promise<readonly ListEntry[]>;
}

/** An entry that is built only when its page is requested. */
interface ListEntry {
  readonly key: string;
  toResource(): McpResource;
}

/** The position of the first page. */
export const LIST_START: ListPosition = { part: "" };

/**
 * A page of at most `pageSize` windows and documents.
 *
 * @throws {RpcError} -32602 when the part where the page begins is no longer published
 */
export async function listPublished(
  publications: Publications,
  { exchange, position, pageSize }: {
    readonly exchange: Exchange;
    readonly position: ListPosition;
    readonly pageSize: number;
  },
): Promise<ResourcePage> {
  const parts = listParts(publications, exchange);
  const first = parts.findIndex(({ id }) => id === position.part);
  if (first < 0) throw invalidCursor();
  const resources: McpResource[] = [];
  for (const part of parts.slice(first)) {
    const entries = await part.entries();
    let index = part.id === position.part ? startOf(entries, position) : 0;
    for (; index < entries.length; index++) {
      const entry = entries[index];
      if (entry === undefined) continue;
      if (resources.length === pageSize) {
        return { resources, next: { part: part.id, after: before(entries, index) } };
      }
      resources.push(entry.toResource());
    }
  }
  return { resources, next: undefined };
}

/** The error -32602 that MCP requires for an invalid cursor. */
function invalidCursor(): RpcError {
  return new RpcError(RpcErrorCode.INVALID_PARAMS, "Invalid cursor");
}

function listParts(publications: Publications, exchange: Exchange): readonly ListPart[] {
  const windows: ListPart = {
    id: LIST_START.part,
    entries: () =>
      Promise.resolve(publications.windows.map((window) => ({
        key: window.uri,
        toResource: () => window.toResource(),
      }))),
  };
  const documents = publications.documents.map((published): ListPart => ({
    id: published.host,
    entries: async () =>
      (await new DocumentReader(published.source, exchange).list()).map((document) => ({
        key: document.docRef,
        toResource: () => published.toResource(document),
      })),
  }));
  return [windows, ...documents];
}

function before(entries: readonly ListEntry[], index: number): ListPosition["after"] {
  const last = entries[index - 1];
  return last === undefined ? undefined : { key: last.key, index: index - 1 };
}

function startOf(entries: readonly ListEntry[], { after }: ListPosition): number {
  if (after === undefined) return 0;
  if (entries[after.index]?.key === after.key) return after.index + 1;
  const found = entries.findIndex(({ key }) => key === after.key);
  // When the entry was removed, the entries after it have moved up by one.
  return found < 0 ? Math.max(0, after.index) : found + 1;
}

/** Where a page begins: in the list of the SDK's own handler, or in ours, which follows it. */
export type Cursor = { readonly sdk: string | undefined } | ListPosition;

export function writeCursor(cursor: Cursor): string {
  return btoa(encodeURIComponent(JSON.stringify(cursor)));
}

/**
 * Reads the `cursor` of a client; the first page when it is absent.
 *
 * @throws {RpcError} -32602 when the cursor is not one of ours
 */
export function readCursor(cursor: unknown): Cursor {
  if (!isGiven(cursor)) return { sdk: undefined };
  const value = typeof cursor === "string" ? decode(cursor) : undefined;
  const { sdk, part, after } = isRecord(value) ? value : {};
  if (typeof sdk === "string") return { sdk };
  if (typeof part !== "string") throw invalidCursor();
  if (after === undefined) return { part };
  const { key, index } = isRecord(after) ? after : {};
  if (typeof key !== "string" || typeof index !== "number") throw invalidCursor();
  return { part, after: { key, index } };
}

function decode(cursor: string): unknown {
  try {
    return JSON.parse(decodeURIComponent(atob(cursor)));
  } catch {
    return undefined;
  }
}
