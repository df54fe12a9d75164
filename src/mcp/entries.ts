/** Lists of an MCP server, read page by page and entry by entry: one bad entry never costs the others. */
import { approximateSizeBytes, isDeeperThan, isRecord, MAX_REQUEST_DEPTH } from "../json/json.ts";
import type { McpResource, ResourceContents } from "../protocol/resources.ts";
import { shorten } from "../text/text.ts";
import { ServerTimeoutError } from "./errors.ts";
import { MAX_LIST_ENTRIES, MAX_LIST_PAGES } from "./limits.ts";

const MAX_NAMED_LENGTH = 128;

/** A tool as its MCP server lists it. */
export interface McpTool {
  readonly name: string;
  readonly title: string | undefined;
  readonly description: string;
  readonly inputSchema: Record<string, unknown>;
  readonly outputSchema: Record<string, unknown> | null;
  readonly annotations: Record<string, unknown> | undefined;
  readonly icons: readonly unknown[] | undefined;
  /** How the tool runs, such as `taskSupport`; unchecked. */
  readonly execution: Record<string, unknown> | undefined;
  readonly meta: Record<string, unknown>;
}

/** Receives a warning for each entry that was left out or repaired. */
export type EntryWarning = (message: string) => void;

/** Reads one entry of `tools/list`; `undefined` when it has no name. */
export function readTool(entry: unknown, warn: EntryWarning): McpTool | undefined {
  if (!isRecord(entry) || typeof entry["name"] !== "string" || entry["name"] === "") {
    warn("left out a listed tool without a name");
    return undefined;
  }
  const { name, title, description, inputSchema, outputSchema, annotations, icons, execution, _meta } = entry;
  if (!isRecord(inputSchema)) {
    warn(`tool "${shorten(name, MAX_NAMED_LENGTH)}" has no input schema: accepting any arguments`);
  }
  return {
    name,
    title: [title, isRecord(annotations) ? annotations["title"] : undefined].find(isText),
    description: typeof description === "string" ? description : "",
    inputSchema: isRecord(inputSchema) ? inputSchema : { type: "object" },
    outputSchema: isRecord(outputSchema) ? outputSchema : null,
    annotations: isRecord(annotations) ? annotations : undefined,
    icons: Array.isArray(icons) ? icons : undefined,
    execution: isRecord(execution) ? execution : undefined,
    meta: isRecord(_meta) ? _meta : {},
  };
}

/** Reads one entry of `resources/list`; `undefined` when it has no URI. The other members are unchecked. */
export function readResourceEntry(entry: unknown, warn: EntryWarning): McpResource | undefined {
  if (isResource(entry)) return entry;
  warn("left out a listed resource without a URI");
  return undefined;
}

/**
 * Reads the `contents` of a resource: items without a URI are left out, the other members are unchecked. Binary content
 * that is not base64 is passed on with a warning (`docs/protocol/resources.md#security`).
 */
export function readContents(contents: unknown, warn: EntryWarning): ResourceContents[] {
  const pieces = Array.isArray(contents) ? contents.filter(isContents) : [];
  if (pieces.some(({ blob }) => blob !== undefined && blob !== null && !isBase64(blob))) {
    warn("passed on the binary content of a resource that is not base64");
  }
  return pieces;
}

function isContents(contents: unknown): contents is ResourceContents {
  return isRecord(contents) && typeof contents["uri"] === "string";
}

