/**
 * Shrinks answers that are too large for one message: the largest parts are kept as blobs and replaced by handles, until
 * the rest fits (`docs/protocol/calls-and-offices.md#blobs`). The tool has already run, so its result must not be lost.
 */
import { runInTurns } from "../../async/turns.ts";
import {
  A2C_ANSWER,
  A2C_RESOURCE_TEXT,
  A2C_STRUCTURED_CONTENT,
  A2C_TEXT,
  withoutBlobKeys,
} from "../../protocol/blobs.ts";
import { isRecord } from "../../json/json.ts";
import { LongText } from "../../json/long_text.ts";
import type { BlobMark, BlobPart, OfficeBlobs } from "./blob_store.ts";

const MIN_PART_BYTES = 1_024;
const MARK_BYTES = 512;
/** The sizes of binaries of a tool result that peers of protocol 0.3 and later fetch in any case. */
const MAX_INLINE_BYTES = 32_768;
const MAX_KEPT_BYTES = 100 * 1024 * 1024;
const MIN_BASE64_LENGTH = Math.floor(((MAX_INLINE_BYTES + 1) * 4 + 2) / 3);
const MAX_BASE64_LENGTH = Math.ceil(MAX_KEPT_BYTES / 3) * 4;

/** How much of a text is encoded before other work of the process runs, in UTF-16 units. */
const PIECE_LENGTH = 1_048_576;

const encoder = new TextEncoder();
const ascii = new TextDecoder("latin1");

export interface Oversize {
  readonly size: number;
  readonly limit: number;
}

type Json = Readonly<Record<string, unknown>>;

/** A part of an answer that can be fetched separately. */
interface Part {
  /** The approximate bytes in the message; a text may take up to three times as many. */
  readonly sizeBytes: number;
  readonly mimeType: string;
  /** Returns the bytes; `undefined` when they cannot be encoded or decoded. */
  readonly toBytes: () => Promise<Uint8Array<ArrayBuffer> | undefined>;
  readonly replace: (mark: BlobMark) => void;
}

interface Draft {
  readonly answer: Json;
  readonly parts: readonly Part[];
  /** Builds the answer whose whole content is one blob. */
  readonly toWhole: (mark: BlobMark) => Json;
}

const DRAFTS = { result: draftOfResult, read: draftOfRead, prompt: draftOfPrompt };

export type LargeAnswer = keyof typeof DRAFTS;

/** Shrinks an answer; resolves to `undefined` when its parts cannot be kept. */
export async function shrink(
  kind: LargeAnswer,
  answer: Json,
  { size, limit, blobs }: Oversize & { readonly blobs: OfficeBlobs },
): Promise<Json | undefined> {
  const draft = DRAFTS[kind](answer);
  const chosen = await choose(draft.parts, size - limit);
  if (chosen !== undefined) return await replaceAll(chosen, blobs) ? draft.answer : undefined;
  const whole = { bytes: await utf8(JSON.stringify(answer)), mimeType: "application/json" };
  const [mark] = await blobs.keep([whole]) ?? [];
  return mark === undefined ? undefined : draft.toWhole(mark);
}

type ChosenPart = BlobPart & Pick<Part, "replace">;

/** Keeps these parts and replaces them by their handles; resolves to false when they cannot all be kept. */
async function replaceAll(chosen: readonly ChosenPart[], blobs: OfficeBlobs): Promise<boolean> {
  const marks = await blobs.keep(chosen);
  for (const [index, mark] of marks?.entries() ?? []) chosen[index]?.replace(mark);
  return marks !== undefined;
}

/** Chooses the largest parts until the rest fits; `undefined` when the small parts and the metadata alone are too large. */
async function choose(parts: readonly Part[], excessBytes: number): Promise<ChosenPart[] | undefined> {
  const chosen: ChosenPart[] = [];
  let excess = excessBytes;
  for (const part of parts.toSorted((one, other) => other.sizeBytes - one.sizeBytes)) {
    if (excess <= 0 || part.sizeBytes < MIN_PART_BYTES) break;
    const bytes = await part.toBytes();
    if (bytes === undefined) continue;
    chosen.push({ bytes, mimeType: part.mimeType, replace: part.replace });
    excess -= Math.max(part.sizeBytes, bytes.byteLength) - MARK_BYTES;
  }
  return excess <= 0 ? chosen : undefined;
}

