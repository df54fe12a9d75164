/** How deep the lists and objects of a message are nested: whoever reads it level by level must bear each of them. */
import { isRecord } from "../json.ts";
import type { SmcpError } from "./errors.ts";
import { unreadable } from "./schema.ts";
import { shorten } from "../text.ts";

/** The most levels of lists and objects in a member of a request's body; JSON readers of some languages take 1,000. */
export const MAX_REQUEST_DEPTH = 200;

/** How deep a whole message may be nested. Whoever walks through a value that is much deeper exhausts its stack. */
export const MAX_MESSAGE_DEPTH = 1_000;

/** How much of a member's name is told. */
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

/** Whether lists and objects are nested in more levels than that; looks no deeper. */
function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) return value.some((item) => isDeeperThan(item, levels - 1));
  for (const key in value) {
    if (isDeeperThan(Reflect.get(value, key), levels - 1)) return true;
  }
  return false;
}
