/** `client:get_blob`. */
import { parseGetBlobReq } from "../../protocol/parse.ts";
import type { GetBlobRet } from "../../protocol/resources.ts";
import { MAX_CHUNK_BYTES, type OfficeBlobs } from "../office/blob_store.ts";

/** What an answer has beside its chunk: the members, the handle and the request's id. */
const ENVELOPE_BYTES = 4_096;

/** Answers with a chunk that fits into one message of `maxAnswerBytes`. */
export function handleGetBlob(blobs: OfficeBlobs, body: unknown, maxAnswerBytes: number): GetBlobRet {
  const { blob_handle: handle, chunk_offset: offset = 0, max_chunk_bytes, req_id } = parseGetBlobReq(body);
  // Base64 takes four bytes for three.
  const roomBytes = Math.floor((maxAnswerBytes - ENVELOPE_BYTES) / 4) * 3;
  const wantedBytes = max_chunk_bytes === undefined || max_chunk_bytes <= 0
    ? MAX_CHUNK_BYTES
    : max_chunk_bytes;
  const maxBytes = Math.max(1, Math.min(wantedBytes, roomBytes));
  return { ...blobs.read({ handle, offset, maxBytes }), req_id };
}
