/** Fetches the parts that a Computer left out of a large answer, and inserts them (`docs/protocol/calls-and-offices.md#blobs`). */
import type { JsonCost } from "../json/cost.ts";
import { isRecord, MAX_RELAYED_DEPTH } from "../json/json.ts";
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
import type { AnswerReader, OnFlaw } from "../protocol/flaws.ts";
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

interface AnswerKind<Answer, Part> {
  readonly parse: AnswerReader<Answer>;
  readonly partsOf: (answer: Answer) => readonly Part[];
  /** What has the metadata of a part; the part itself by default. */
  readonly holderOf?: (part: Part) => object;
  readonly fill: (part: Part, blob: FetchedBlob) => Part | Promise<Part>;
  readonly withParts: (answer: Answer, parts: Part[]) => Answer;
}

interface Mark {
  readonly handle: string;
  readonly meta: Readonly<Record<string, unknown>>;
}

interface FetchedBlob extends Mark {
  readonly bytes: Uint8Array;
  readonly reader: BlobReader;
}

/** Stands in the place of an item of a tool result that was the result's structured content. */
interface StructuredContent {
  readonly structuredContent: unknown;
}

/** Replaces blob handles in a tool result by the bytes. An item whose bytes cannot be fetched keeps its handle. */
export function fillBlobs(result: CallToolResult, options: FillOptions): Promise<CallToolResult> {
  return fillAnswer<CallToolResult, ContentItem | StructuredContent>(result, {
    parse: parseCallToolResult,
    partsOf: ({ content }) => content,
    fill: async (item, blob) => {
      if (blob.meta[A2C_STRUCTURED_CONTENT] === true) return { structuredContent: await toJson(blob) };
      return "structuredContent" in item ? item : fillItem(item, blob);
    },
    withParts: (whole, parts) => ({
      ...whole,
      content: parts.flatMap((part) => "structuredContent" in part ? [] : [part]),
      ...parts.findLast((part) => "structuredContent" in part),
    }),
  }, options);
}

/** Replaces blob handles in contents by the bytes. An item whose bytes cannot be fetched keeps its handle. */
export function fillContents(result: ReadResourceRet, options: FillOptions): Promise<ReadResourceRet> {
  return fillAnswer<ReadResourceRet, ResourceContents>(result, {
    parse: parseReadResourceRet,
    partsOf: ({ contents }) => contents,
    fill: fillPiece,
    withParts: (whole, contents) => ({ ...whole, contents }),
  }, options);
}

/** Replaces blob handles in a prompt by the bytes. A message whose bytes cannot be fetched keeps its handle. */
export function fillPrompt(prompt: GetPromptRet, options: FillOptions): Promise<GetPromptRet> {
  return fillAnswer<GetPromptRet, PromptMessage>(prompt, {
    parse: parseGetPromptRet,
    partsOf: ({ messages }) => messages,
    holderOf: ({ content }) => content,
    fill: (message, blob) => ({ ...message, content: fillItem(message.content, blob) }),
    withParts: (whole, messages) => ({ ...whole, messages }),
  }, options);
}

async function fillAnswer<Answer, Part extends object>(
  answer: Answer,
  kind: AnswerKind<Answer, Part>,
  options: FillOptions & { readonly reader?: BlobReader },
): Promise<Answer> {
  const { partsOf, holderOf = (part) => part, fill, withParts } = kind;
  const { reader = new BlobReader(options), onFailure, onFlaw } = options;
  const parts: Part[] = [];
  for (const part of partsOf(answer)) {
    const mark = markOf(holderOf(part));
    // An answer that was a part itself may have handles of its own, but no further answer is followed.
    const isAnswer = mark?.meta[A2C_ANSWER] === true;
    let whole: Answer | undefined;
    let filled = part;
    if (mark !== undefined && !(isAnswer && options.reader !== undefined)) {
      try {
        const sha256 = mark.meta[A2C_SHA256];
        const bytes = await reader.read(mark.handle, typeof sha256 === "string" ? sha256 : undefined);
        const blob = { ...mark, bytes, reader };
        if (isAnswer) whole = kind.parse(await toJson(blob), onFlaw);
        else filled = await fill(part, blob);
      } catch (error) {
        onFailure(mark.handle, error);
      }
    }
    if (whole !== undefined) return await fillAnswer(whole, kind, { ...options, reader });
    parts.push(filled);
  }
  return withParts(answer, parts);
}

