/** `window://host/segment…` (`docs/protocol/desktop.md#uri-form`). */
import { encodeText, refuseHost, refuseSegment, refuseText, splitUri } from "./_segments.ts";
import { excerpt } from "../text/text.ts";

const SCHEME = /^window:/i;

/** Whether `uri` has the scheme `window`, in any case; the rest of it may be invalid. */
export function hasWindowScheme(uri: string): boolean {
  return SCHEME.test(uri);
}

/** A parsed window URI, which identifies a window within its MCP server. */
export interface WindowUri {
  /** The namespace of the MCP server, in lower case. */
  readonly host: string;
  /** The decoded segments; a segment may contain a slash. */
  readonly path: readonly string[];
}

/**
 * Reads a window URI. Segments are percent-decoded one by one, so `c%2Fd` is one segment; `.` and `..` are
 * ordinary segments; one trailing slash and a query are dropped ({@linkcode windowQueryOf} returns the query).
 *
 * Specification: `docs/protocol/desktop.md#uri-form`.
 *
 * @param raw the URI as it was listed
 * @returns the host in lower case and the decoded segments
 * @throws {TypeError} when `raw` is not a window URI
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { parseWindowUri } from "@a2c-smcp/sdk";
 *
 * assertEquals(parseWindowUri("window://com.example.editor/src%2Fmain/file%20name"), {
 *   host: "com.example.editor",
 *   path: ["src/main", "file name"],
 * });
 * ```
 */
export function parseWindowUri(raw: string): WindowUri {
  const parts = splitUri(raw, "window");
  if (typeof parts === "string") throw new TypeError(`Cannot parse window URI ${excerpt(raw)}: ${parts}`);
  return { host: parts.host, path: parts.segments };
}

/**
 * Writes a window URI: the inverse of {@linkcode parseWindowUri}. Everything but unreserved characters is
 * percent-encoded in the segments.
 *
 * Specification: `docs/protocol/desktop.md#uri-examples`.
 *
 * @param uri the host, which is written in lower case, and the segments without percent-encoding; none by default
 * @throws {TypeError} when the host is invalid, or a segment is empty or contains a lone surrogate
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { buildWindowUri } from "@a2c-smcp/sdk";
 *
 * assertEquals(
 *   buildWindowUri({ host: "com.example.editor", path: ["src/main", "file name"] }),
 *   "window://com.example.editor/src%2Fmain/file%20name",
 * );
 * assertEquals(buildWindowUri({ host: "com.example.logger" }), "window://com.example.logger");
 * ```
 */
export function buildWindowUri(uri: { readonly host: string; readonly path?: readonly string[] }): string {
  const refusal = refuseHost(uri.host) ?? refuseText(uri.host);
  if (refusal !== undefined) {
    throw new TypeError(`Cannot build window URI for host ${excerpt(uri.host)}: ${refusal}`);
  }
  let built = `window://${uri.host.toLowerCase()}`;
  for (const segment of uri.path ?? []) {
    const refusal = refuseSegment(segment);
    if (refusal !== undefined) {
      throw new TypeError(`Cannot build window URI with segment ${excerpt(segment)}: ${refusal}`);
    }
    built += `/${encodeText(segment)}`;
  }
  return built;
}

/** A spelling that `buildWindowUri` would write, which is its own identity. */
const CANONICAL = /^window:\/\/[a-z0-9._~:-]+(?:\/[A-Za-z0-9._~-]+)*$/;

/**
 * The same text for all spellings of a window: URIs with the same host and path have the same identity, regardless of
 * query, encoding and trailing slash.
 *
 * Specification: `docs/protocol/desktop.md#window-identity`.
 *
 * @returns the window's URI in its canonical spelling, or `undefined` when `raw` is not a window URI
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

/** The query that parsing `raw` drops, without its `?`; `undefined` without a query. */
export function windowQueryOf(raw: string): string | undefined {
  const start = raw.indexOf("?");
  return start < 0 ? undefined : raw.slice(start + 1);
}

/** The URI as it was listed, without its query. */
export function withoutQuery(raw: string): string {
  const start = raw.indexOf("?");
  return start < 0 ? raw : raw.slice(0, start);
}
