/** How a part of an answer that is fetched by itself is marked (`docs/protocol/calls-and-offices.md#handles`). */

/** In an item's `_meta`: what `client:get_blob` fetches its bytes by. */
export const A2C_BLOB_HANDLE = "a2c_blob_handle";
/** In an item's `_meta`: how many bytes there are. */
export const A2C_TOTAL_SIZE = "a2c_total_size";
/** In an item's `_meta`: the SHA-256 of the bytes, in hexadecimal. */
export const A2C_SHA256 = "a2c_sha256";
/** In an item's `_meta`: the bytes are UTF-8, and stand for a text item (in a read: for the text of the piece). */
export const A2C_TEXT = "a2c_text";
/** In an item's `_meta`: the bytes are UTF-8, and stand for the text of this embedded resource. */
export const A2C_RESOURCE_TEXT = "a2c_resource_text";
/** In an item's `_meta`: the bytes are JSON, and stand for the result's `structuredContent`. */
export const A2C_STRUCTURED_CONTENT = "a2c_structured_content";
/** In an item's `_meta`: the bytes are JSON, and stand for the whole answer. */
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

/** The metadata without what says how to fetch the item; `undefined` when nothing else is left. */
export function withoutBlobKeys(
  meta: Readonly<Record<string, unknown>>,
): Record<string, unknown> | undefined {
  const others = Object.entries(meta).filter(([key]) => !KEYS.has(key));
  return others.length === 0 ? undefined : Object.fromEntries(others);
}
