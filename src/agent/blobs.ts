/** Fetches the parts that a Computer left out of a large answer, and inserts them (`docs/protocol/calls-and-offices.md#blobs`). */
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
import { parseGetPromptRet } from "../protocol/prompt_answers.ts";
import type { GetPromptRet, PromptMessage } from "../protocol/prompts.ts";
import type { GetBlobRet, ReadResourceRet, ResourceContents } from "../protocol/resources.ts";
import { parseCallToolResult } from "../protocol/tool_result.ts";
import type { CallToolResult, ContentItem } from "../protocol/tools.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import { SmcpError } from "../protocol/errors.ts";

/** How the blobs of an answer are fetched, and who receives failures. */
export interface FillOptions extends BlobReaderOptions {
  /** Called for each blob that cannot be fetched. When it throws, nothing more is fetched. */
  readonly onFailure: (handle: string, error: unknown) => void;
  /** Called for each flaw of an answer that was itself a blob. */
  readonly onFlaw?: OnFlaw | undefined;
}

/** A handle, and the metadata that contains it. */
interface Mark {
  readonly handle: string;
  readonly meta: Readonly<Record<string, unknown>>;
}

/** Whether an item of the result has a blob handle. */
export function hasBlobHandles(result: CallToolResult): boolean {
  return result.content.some((item) => markOf(item) !== undefined);
}

/** Whether an item of the contents has a blob handle. */
export function hasContentHandles(result: ReadResourceRet): boolean {
  return result.contents.some((piece) => markOf(piece) !== undefined);
}

/** Whether a message of the prompt has a blob handle. */
export function hasPromptHandles(prompt: GetPromptRet): boolean {
  return prompt.messages.some(({ content }) => markOf(content) !== undefined);
}

/** Replaces blob handles in a tool result by the bytes. An item whose bytes cannot be fetched keeps its handle. */
export async function fillBlobs(result: CallToolResult, options: FillOptions): Promise<CallToolResult> {
  const reader = new BlobReader(options);
  const { filled, whole } = await fillItems(result, { reader, options });
  if (whole === undefined) return filled;
  // The whole answer may have handles of its own, but no further answer is followed.
  return (await fillItems(whole, { reader, options, isWhole: true })).filled;
}

/** The result with its bytes; or `whole`, the answer that one of its items stands for. */
async function fillItems(
  result: CallToolResult,
  { reader, options, isWhole = false }: {
    readonly reader: BlobReader;
    readonly options: FillOptions;
    readonly isWhole?: boolean;
  },
): Promise<{ filled: CallToolResult; whole?: CallToolResult }> {
  let filled: CallToolResult = { ...result, content: [] };
  for (const item of result.content) {
    const mark = markOf(item);
    const isFollowed = mark !== undefined && !(isWhole && mark.meta[A2C_ANSWER] === true);
    const change = !isFollowed ? undefined : await fetchPart(mark, {
      reader,
      options,
      use: (bytes) => fillItem(item, { ...mark, bytes, onFlaw: options.onFlaw }),
    });
    if (change?.answer !== undefined) return { filled, whole: change.answer };
    if (change !== undefined && "structuredContent" in change) filled = { ...filled, ...change };
    else filled.content.push(change?.item ?? item);
  }
  return { filled };
}

/** Replaces blob handles in contents by the bytes. An item whose bytes cannot be fetched keeps its handle. */
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

/** Replaces blob handles in a prompt by the bytes. A message whose bytes cannot be fetched keeps its handle. */
export async function fillPrompt(prompt: GetPromptRet, options: FillOptions): Promise<GetPromptRet> {
  const reader = new BlobReader(options);
  const messages: PromptMessage[] = [];
  for (const message of prompt.messages) {
    const mark = markOf(message.content);
    const content = mark === undefined ? undefined : await fetchPart(mark, {
      reader,
      options,
      use: (bytes) => fillMessage(message.content, { ...mark, bytes, onFlaw: options.onFlaw }),
    });
    if (content !== undefined && "messages" in content) return content;
    messages.push(content === undefined ? message : { ...message, content });
  }
  return { ...prompt, messages };
}

