/**
 * Empties a tool result of its large binaries, as peers of protocol 0.3 and later expect: each is kept as a blob, and its
 * item gets the handle (`docs/protocol/calls-and-offices.md#blobs`). Texts and structured content stay.
 */
import { isRecord } from "../../json.ts";
import type { BlobPart, OfficeBlobs } from "./blob_store.ts";
import { binaryOfItem, type Part } from "./large_answers.ts";

const MAX_INLINE_BYTES = 32_768;
const MAX_KEPT_BYTES = 100 * 1024 * 1024;
const MIN_BASE64_LENGTH = Math.floor(((MAX_INLINE_BYTES + 1) * 4 + 2) / 3);
const MAX_BASE64_LENGTH = Math.ceil(MAX_KEPT_BYTES / 3) * 4;

type Json = Readonly<Record<string, unknown>>;

/** Resolves to the result without its large binaries; to the result as it is when they cannot all be kept. */
export async function emptyBinaries(result: Json, blobs: OfficeBlobs): Promise<Json> {
  const content: unknown[] = Array.isArray(result["content"]) ? [...result["content"]] : [];
  const large = content.flatMap((item, index) =>
    largeBinary(item, (emptied) => void (content[index] = emptied)) ?? []
  );
  const leastBytes = large.reduce((sum, { sizeBytes }) => sum + Math.floor(sizeBytes / 4) * 3 - 2, 0);
  if (large.length === 0 || leastBytes > blobs.maxBytes) return result;
  const kept: (BlobPart & Pick<Part, "replace">)[] = [];
  for (const { mimeType, replace, toBytes } of large) {
    const bytes = await toBytes();
    const size = bytes?.byteLength ?? 0;
    if (bytes === undefined || size <= MAX_INLINE_BYTES || size > MAX_KEPT_BYTES) continue;
    kept.push({ bytes, mimeType, replace });
  }
  const marks = kept.length === 0 ? undefined : await blobs.keep(kept);
  if (marks === undefined) return result;
  for (const [index, { replace }] of kept.entries()) {
    const mark = marks[index];
    if (mark !== undefined) replace(mark);
  }
  return { ...result, content };
}

/** The binary of an item that may be large. An item whose `_meta` is not an object has no place for a handle. */
function largeBinary(item: unknown, replace: (emptied: Json) => void): Part | undefined {
  if (!isRecord(item) || !isRecord(item["_meta"] ?? {})) return undefined;
  const binary = binaryOfItem(item, replace);
  if (binary === undefined) return undefined;
  const { sizeBytes: length } = binary;
  return length >= MIN_BASE64_LENGTH && length <= MAX_BASE64_LENGTH ? binary : undefined;
}
