/** What is checked of an HTTP request before Socket.IO sees it: the protocol version, and where a web page is from. */
import { ErrorCode } from "../protocol/error_codes.ts";
import {
  minorOf,
  parseProtocolVersion,
  PROTOCOL_VERSION,
  VERSION_QUERY_PARAMETER,
} from "../protocol/version.ts";
import { quoted } from "./limits.ts";

/** The MAJOR.MINOR versions that a Server accepts unless told otherwise. */
export const DEFAULT_ACCEPTED_VERSIONS: readonly string[] = ["0.2", "0.3", "0.4"];

/** Which handshakes are let through. */
export interface HandshakePolicy {
  /** MAJOR.MINOR each, lowest first. */
  readonly acceptedVersions: readonly string[];
  /** Whether peers of the 0.1 era, which send no version, are admitted. */
  readonly allowUnversioned: boolean;
  readonly isOriginAllowed: OriginRule;
}

/** Whether web pages of this origin may connect to this `Host`. */
export type OriginRule = (origin: string, host: string | undefined) => boolean;

/** What is looked at. */
export interface HandshakeRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: { readonly origin?: string | undefined; readonly host?: string | undefined };
}

/** An HTTP answer that ends a handshake. */
export interface HandshakeRefusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * Checks the policy's list of versions.
 *
 * @return The list, lowest first.
 * @throws {TypeError} when it is empty or holds anything but MAJOR.MINOR.
 */
export function parseAcceptedVersions(versions: readonly string[]): readonly string[] {
  const parsed = versions.map((version) => {
    const full = parseProtocolVersion(`${version}.0`);
    if (full === undefined) throw new TypeError(`Cannot accept version "${version}": not MAJOR.MINOR`);
    return full;
  });
  if (parsed.length === 0) throw new TypeError("Cannot accept protocol versions: none given");
  return parsed.sort((a, b) => a.major - b.major || a.minor - b.minor).map(minorOf);
}

/** Decides on one request; `undefined` lets it through. Requests of connections that exist already pass. */
export function checkHandshake(
  request: HandshakeRequest,
  policy: HandshakePolicy,
): HandshakeRefusal | undefined {
  // A browser's question whether it may ask at all.
  if (request.method === "OPTIONS") return undefined;
  const query = readQuery(request.url);
  if (query === undefined) return refusal(ErrorCode.BAD_REQUEST, "Invalid request URL");
  if (query["sid"]) return undefined;
  const { origin, host } = request.headers;
  if (origin !== undefined && !policy.isOriginAllowed(origin, host)) {
    return { ...refusal(ErrorCode.FORBIDDEN, "Origin not allowed"), status: 403 };
  }
  return checkVersion(query[VERSION_QUERY_PARAMETER], policy);
}

/** Reads the query exactly as Engine.IO does, so that no request is a handshake to one and none to the other. */
function readQuery(url: string | undefined): Readonly<Record<string, string>> | undefined {
  const parsed = URL.parse(url ?? "/", "http://server");
  return parsed === null ? undefined : Object.fromEntries(parsed.searchParams.entries());
}

function checkVersion(raw: string | undefined, policy: HandshakePolicy): HandshakeRefusal | undefined {
  if (raw === undefined) {
    return policy.allowUnversioned
      ? undefined
      : refusal(ErrorCode.BAD_REQUEST, `Missing ${VERSION_QUERY_PARAMETER} query parameter`);
  }
  const version = parseProtocolVersion(raw);
  if (version === undefined) {
    const why = `"${quoted(raw)}" is not MAJOR.MINOR.PATCH`;
    return refusal(ErrorCode.BAD_REQUEST, `Invalid ${VERSION_QUERY_PARAMETER}: ${why}`);
  }
  return policy.acceptedVersions.includes(minorOf(version)) ? undefined : versionMismatch(raw, policy);
}

function versionMismatch(raw: string, { acceptedVersions }: HandshakePolicy): HandshakeRefusal {
  const { status, headers, body } = refusal(
    ErrorCode.PROTOCOL_VERSION_MISMATCH,
    "Protocol version mismatch",
  );
  return {
    status,
    headers: { ...headers, "X-A2C-Error-Code": String(ErrorCode.PROTOCOL_VERSION_MISMATCH) },
    body: {
      ...body,
      server_version: PROTOCOL_VERSION,
      client_version: raw,
      min_supported: `${acceptedVersions.at(0)}.0`,
      max_supported: `${acceptedVersions.at(-1)}.999`,
    },
  };
}

function refusal(code: number, message: string): HandshakeRefusal {
  return { status: 400, headers: { "content-type": "application/json" }, body: { code, message } };
}
