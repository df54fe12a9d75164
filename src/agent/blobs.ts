/** Fetching what a Computer kept back of an answer because it was too large, and putting it where it belongs. */
import {
  A2C_ANSWER,
  A2C_BLOB_HANDLE,
  A2C_RESOURCE_TEXT,
  A2C_SHA256,
  A2C_STRUCTURED_CONTENT,
  A2C_TEXT,
  withoutBlobKeys,
} from "../protocol/blobs.ts";
import { parseReadResourceRet } from "../protocol/answers.ts";
import type { OnFlaw } from "../protocol/flaws.ts";
import type { ReadResourceRet, ResourceContents } from "../protocol/resources.ts";
import { parseCallToolResult } from "../protocol/tool_result.ts";
import type { CallToolResult, ContentItem } from "../protocol/tools.ts";
import { BlobReader, type BlobReaderOptions, broken } from "./blob_reader.ts";

/** What filling in needs. */
export interface FillOptions extends BlobReaderOptions {
  /** Called when an item cannot be filled in; when it throws, the filling ends. */
  readonly onFailure: (handle: string, error: unknown) => void;
  /** Called for each flaw of an answer that was fetched as a whole. */
  readonly onFlaw?: OnFlaw | undefined;
}

/** Metadata that names a handle. */
interface Mark {
  readonly handle: string;
  readonly meta: Readonly<Record<string, unknown>>;
}

/** Whether any item of the result is a handle. */
export function hasBlobHandles(result: CallToolResult): boolean {
  return result.content.some((item) => markOf(item) !== undefined);
}

/** Whether any piece of what was read is a handle. */
export function hasContentHandles(result: ReadResourceRet): boolean {
  return result.contents.some((piece) => markOf(piece) !== undefined);
}

/** The result with its handles filled in. An item whose bytes cannot be had keeps its handle. */
export async function fillBlobs(result: CallToolResult, options: FillOptions): Promise<CallToolResult> {
  const reader = new BlobReader(options);
  let filled: CallToolResult = { ...result, content: [] };
  for (const item of result.content) {
    const mark = markOf(item);
    const change = mark === undefined ? undefined : await fetchPart(mark, {
      reader,
      options,
      use: (bytes) => fillItem(item, { ...mark, bytes, onFlaw: options.onFlaw }),
    });
    if (change?.answer !== undefined) return change.answer;
    if (change !== undefined && "structuredContent" in change) filled = { ...filled, ...change };
    else filled.content.push(change?.item ?? item);
  }
  return filled;
}

/** What was read with its handles filled in. A piece whose bytes cannot be had keeps its handle. */
export async function fillContents(result: ReadResourceRet, options: FillOptions): Promise<ReadResourceRet> {
  const reader = new BlobReader(options);
  const contents: ResourceContents[] = [];
  for (const piece of result.contents) {
    const mark = markOf(piece);
    const filled = mark === undefined ? undefined : await fetchPart(mark, {
      reader,
      options,
      use: (bytes) => fillPiece(piece, { ...mark, bytes, onFlaw: options.onFlaw }),
    });
    if (filled !== undefined && "contents" in filled) return filled;
    contents.push(filled ?? piece);
  }
  return { ...result, contents };
}

function markOf(item: ContentItem | ResourceContents): Mark | undefined {
  const meta = "_meta" in item ? item._meta ?? {} : {};
  const handle = meta[A2C_BLOB_HANDLE];
  return typeof handle === "string" && handle !== "" ? { handle, meta } : undefined;
}

async function fetchPart<T>(
  { handle, meta }: Mark,
  { reader, options, use }: {
    readonly reader: BlobReader;
    readonly options: FillOptions;
    readonly use: (bytes: Uint8Array) => T;
  },
): Promise<T | undefined> {
  try {
    const sha256 = meta[A2C_SHA256];
    return use(await reader.read(handle, typeof sha256 === "string" ? sha256 : undefined));
  } catch (error) {
    options.onFailure(handle, error);
    return undefined;
  }
}

/** Bytes that arrived, and what they stand for. */
interface Arrival extends Mark {
  readonly bytes: Uint8Array;
  readonly onFlaw: OnFlaw | undefined;
}

/** What an item becomes: another item, the result's structured content, or the whole result. */
interface ItemChange {
  readonly item?: ContentItem;
  readonly structuredContent?: unknown;
  readonly answer?: CallToolResult;
}

function fillItem(item: ContentItem, arrival: Arrival): ItemChange {
  const { meta, bytes } = arrival;
  if (meta[A2C_ANSWER] === true) return { answer: parseCallToolResult(toJson(arrival), arrival.onFlaw) };
  if (meta[A2C_STRUCTURED_CONTENT] === true) return { structuredContent: toJson(arrival) };
  if (item.type === "unknown") throw broken(arrival.handle, "its item is of no known kind");
  const { _meta, ...rest } = item;
  const others = withoutBlobKeys(meta);
  const own = others === undefined ? {} : { _meta: others };
  if (meta[A2C_TEXT] === true) {
    const { annotations } = rest;
    const hints = annotations === undefined ? {} : { annotations };
    return { item: { type: "text", text: toText(arrival), ...hints, ...own } };
  }
  if (rest.type === "resource") {
    return { item: { ...rest, resource: toResource(rest.resource, arrival), ...own } };
  }
  if (rest.type === "image" || rest.type === "audio") {
    return { item: { ...rest, data: bytes.toBase64(), ...own } };
  }
  throw broken(arrival.handle, `an item of type "${rest.type}" has no bytes`);
}

function toResource(resource: ResourceContents, arrival: Arrival): ResourceContents {
  if (arrival.meta[A2C_RESOURCE_TEXT] !== true) return { ...resource, blob: arrival.bytes.toBase64() };
  const { blob: _blob, ...rest } = resource;
  return { ...rest, text: toText(arrival) };
}

function fillPiece(piece: ResourceContents, arrival: Arrival): ResourceContents | ReadResourceRet {
  const { meta } = arrival;
  if (meta[A2C_ANSWER] === true) return parseReadResourceRet(toJson(arrival), arrival.onFlaw);
  const { _meta, blob: _blob, ...rest } = piece;
  const others = withoutBlobKeys(meta);
  const own = others === undefined ? {} : { _meta: others };
  return meta[A2C_TEXT] === true
    ? { ...rest, text: toText(arrival), ...own }
    : { ...rest, blob: arrival.bytes.toBase64(), ...own };
}

function toText({ handle, bytes }: Arrival): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw broken(handle, "it is not UTF-8", cause);
  }
}

function toJson(arrival: Arrival): unknown {
  const text = toText(arrival);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw broken(arrival.handle, "it is not JSON", cause);
  }
}
