/** Limits how deeply lists and objects of a message are nested: recursive readers use stack for each level. */
import { isRecord } from "../json.ts";
import type { SmcpError } from "./errors.ts";
import { unreadable } from "./schema.ts";
import { shorten } from "../text.ts";

/** The most levels in a member of a request's body, and in an entry of a list of an MCP server. JSON readers of some languages accept at most 1,000. */
export const MAX_REQUEST_DEPTH = 200;

/** The most levels of a whole message of an MCP server. Much deeper values exhaust the stack of recursive functions. */
export const MAX_MESSAGE_DEPTH = 1_000;

/**
 * The most levels of an event or an ack that a Server passes on, its list of arguments included. The Socket.IO client of
 * Python loses packets of about 500 levels when it writes them, and of 1,000 when it reads them.
 */
export const MAX_RELAYED_DEPTH = 256;

const MAX_FIELD_LENGTH = 128;

/**
 * Throws a 400 {@linkcode SmcpError} whose `details.field` names the first member of a request's body that is nested
 * more than {@linkcode MAX_REQUEST_DEPTH} levels deep.
 */
export function assertShallow(body: unknown): void {
  if (!isRecord(body)) return;
  for (const field of Object.keys(body)) {
    if (isDeeperThan(body[field], MAX_REQUEST_DEPTH)) throw tooDeep(field);
  }
}

function tooDeep(field: string): SmcpError {
  return unreadable(
    "request",
    shorten(field, MAX_FIELD_LENGTH),
    `nested more than ${MAX_REQUEST_DEPTH} levels deep`,
  );
}

/**
 * Whether a value has more than `levels` levels of lists and objects. Bytes are one level: an object takes their place in the
 * JSON. Looks no deeper, and not into bytes.
 */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  if (ArrayBuffer.isView(value)) return false;
  if (Array.isArray(value)) return value.some((item) => isDeeperThan(item, levels - 1));
  for (const key in value) {
    if (isDeeperThan(Reflect.get(value, key), levels - 1)) return true;
  }
  return false;
}
