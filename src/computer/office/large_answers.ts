/**
 * Shrinks answers that are too large for one message: the largest parts are kept as blobs and replaced by handles, until
 * the rest fits (`docs/protocol/calls-and-offices.md#blobs`). The tool has already run, so its result must not be lost.
 */
import {
  A2C_ANSWER,
  A2C_RESOURCE_TEXT,
  A2C_STRUCTURED_CONTENT,
  A2C_TEXT,
  withoutBlobKeys,
} from "../../protocol/blobs.ts";
import { isRecord, LongText } from "../../json/json.ts";
import type { BlobMark, BlobPart, OfficeBlobs } from "./blob_store.ts";

const MIN_PART_BYTES = 1_024;
const MARK_BYTES = 512;
/** The sizes of binaries of a tool result that peers of protocol 0.3 and later fetch in any case. */
const MAX_INLINE_BYTES = 32_768;
const MAX_KEPT_BYTES = 100 * 1024 * 1024;
const MIN_BASE64_LENGTH = Math.floor(((MAX_INLINE_BYTES + 1) * 4 + 2) / 3);
const MAX_BASE64_LENGTH = Math.ceil(MAX_KEPT_BYTES / 3) * 4;

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
  readonly toBytes: () => Uint8Array<ArrayBuffer> | undefined;
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

/** Shrinks an answer; gives `undefined` when its parts cannot be kept. */
export function shrink(
  kind: LargeAnswer,
  answer: Json,
  { size, limit, blobs }: Oversize & { readonly blobs: OfficeBlobs },
): Json | undefined {
  const draft = DRAFTS[kind](answer);
  const chosen = choose(draft.parts, size - limit);
  const isOfCall = kind === "result";
  if (chosen !== undefined) return replaceAll(chosen, { blobs, isOfCall }) ? draft.answer : undefined;
  const whole = { bytes: encoder.encode(JSON.stringify(answer)), mimeType: "application/json" };
  const [mark] = blobs.keep([whole], { isOfCall }) ?? [];
  return mark === undefined ? undefined : draft.toWhole(mark);
}

type ChosenPart = BlobPart & Pick<Part, "replace">;

/** Keeps these parts and replaces them by their handles, or gives false when they cannot all be kept. */
function replaceAll(
  chosen: readonly ChosenPart[],
  { blobs, isOfCall }: { readonly blobs: OfficeBlobs; readonly isOfCall: boolean },
): boolean {
  const marks = blobs.keep(chosen, { isOfCall });
  for (const [index, mark] of marks?.entries() ?? []) chosen[index]?.replace(mark);
  return marks !== undefined;
}

/** Chooses the largest parts until the rest fits; `undefined` when the small parts and the metadata alone are too large. */
function choose(parts: readonly Part[], excessBytes: number): ChosenPart[] | undefined {
  const chosen: ChosenPart[] = [];
  let excess = excessBytes;
  for (const part of parts.toSorted((one, other) => other.sizeBytes - one.sizeBytes)) {
    if (excess <= 0 || part.sizeBytes < MIN_PART_BYTES) break;
    const bytes = part.toBytes();
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
      toBytes: () => encoder.encode(json),
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
 * item gets the handle. Texts and structured content stay. Gives the result as it is when they cannot all be kept.
 */
export function emptyBinaries(result: Json, blobs: OfficeBlobs): Json {
  const content: unknown[] = Array.isArray(result["content"]) ? [...result["content"]] : [];
  const large = content.flatMap((item, index) =>
    largeBinary(item, (emptied) => void (content[index] = emptied)) ?? []
  );
  const leastBytes = large.reduce((sum, { sizeBytes }) => sum + Math.floor(sizeBytes / 4) * 3 - 2, 0);
  if (large.length === 0 || leastBytes > blobs.maxBytes) return result;
  const kept: ChosenPart[] = [];
  for (const { mimeType, replace, toBytes } of large) {
    const bytes = toBytes();
    const size = bytes?.byteLength ?? 0;
    if (bytes === undefined || size <= MAX_INLINE_BYTES || size > MAX_KEPT_BYTES) continue;
    kept.push({ bytes, mimeType, replace });
  }
  return kept.length > 0 && replaceAll(kept, { blobs, isOfCall: true }) ? { ...result, content } : result;
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
    return { sizeBytes: bytes.length, mimeType, toBytes: () => bytes, replace };
  }
  // A lone surrogate has no UTF-8 encoding. Such a text is sent in the JSON of the whole answer, which escapes it.
  return {
    sizeBytes: text.length,
    mimeType,
    toBytes: () => text.isWellFormed() ? encoder.encode(text) : undefined,
    replace,
  };
}

function binaryPart(base64: string | LongText, mimeType: unknown, replace: Part["replace"]): Part {
  return {
    sizeBytes: base64 instanceof LongText ? base64.bytes.length : base64.length,
    mimeType: typeof mimeType === "string" ? mimeType : "application/octet-stream",
    toBytes: () => fromBase64(base64),
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

/** The bytes; `undefined` when the text is not base64. */
function fromBase64(base64: string | LongText): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.fromBase64(typeof base64 === "string" ? base64 : ascii.decode(base64.bytes));
  } catch {
    return undefined;
  }
}
