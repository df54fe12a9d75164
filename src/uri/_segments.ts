/** The grammar that `window://` and `dpe://` share: scheme, host, percent-encoded segments, query. */

export type Scheme = "window" | "dpe";

/** Why a URI is invalid, as the end of a message. */
export type Refusal = string;

/** The parts of a URI: the host in lower case, the segments decoded, the query as it was written. */
export interface UriParts {
  readonly host: string;
  readonly segments: readonly string[];
  /** The text after the first `?`; `undefined` without a `?`. */
  readonly query: string | undefined;
}

// deno-lint-ignore no-control-regex -- control characters are what is refused
const REFUSED_ANYWHERE = /[\u0000-\u001f\u007f#]/;
// deno-lint-ignore no-control-regex -- control characters are what is refused
const NOT_IN_HOST = /[\u0000-\u0020\u007f-\u009f@%/?#]/;
const UNRESERVED = /^[A-Za-z0-9._~-]*$/;
const LEFT_BY_ENCODE_URI_COMPONENT = /[!'()*]/g;

const LONE_SURROGATE: Refusal = "it contains a lone surrogate";

/**
 * Splits a URI, or returns why it is invalid. The WHATWG `URL` class cannot be used: it resolves `.` and `..`, which are
 * ordinary segments here.
 */
export function splitUri(raw: string, scheme: Scheme): UriParts | Refusal {
  const start = hostStart(raw, scheme);
  if (start < 0) return `it does not start with "${scheme}://"`;
  if (!raw.isWellFormed()) return LONE_SURROGATE;
  if (REFUSED_ANYWHERE.test(raw)) return "it has a fragment or contains a control character";

  const queryStart = raw.indexOf("?", start);
  const end = queryStart < 0 ? raw.length : queryStart;
  const slash = raw.indexOf("/", start);
  const hostEnd = slash < 0 || slash > end ? end : slash;
  const host = raw.slice(start, hostEnd);
  const refusal = refuseHost(host);
  if (refusal !== undefined) return refusal;

  const segments = decodeSegments(raw.slice(hostEnd, end));
  if (typeof segments === "string") return segments;
  return {
    host: host.toLowerCase(),
    segments,
    query: queryStart < 0 ? undefined : raw.slice(queryStart + 1),
  };
}

/** Why `host` is invalid, or `undefined` when it is valid. */
export function refuseHost(host: string): Refusal | undefined {
  if (host === "") return "the host is empty";
  if (NOT_IN_HOST.test(host)) return "the host contains an invalid character";
  return undefined;
}

/** Why `text` is not a valid segment, or `undefined` when it is valid. */
export function refuseSegment(text: string): Refusal | undefined {
  return text === "" ? "a segment is empty" : refuseText(text);
}

/** Why `text` cannot be percent-encoded, or `undefined` when it can. */
export function refuseText(text: string): Refusal | undefined {
  return text.isWellFormed() ? undefined : LONE_SURROGATE;
}

/** Percent-encodes everything but RFC 3986's unreserved characters. `text` must be well-formed Unicode. */
export function encodeText(text: string): string {
  if (UNRESERVED.test(text)) return text;
  return encodeURIComponent(text).replace(LEFT_BY_ENCODE_URI_COMPONENT, encodeAsciiCharacter);
}

/** Percent-decodes `text`, or returns `undefined` when it is not percent-encoded UTF-8. */
export function decodeText(text: string): string | undefined {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function hostStart(raw: string, scheme: Scheme): number {
  const prefix = `${scheme}://`;
  const found = raw.startsWith(prefix) || raw.slice(0, prefix.length).toLowerCase() === prefix;
  return found ? prefix.length : -1;
}

/** Splits a path that is empty or starts with `/`. One trailing slash is ignored. */
function decodeSegments(path: string): readonly string[] | Refusal {
  const end = path.endsWith("/") ? path.length - 1 : path.length;
  if (end <= 0) return [];
  const segments = path.slice(1, end).split("/");
  if (segments.includes("")) return "a segment is empty";
  if (!path.includes("%")) return segments;

  const decoded: string[] = [];
  for (const segment of segments) {
    const text = decodeText(segment);
    if (text === undefined) return "a segment is not percent-encoded UTF-8";
    decoded.push(text);
  }
  return decoded;
}

function encodeAsciiCharacter(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
