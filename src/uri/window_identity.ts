/** Which listed spellings are one window, and what of a spelling is shown. */
import { splitUri } from "./_segments.ts";
import { buildWindowUri } from "./window_uri.ts";

/** Spelled exactly as `buildWindowUri` would, so it is its own identity. */
const CANONICAL = /^window:\/\/[a-z0-9._~:-]+(?:\/[A-Za-z0-9._~-]+)*$/;

/**
 * One text for all spellings of a window: two URIs with the same host and path have the same identity, whatever
 * their query, encoding or trailing slash.
 *
 * Specification: `docs/protocol/desktop.md#window-identity`.
 *
 * @returns the window's URI in its canonical spelling, or `undefined` when `raw` is no window URI
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { windowIdentity } from "@a2c-smcp/sdk";
 *
 * assertEquals(windowIdentity("window://Host/a%62/?priority=80"), "window://host/ab");
 * assertEquals(windowIdentity("https://host/ab"), undefined);
 * ```
 */
export function windowIdentity(raw: string): string | undefined {
  if (CANONICAL.test(raw)) return raw;
  const parts = splitUri(raw, "window");
  return typeof parts === "string" ? undefined : buildWindowUri({ host: parts.host, path: parts.segments });
}

/** The query that parsing `raw` drops, without its `?`; `undefined` when there is none. */
export function windowQueryOf(raw: string): string | undefined {
  const start = raw.indexOf("?");
  return start < 0 ? undefined : raw.slice(start + 1);
}

/** The URI as it was listed, up to its query. */
export function withoutQuery(raw: string): string {
  const start = raw.indexOf("?");
  return start < 0 ? raw : raw.slice(0, start);
}