/** Searches for the first invalid character, so that a long text costs one pass and no memory. */
function isBase64(blob: unknown): boolean {
  if (typeof blob !== "string" || blob.length % 4 !== 0) return false;
  const end = blob.search(/[^A-Za-z0-9+/]/);
  return end < 0 || /^={1,2}$/.test(blob.slice(end, end + 3));
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** Checks only the URI: users of other members check their types. */
function isResource(entry: unknown): entry is McpResource {
  return isRecord(entry) && typeof entry["uri"] === "string" && entry["uri"] !== "";
}

/** A page of a list, unchecked. */
export interface ListPage {
  readonly entries: readonly unknown[];
  readonly nextCursor: string | undefined;
}

export const LISTS = {
  tools: { method: "tools/list", member: "tools", what: "tools" },
  resources: { method: "resources/list", member: "resources", what: "resources" },
  templates: {
    method: "resources/templates/list",
    member: "resourceTemplates",
    what: "resource templates",
  },
  prompts: { method: "prompts/list", member: "prompts", what: "prompts" },
  skills: { method: "skills/list", member: "skills", what: "skills" },
} as const;

export type ListKind = keyof typeof LISTS;

/** Reads the result of a list request; without a valid cursor it is the last page. */
export function toListPage(result: Readonly<Record<string, unknown>>, member: string): ListPage {
  const { [member]: entries, nextCursor } = result;
  return {
    entries: Array.isArray(entries) ? entries : [],
    nextCursor: typeof nextCursor === "string" && nextCursor !== "" ? nextCursor : undefined,
  };
}

export interface ListOptions<T> {
  readonly what: string;
  readonly readPage: (cursor: string | undefined, timeoutMs: number) => Promise<ListPage>;
  /** Reads an entry; `undefined` leaves it out. */
  readonly readEntry: (entry: unknown, warn: EntryWarning) => T | undefined;
  readonly maxBytes: number;
  /** The time for all pages together. */
  readonly timeoutMs: number;
  readonly warn: EntryWarning;
  /** Receives the size of the list after each page. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
}

/**
 * Reads pages until the end. If the list does not end in time, is too large, or repeats a cursor, it returns what was
 * read so far.
 */
export async function readAllPages<T>(options: ListOptions<T>): Promise<T[]> {
  const { what, readPage, readEntry, timeoutMs, maxBytes, warn, onBytes } = options;
  const items: T[] = [];
  const cursors = new Set<string>();
  const deadlineMs = performance.now() + timeoutMs;
  let bytes = 0;
  let cursor: string | undefined;
  for (let page = 0; page < MAX_LIST_PAGES; page++) {
    const remainingMs = deadlineMs - performance.now();
    if (page > 0 && remainingMs <= 0) break;
    const result = await readPage(cursor, Math.max(1, remainingMs)).catch((error) => {
      if (page > 0 && error instanceof ServerTimeoutError) return undefined;
      throw error;
    });
    if (result === undefined) break;
    for (const entry of result.entries) {
      bytes += approximateSizeBytes(entry);
      if (bytes > maxBytes || items.length >= MAX_LIST_ENTRIES) {
        onBytes?.(bytes);
        return cutShort(items, { what, maxBytes, warn });
      }
      // One that the Server does not pass on would cost the Agent the whole list.
      if (isDeeperThan(entry, MAX_REQUEST_DEPTH)) {
        const name = isRecord(entry) && typeof entry["name"] === "string"
          ? ` "${shorten(entry["name"], MAX_NAMED_LENGTH)}"`
          : "";
        warn(
          `left out an entry${name} of the list of ${what}: it is nested more than ${MAX_REQUEST_DEPTH} levels deep`,
        );
        continue;
      }
      const item = readEntry(entry, warn);
      if (item !== undefined) items.push(item);
    }
    onBytes?.(bytes);
    cursor = result.nextCursor;
    if (cursor === undefined) return items;
    bytes += approximateSizeBytes(cursor);
    if (bytes > maxBytes) return cutShort(items, { what, maxBytes, warn });
    if (cursors.has(cursor)) break;
    cursors.add(cursor);
  }
  warn(`the list of ${what} does not end: using what was read so far`);
  return items;
}

function cutShort<T>(items: T[], list: Pick<ListOptions<T>, "what" | "maxBytes" | "warn">): T[] {
  const { what, maxBytes, warn } = list;
  warn(
    `the list of ${what} is longer than ${maxBytes} bytes or ${MAX_LIST_ENTRIES} entries: ` +
      "left out the rest",
  );
  return items;
}
