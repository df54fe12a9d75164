/** Messages for uploads of an Agent, since protocol 0.4 (`docs/protocol/versions.md#uploads`). */
import type { AgentCallAnswer, AgentCallData } from "./call.ts";

/**
 * `client:put_blob`: uploads a chunk of a file. The first chunk declares the file and has no `upload_id`; further chunks
 * have the `upload_id` of its answer and no declaration.
 */
export interface PutBlobReq extends AgentCallData {
  /** The name of the Computer. */
  computer: string;
  /** The upload that this chunk continues; absent in the first chunk. */
  upload_id?: string;
  /** The offset of the chunk, in bytes: as many as were sent before. */
  chunk_offset: number;
  /** Whether this is the last chunk. */
  eof: boolean;
  /** The bytes of the chunk, in base64. */
  blob: string;
  /** The size of the file in bytes, at least 1; only in the first chunk. */
  total_size?: number;
  /** The SHA-256 of the file, in 64 lower-case hexadecimal digits; only in the first chunk. */
  sha256?: string;
  /** What the name of the file on the Computer ends with, as far as its characters are allowed; only in the first chunk. */
  name_hint?: string;
}

/** The answer to `client:put_blob`. */
export interface PutBlobRet extends AgentCallAnswer {
  /** The upload. */
  upload_id: string;
  /** The offset of the chunk, in bytes. */
  chunk_offset?: number;
  /** The absolute path of the file on the Computer; only in the answer to the last chunk. */
  landing_path?: string;
  /** The size of the file in bytes; only in the answer to the last chunk. */
  total_size?: number;
  /** The SHA-256 of the file, in hexadecimal; only in the answer to the last chunk. */
  sha256?: string;
}