/** The content with its bytes, or the whole prompt. */
function fillMessage(content: ContentItem, blob: FetchedBlob): ContentItem | GetPromptRet {
  if (blob.meta[A2C_ANSWER] === true) return parseGetPromptRet(toJson(blob), blob.onFlaw);
  const { item } = fillItem(content, blob);
  if (item === undefined) throw broken(blob.handle, "not the content of a message");
  return item;
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

/** The bytes of a blob, and the item that they belong to. */
interface FetchedBlob extends Mark {
  readonly bytes: Uint8Array;
  readonly onFlaw: OnFlaw | undefined;
}

/** The replacement of an item: another item, the result's structured content, or the whole result. */
interface ItemChange {
  readonly item?: ContentItem;
  readonly structuredContent?: unknown;
  readonly answer?: CallToolResult;
}

function fillItem(item: ContentItem, blob: FetchedBlob): ItemChange {
  const { meta, bytes } = blob;
  if (meta[A2C_ANSWER] === true) return { answer: parseCallToolResult(toJson(blob), blob.onFlaw) };
  if (meta[A2C_STRUCTURED_CONTENT] === true) return { structuredContent: toJson(blob) };
  if (item.type === "unknown") throw broken(blob.handle, "unknown type of item");
  const { _meta, ...rest } = item;
  const others = withoutBlobKeys(meta);
  const own = others === undefined ? {} : { _meta: others };
  if (meta[A2C_TEXT] === true) {
    const { annotations } = rest;
    const hints = annotations === undefined ? {} : { annotations };
    return { item: { type: "text", text: toText(blob), ...hints, ...own } };
  }
  if (rest.type === "resource") {
    return { item: { ...rest, resource: toResource(rest.resource, blob), ...own } };
  }
  if (rest.type === "image" || rest.type === "audio") {
    return { item: { ...rest, data: bytes.toBase64(), ...own } };
  }
  throw broken(blob.handle, `an item of type "${rest.type}" cannot hold bytes`);
}

function toResource(resource: ResourceContents, blob: FetchedBlob): ResourceContents {
  if (blob.meta[A2C_RESOURCE_TEXT] !== true) return { ...resource, blob: blob.bytes.toBase64() };
  const { blob: _blob, ...rest } = resource;
  return { ...rest, text: toText(blob) };
}

function fillPiece(piece: ResourceContents, blob: FetchedBlob): ResourceContents | ReadResourceRet {
  const { meta } = blob;
  if (meta[A2C_ANSWER] === true) return parseReadResourceRet(toJson(blob), blob.onFlaw);
  const { _meta, blob: _blob, ...rest } = piece;
  const others = withoutBlobKeys(meta);
  const own = others === undefined ? {} : { _meta: others };
  return meta[A2C_TEXT] === true
    ? { ...rest, text: toText(blob), ...own }
    : { ...rest, blob: blob.bytes.toBase64(), ...own };
}

function toText({ handle, bytes }: FetchedBlob): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw broken(handle, "the bytes are not UTF-8", cause);
  }
}

function toJson(blob: FetchedBlob): unknown {
  const text = toText(blob);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw broken(blob.handle, "the bytes are not JSON", cause);
  }
}

/** The size of a chunk to request, in bytes: the maximum of the reference Computer. */
export const BLOB_CHUNK_BYTES = 256 * 1024;
/** The default of `AgentOptions.maxBlobBytes`. */
export const DEFAULT_MAX_BLOB_BYTES = 64 * 1024 * 1024;
/** The default of `AgentOptions.blobTimeoutMs`. */
export const DEFAULT_BLOB_TIMEOUT_MS = 300_000;
/** The most chunks to request for one answer: a Computer may send tiny chunks. */
export const MAX_BLOB_CHUNKS = 10_000;
/** How often a blob is fetched from its start because it changed meanwhile. */
const MAX_ATTEMPTS = 3;

/** Requests the chunk of `handle` that starts at byte `offset`. */
export type FetchChunk = (handle: string, offset: number) => Promise<GetBlobRet>;

