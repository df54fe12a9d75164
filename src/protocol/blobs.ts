/** The keys of a part of an answer that is fetched separately (`docs/protocol/calls-and-offices.md#handles`). */

/** In an item's `_meta`: the handle with which `client:get_blob` fetches the bytes. */
export const A2C_BLOB_HANDLE = "a2c_blob_handle";
/** In an item's `_meta`: the number of bytes. */
export const A2C_TOTAL_SIZE = "a2c_total_size";
/** In an item's `_meta`: the SHA-256 of the bytes, in hexadecimal. */
export const A2C_SHA256 = "a2c_sha256";
/** In an item's `_meta`: the bytes are the UTF-8 text of a text item, or of an item of a read. */
export const A2C_TEXT = "a2c_text";
/** In an item's `_meta`: the bytes are the UTF-8 text of this embedded resource. */
export const A2C_RESOURCE_TEXT = "a2c_resource_text";
/** In an item's `_meta`: the bytes are the JSON of the result's `structuredContent`. */
export const A2C_STRUCTURED_CONTENT = "a2c_structured_content";
/** In an item's `_meta`: the bytes are the JSON of the whole answer. */
export const A2C_ANSWER = "a2c_answer";

const KEYS: ReadonlySet<string> = new Set([
  A2C_BLOB_HANDLE,
  A2C_TOTAL_SIZE,
  A2C_SHA256,
  A2C_TEXT,
  A2C_RESOURCE_TEXT,
  A2C_STRUCTURED_CONTENT,
  A2C_ANSWER,
]);

/** Removes the keys of this module from metadata; `undefined` when no other key is left. */
export function withoutBlobKeys(
  meta: Readonly<Record<string, unknown>>,
): Record<string, unknown> | undefined {
  const others = Object.entries(meta).filter(([key]) => !KEYS.has(key));
  return others.length === 0 ? undefined : Object.fromEntries(others);
}
