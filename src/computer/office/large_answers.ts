/**
 * Answers that are too large for one message: their largest parts are kept, and leave a handle in their place, until
 * the rest fits (`docs/protocol/calls-and-offices.md#blobs`). What a tool has done is done: its result must not be lost.
 */
import { runInTurns } from "../../async/turns.ts";
import { A2C_ANSWER, A2C_RESOURCE_TEXT, A2C_STRUCTURED_CONTENT, A2C_TEXT } from "../../protocol/blobs.ts";
import { isRecord } from "../../json.ts";
import { LongText } from "../../protocol/long_text.ts";
import type { BlobMark, BlobPart, OfficeBlobs } from "./blob_store.ts";

/** Bytes below which a part is not worth a request of its own. */
const MIN_PART_BYTES = 1_024;
/** What a handle and what goes with it takes in a message, at most. */
const MARK_BYTES = 512;

/** How much of a text is turned into bytes at a time, in UTF-16 units. */
const PIECE_LENGTH = 1_048_576;

const encoder = new TextEncoder();
const ascii = new TextDecoder("latin1");

/** How much is too much. */
export interface Oversize {
  /** The answer in bytes. */
  readonly size: number;
  /** What the connection takes. */
  readonly limit: number;
}

type Json = Readonly<Record<string, unknown>>;

/** A part of an answer that can be fetched by itself. */
interface Part {
  /** About how many bytes of the message it takes; a text may take up to three times as many. */
  readonly sizeBytes: number;
  readonly mimeType: string;
  /** Its bytes; `undefined` when it has none after all. */
  readonly toBytes: () => Promise<Uint8Array<ArrayBuffer> | undefined>;
  /** Puts the handle in its place. */
  readonly replace: (mark: BlobMark) => void;
}

/** An answer that is being made smaller, and its parts. */
interface Draft {
  readonly answer: Json;
  readonly parts: readonly Part[];
  /** The answer that is fetched as a whole. */
  readonly toWhole: (mark: BlobMark) => Json;
}

/** A tool result that fits; `undefined` when what does not fit cannot be kept. */
export function shrinkResult(
  result: Json,
  oversize: Oversize,
  blobs: OfficeBlobs,
): Promise<Json | undefined> {
  return shrink(result, oversize, { blobs, draftOf: draftOfResult });
}

/** The answer to a read that fits; `undefined` when what does not fit cannot be kept. */
export function shrinkRead(answer: Json, oversize: Oversize, blobs: OfficeBlobs): Promise<Json | undefined> {
  return shrink(answer, oversize, { blobs, draftOf: draftOfRead });
}

async function shrink(
  answer: Json,
  { size, limit }: Oversize,
  { blobs, draftOf }: { readonly blobs: OfficeBlobs; readonly draftOf: (answer: Json) => Draft },
): Promise<Json | undefined> {
  const draft = draftOf(answer);
  const chosen = await choose(draft.parts, size - limit);
  if (chosen === undefined) {
    const [mark] =
      await blobs.keep([{ bytes: await utf8(JSON.stringify(answer)), mimeType: "application/json" }]) ?? [];
    return mark === undefined ? undefined : draft.toWhole(mark);
  }
  const marks = await blobs.keep(chosen);
  if (marks === undefined) return undefined;
  for (const [index, { replace }] of chosen.entries()) {
    const mark = marks[index];
    if (mark !== undefined) replace(mark);
  }
  return draft.answer;
}

/** The largest parts, until the rest fits; `undefined` when it does not: too many small ones, or large metadata. */
async function choose(
  parts: readonly Part[],
  excessBytes: number,
): Promise<(BlobPart & Pick<Part, "replace">)[] | undefined> {
  const chosen: (BlobPart & Pick<Part, "replace">)[] = [];
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
  const { text, data, resource, mimeType } = item;
  if (item["type"] === "text" && isText(text)) {
    return [textPart(text, "text/plain", (mark) => {
      const { text: _text, type: _type, _meta, ...rest } = item;
      replace({
        ...rest,
        ...markedResource("text", "text/plain", metaWith(_meta, { ...mark, [A2C_TEXT]: true })),
      });
    })];
  }
  if (isText(data)) {
    return [
      binaryPart(
        data,
        mimeType,
        (mark) => replace({ ...item, data: "", _meta: metaWith(item["_meta"], mark) }),
      ),
    ];
  }
  if (!isRecord(resource)) return [];
  const own = resource["mimeType"];
  if (isText(resource["blob"])) {
    return [
      binaryPart(
        resource["blob"],
        own,
        (mark) =>
          replace({ ...item, resource: { ...resource, blob: "" }, _meta: metaWith(item["_meta"], mark) }),
      ),
    ];
  }
  if (!isText(resource["text"])) return [];
  return [textPart(resource["text"], typeof own === "string" ? own : "text/plain", (mark) => {
    const { text: _text, ...rest } = resource;
    const _meta = metaWith(item["_meta"], { ...mark, [A2C_RESOURCE_TEXT]: true });
    replace({ ...item, resource: { ...rest, blob: "" }, _meta });
  })];
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
  // A lone surrogate has no UTF-8: such a text travels in the JSON of the whole answer, which escapes it.
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

/** What every peer since SDK 0.2.2 fetches: an embedded resource whose bytes are elsewhere. */
function markedResource(name: string, mimeType: string, _meta: Json) {
  return { type: "resource", resource: { uri: `a2c-blob:///${name}`, mimeType, blob: "" }, _meta };
}

function metaWith(meta: unknown, mark: Json): Json {
  return { ...(isRecord(meta) ? meta : {}), ...mark };
}

/** Long texts have several turns of the event loop: 30 MiB take a tenth of a second. */
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
    // Grows in the same memory where it can, by as much as the rest can take: three bytes for each unit.
    bytes = new Uint8Array(bytes.buffer.transfer(length + 3 * (text.length - start)));
  }
  return length === bytes.length ? bytes : new Uint8Array(bytes.buffer.transfer(length));
}

/** The same place in a text, or the one before where a character of two units would be cut. */
function wholeCharactersUpTo(text: string, end: number): number {
  const unit = text.charCodeAt(end - 1);
  return unit >= 0xd800 && unit < 0xdc00 ? end - 1 : end;
}

/** A piece at a time; `undefined` for what is not base64. */
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