function markOf(holder: object): Mark | undefined {
  const meta = "_meta" in holder && isRecord(holder._meta) ? holder._meta : {};
  const handle = meta[A2C_BLOB_HANDLE];
  return typeof handle === "string" && handle !== "" ? { handle, meta } : undefined;
}

function fillItem(item: ContentItem, blob: FetchedBlob): ContentItem {
  const { meta, bytes } = blob;
  if (item.type === "unknown") throw broken(blob.handle, "unknown type of item");
  const { _meta, ...rest } = item;
  const own = ownMeta(meta);
  if (meta[A2C_TEXT] === true) {
    const { annotations } = rest;
    const hints = annotations === undefined ? {} : { annotations };
    return { type: "text", text: toText(blob), ...hints, ...own };
  }
  if (rest.type === "resource") return { ...rest, resource: toResource(rest.resource, blob), ...own };
  if (rest.type === "image" || rest.type === "audio") return { ...rest, data: bytes.toBase64(), ...own };
  throw broken(blob.handle, `an item of type "${rest.type}" cannot hold bytes`);
}

function toResource(resource: ResourceContents, blob: FetchedBlob): ResourceContents {
  if (blob.meta[A2C_RESOURCE_TEXT] !== true) return { ...resource, blob: blob.bytes.toBase64() };
  const { blob: _blob, ...rest } = resource;
  return { ...rest, text: toText(blob) };
}

function fillPiece(piece: ResourceContents, blob: FetchedBlob): ResourceContents {
  const { _meta, blob: _blob, ...rest } = piece;
  return blob.meta[A2C_TEXT] === true
    ? { ...rest, text: toText(blob), ...ownMeta(blob.meta) }
    : { ...rest, blob: blob.bytes.toBase64(), ...ownMeta(blob.meta) };
}

function ownMeta(meta: Mark["meta"]): { _meta?: Record<string, unknown> } {
  const others = withoutBlobKeys(meta);
  return others === undefined ? {} : { _meta: others };
}

function toText({ handle, bytes }: FetchedBlob): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw broken(handle, "the bytes are not UTF-8", cause);
  }
}

async function toJson(blob: FetchedBlob): Promise<unknown> {
  await blob.reader.weigh(blob.handle, blob.bytes);
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
const MAX_ATTEMPTS = 3;
/** The most values in the JSON of one answer, weighed by their cost: what a Computer reads of an MCP server by default. */
const MAX_BLOB_VALUES = 6_000_000;
const WEIGHED_BYTES = 64 * 1024;

export type FetchChunk = (handle: string, offset: number) => Promise<GetBlobRet>;

export interface BlobReaderOptions {
  readonly fetchChunk: FetchChunk;
  readonly maxBytes: number;
}

/** Fetches the blobs of one answer, within limits for all of them together. */
export class BlobReader {
  readonly #fetch: FetchChunk;
  readonly #maxBytes: number;
  #freeBytes: number;
  #chunks = 0;
  #cost: JsonCost | undefined;

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

  /**
   * Adds the cost of the JSON of a blob, before it is parsed. What weighs it is loaded here: few answers have such a blob.
   *
   * @throws {SmcpError} 413 when the JSON of the answer costs too much, or is nested too deeply.
   */
  async weigh(handle: string, bytes: Uint8Array): Promise<void> {
    const { JsonCost } = await import("../json/cost.ts");
    const cost = this.#cost ??= new JsonCost({ maxDepth: MAX_RELAYED_DEPTH });
    const refuse = (what: string, cause?: unknown) =>
      new SmcpError(ErrorCode.PAYLOAD_TOO_LARGE, `Cannot read blob "${handle}": its JSON ${what}`, { cause });
    cost.beginMessage();
    try {
      for (let start = 0; start < bytes.length && cost.values <= MAX_BLOB_VALUES; start += WEIGHED_BYTES) {
        cost.push(bytes.subarray(start, start + WEIGHED_BYTES));
      }
    } catch (cause) {
      throw refuse(`is nested more than ${MAX_RELAYED_DEPTH} levels deep`, cause);
    }
    if (cost.values > MAX_BLOB_VALUES) {
      throw refuse(`has more than ${MAX_BLOB_VALUES} values (weighed by their cost, for one answer)`);
    }
  }

  /** Fetches all chunks once; `undefined` when the blob changed meanwhile. Allocates memory only for received bytes. */
  async #download(
    handle: string,
  ): Promise<{ readonly bytes: Uint8Array<ArrayBuffer>; readonly sha256: string } | undefined> {
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

export async function sha256Of(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  // Node 22 and older browsers have no `toHex()`.
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