function draftOfResult(result: Json): Draft {
  const content: unknown[] = Array.isArray(result["content"]) ? [...result["content"]] : [];
  const answer: Record<string, unknown> = { ...result, content };
  const parts = content.flatMap((item, index) =>
    isRecord(item) ? partsOfItem(item, (replacement) => void (content[index] = replacement)) : []
  );
  const { structuredContent } = result;
  if (typeof structuredContent === "object" && structuredContent !== null) {
    const json = JSON.stringify(structuredContent);
    parts.push({
      sizeBytes: json.length,
      mimeType: "application/json",
      toBytes: () => utf8(json),
      replace(mark) {
        delete answer["structuredContent"];
        content.push(markedResource("structured-content", "application/json", {
          ...mark,
          [A2C_STRUCTURED_CONTENT]: true,
        }));
      },
    });
  }
  const { isError } = result;
  return {
    answer,
    parts,
    toWhole: (mark) => ({
      content: [markedResource("answer", "application/json", { ...mark, [A2C_ANSWER]: true })],
      isError: isError === true,
      meta: null,
    }),
  };
}

function partsOfItem(item: Json, replace: (replacement: Json) => void): Part[] {
  const { text, resource } = item;
  if (item["type"] === "text" && isText(text)) {
    return [textPart(text, "text/plain", (mark) => {
      const { text: _text, type: _type, _meta, ...rest } = item;
      replace({
        ...rest,
        ...markedResource("text", "text/plain", metaWith(_meta, { ...mark, [A2C_TEXT]: true })),
      });
    })];
  }
  const binary = binaryOfItem(item, replace);
  if (binary !== undefined) return [binary];
  if (!isRecord(resource)) return [];
  const own = resource["mimeType"];
  if (!isText(resource["text"])) return [];
  return [textPart(resource["text"], typeof own === "string" ? own : "text/plain", (mark) => {
    const { text: _text, ...rest } = resource;
    const _meta = metaWith(item["_meta"], { ...mark, [A2C_RESOURCE_TEXT]: true });
    replace({ ...item, resource: { ...rest, blob: "" }, _meta });
  })];
}

/** The bytes of an item of content: an image or sound, or an embedded resource. */
function binaryOfItem(item: Json, replace: (replacement: Json) => void): Part | undefined {
  const { data, resource, mimeType, _meta } = item;
  if (isText(data)) {
    return binaryPart(data, mimeType, (mark) => replace({ ...item, data: "", _meta: metaWith(_meta, mark) }));
  }
  if (!isRecord(resource) || !isText(resource["blob"])) return undefined;
  return binaryPart(
    resource["blob"],
    resource["mimeType"],
    (mark) => replace({ ...item, resource: { ...resource, blob: "" }, _meta: metaWith(_meta, mark) }),
  );
}

/**
 * Empties a tool result of its large binaries, as peers of protocol 0.3 and later expect: each is kept as a blob, and its
 * item gets the handle. Texts and structured content stay. Resolves to the result as it is when they cannot all be kept.
 */
export async function emptyBinaries(result: Json, blobs: OfficeBlobs): Promise<Json> {
  const content: unknown[] = Array.isArray(result["content"]) ? [...result["content"]] : [];
  const large = content.flatMap((item, index) =>
    largeBinary(item, (emptied) => void (content[index] = emptied)) ?? []
  );
  const leastBytes = large.reduce((sum, { sizeBytes }) => sum + Math.floor(sizeBytes / 4) * 3 - 2, 0);
  if (large.length === 0 || leastBytes > blobs.maxBytes) return result;
  const kept: ChosenPart[] = [];
  for (const { mimeType, replace, toBytes } of large) {
    const bytes = await toBytes();
    const size = bytes?.byteLength ?? 0;
    if (bytes === undefined || size <= MAX_INLINE_BYTES || size > MAX_KEPT_BYTES) continue;
    kept.push({ bytes, mimeType, replace });
  }
  return kept.length > 0 && await replaceAll(kept, blobs) ? { ...result, content } : result;
}

/** The binary of an item that may be large. An item whose `_meta` is not an object has no place for a handle. */
function largeBinary(item: unknown, replace: (emptied: Json) => void): Part | undefined {
  if (!isRecord(item) || !isRecord(item["_meta"] ?? {})) return undefined;
  const binary = binaryOfItem(item, replace);
  if (binary === undefined) return undefined;
  const { sizeBytes: length } = binary;
  return length >= MIN_BASE64_LENGTH && length <= MAX_BASE64_LENGTH ? binary : undefined;
}

function draftOfPrompt(prompt: Json): Draft {
  const messages: unknown[] = Array.isArray(prompt["messages"]) ? [...prompt["messages"]] : [];
  const parts = messages.flatMap((message, index) =>
    isRecord(message) && isRecord(message["content"])
      ? partsOfItem(message["content"], (content) => void (messages[index] = { ...message, content }))
      : []
  );
  return {
    answer: { ...prompt, messages },
    parts,
    toWhole(mark) {
      const content = markedResource("answer", "application/json", { ...mark, [A2C_ANSWER]: true });
      return { messages: [{ role: "user", content }], req_id: prompt["req_id"] };
    },
  };
}