/** How blobs are fetched. */
export interface BlobReaderOptions {
  readonly fetchChunk: FetchChunk;
  /** The limit for all blobs of one answer together. */
  readonly maxBytes: number;
}

/** The bytes of a blob, and the checksum that its chunks announced. */
interface Download {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly sha256: string;
}

/** Fetches the blobs of one answer, within limits for all of them together. */
export class BlobReader {
  readonly #fetch: FetchChunk;
  readonly #maxBytes: number;
  #freeBytes: number;
  #chunks = 0;

  constructor({ fetchChunk, maxBytes }: BlobReaderOptions) {
    this.#fetch = fetchChunk;
    this.#maxBytes = maxBytes;
    this.#freeBytes = maxBytes;
  }

  /**
   * Fetches all bytes of a blob.
   *
   * @param sha256 The checksum in the answer; that of the chunks by default.
   * @throws {SmcpError} 413 when it is too large, 4018 when its bytes do not match its size or checksum.
   */
  async read(handle: string, sha256?: string): Promise<Uint8Array<ArrayBuffer>> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const download = await this.#download(handle);
      if (download === undefined) continue;
      const expected = sha256 ?? download.sha256;
      if (await sha256Of(download.bytes) !== expected.toLowerCase()) continue;
      this.#freeBytes -= download.bytes.byteLength;
      return download.bytes;
    }
    throw broken(handle, `the bytes do not match the checksum after ${MAX_ATTEMPTS} attempts`);
  }

  /** Fetches all chunks once; `undefined` when the blob changed meanwhile. Allocates memory only for received bytes. */
  async #download(handle: string): Promise<Download | undefined> {
    const first = await this.#next(handle, 0);
    const { total_size: total, sha256 } = first;
    if (total > this.#freeBytes) throw this.#tooLarge(handle, total);
    const parts: Uint8Array[] = [];
    let offset = 0;
    for (let chunk = first;; chunk = await this.#next(handle, offset)) {
      if (chunk.total_size !== total || chunk.sha256 !== sha256) return undefined;
      const part = decodeBase64(handle, chunk.blob);
      if (chunk.chunk_offset !== offset) {
        throw broken(handle, `the chunk for offset ${offset} has offset ${chunk.chunk_offset}`);
      }
      if (offset + part.byteLength > total) throw broken(handle, "it is longer than its total_size");
      parts.push(part);
      offset += part.byteLength;
      if (offset === total) return { bytes: joined(parts, total), sha256: sha256.toLowerCase() };
      if (chunk.eof || part.byteLength === 0) {
        throw broken(handle, `it ends after ${offset} of ${total} bytes`);
      }
    }
  }

  #next(handle: string, offset: number): Promise<GetBlobRet> {
    if (++this.#chunks > MAX_BLOB_CHUNKS) {
      throw broken(handle, `it has more than ${MAX_BLOB_CHUNKS} chunks`);
    }
    return this.#fetch(handle, offset);
  }

  #tooLarge(handle: string, size: number): SmcpError {
    const message = `Cannot fetch blob "${handle}": it has ${size} bytes, and ` +
      `${this.#freeBytes} of the ${this.#maxBytes} allowed for an answer are left (maxBlobBytes)`;
    return new SmcpError(ErrorCode.PAYLOAD_TOO_LARGE, message, { details: { size, limit: this.#freeBytes } });
  }
}

/** A 4018 for a blob that cannot be fetched. */
export function broken(handle: string, why: string, cause?: unknown): SmcpError {
  return new SmcpError(ErrorCode.BLOB_NOT_ACCESSIBLE, `Cannot fetch blob "${handle}": ${why}`, { cause });
}

function joined(parts: readonly Uint8Array[], total: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(total);
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.byteLength;
  }
  return bytes;
}

function decodeBase64(handle: string, text: string): Uint8Array {
  try {
    return Uint8Array.fromBase64(text);
  } catch (cause) {
    throw broken(handle, "a chunk is not base64", cause);
  }
}

/** The SHA-256 of bytes, in hexadecimal. */
export async function sha256Of(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}
