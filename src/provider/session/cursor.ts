/** Cursors of `resources/list`: opaque to clients, and the same in every session. */
import { isRecord } from "../../json.ts";
import { invalidCursor, type ListPosition, readPosition } from "./list.ts";

/** Where a page begins: in the list of the SDK's own handler, or in ours, which comes after it. */
export type Cursor =
  | { readonly of: "sdk"; readonly cursor: string | undefined }
  | { readonly of: "published"; readonly position: ListPosition };

/** The first page. */
const START: Cursor = { of: "sdk", cursor: undefined };

/** Writes a cursor. */
export function writeCursor(cursor: Cursor): string {
  const json = JSON.stringify(cursor.of === "sdk" ? { sdk: cursor.cursor } : cursor.position);
  return btoa(encodeURIComponent(json));
}

/**
 * Reads a client's `cursor`; without one it is the first page.
 *
 * @throws {RpcError} -32602 when it is none of ours
 */
export function readCursor(cursor: unknown): Cursor {
  if (cursor === undefined || cursor === null) return START;
  const value = typeof cursor === "string" ? decode(cursor) : undefined;
  if (isRecord(value) && typeof value["sdk"] === "string") return { of: "sdk", cursor: value["sdk"] };
  const position = readPosition(value);
  if (position === undefined) throw invalidCursor();
  return { of: "published", position };
}

function decode(cursor: string): unknown {
  try {
    return JSON.parse(decodeURIComponent(atob(cursor)));
  } catch {
    return undefined;
  }
}