function draftOfRead(read: Json): Draft {
  const contents: unknown[] = Array.isArray(read["contents"]) ? [...read["contents"]] : [];
  const parts = contents.flatMap((piece, index) =>
    isRecord(piece) ? partsOfPiece(piece, (replacement) => void (contents[index] = replacement)) : []
  );
  return {
    answer: { ...read, contents },
    parts,
    toWhole(mark) {
      const { resource, _meta } = markedResource("answer", "application/json", {
        ...mark,
        [A2C_ANSWER]: true,
      });
      return { contents: [{ ...resource, _meta }], req_id: read["req_id"] };
    },
  };
}

function partsOfPiece(piece: Json, replace: (replacement: Json) => void): Part[] {
  const { text, blob, mimeType, _meta } = piece;
  if (typeof blob === "string") {
    return [
      binaryPart(blob, mimeType, (mark) => replace({ ...piece, blob: "", _meta: metaWith(_meta, mark) })),
    ];
  }
  if (typeof text !== "string") return [];
  return [textPart(text, typeof mimeType === "string" ? mimeType : "text/plain", (mark) => {
    const { text: _text, ...rest } = piece;
    replace({ ...rest, blob: "", _meta: metaWith(_meta, { ...mark, [A2C_TEXT]: true }) });
  })];
}

function isText(value: unknown): value is string | LongText {
  return typeof value === "string" || value instanceof LongText;
}

function textPart(text: string | LongText, mimeType: string, replace: Part["replace"]): Part {
  if (text instanceof LongText) {
    const { bytes } = text;
    return { sizeBytes: bytes.length, mimeType, toBytes: () => Promise.resolve(bytes), replace };
  }
  // A lone surrogate has no UTF-8 encoding. Such a text is sent in the JSON of the whole answer, which escapes it.
  return {
    sizeBytes: text.length,
    mimeType,
    toBytes: () => text.isWellFormed() ? utf8(text) : Promise.resolve(undefined),
    replace,
  };
}

function binaryPart(base64: string | LongText, mimeType: unknown, replace: Part["replace"]): Part {
  return {
    sizeBytes: base64 instanceof LongText ? base64.bytes.length : base64.length,
    mimeType: typeof mimeType === "string" ? mimeType : "application/octet-stream",
    toBytes: () => runInTurns(fromBase64(base64)),
    replace,
  };
}

/** An embedded resource without bytes, which every peer since SDK 0.2.2 fetches. */
function markedResource(name: string, mimeType: string, _meta: Json) {
  return { type: "resource", resource: { uri: `a2c-blob:///${name}`, mimeType, blob: "" }, _meta };
}

/** A mark of the MCP server's own is left out: it would say that these bytes are something else. */
function metaWith(meta: unknown, mark: Json): Json {
  return { ...(isRecord(meta) ? withoutBlobKeys(meta) : {}), ...mark };
}

/** Encodes in several turns of the event loop, because 30 MiB take a tenth of a second. */
function utf8(text: string): Promise<Uint8Array<ArrayBuffer>> {
  return runInTurns(writeUtf8(text));
}

function* writeUtf8(text: string): Generator<void, Uint8Array<ArrayBuffer>> {
  let bytes = new Uint8Array(text.length);
  let length = 0;
  for (let start = 0; start < text.length;) {
    yield;
    const piece = text.slice(start, wholeCharactersUpTo(text, start + PIECE_LENGTH));
    const { read, written } = encoder.encodeInto(piece, bytes.subarray(length));
    start += read;
    length += written;
    if (read === piece.length) continue;
    // The rest takes at most three bytes for each unit. The buffer grows in place where possible.
    bytes = new Uint8Array(bytes.buffer.transfer(length + 3 * (text.length - start)));
  }
  return length === bytes.length ? bytes : new Uint8Array(bytes.buffer.transfer(length));
}

/** The index, or the one before if the index is inside a character of two units. */
function wholeCharactersUpTo(text: string, end: number): number {
  const unit = text.charCodeAt(end - 1);
  return unit >= 0xd800 && unit < 0xdc00 ? end - 1 : end;
}

/** Decodes piece by piece; `undefined` when the text is not base64. */
function* fromBase64(base64: string | LongText): Generator<void, Uint8Array<ArrayBuffer> | undefined> {
  const length = base64 instanceof LongText ? base64.bytes.length : base64.length;
  const bytes = new Uint8Array(Math.ceil(length / 4) * 3);
  let written = 0;
  try {
    for (let start = 0; start < length;) {
      yield;
      const end = start + PIECE_LENGTH;
      const piece = base64 instanceof LongText
        ? ascii.decode(base64.bytes.subarray(start, end))
        : base64.slice(start, end);
      const isLast = end >= length;
      const step = bytes.subarray(written).setFromBase64(piece, {
        lastChunkHandling: isLast ? "loose" : "stop-before-partial",
      });
      written += step.written;
      if (step.read === 0 && !isLast) return undefined;
      start = isLast ? length : start + step.read;
    }
  } catch {
    return undefined;
  }
  return new Uint8Array(bytes.buffer.transfer(written));
}
