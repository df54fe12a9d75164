/** Checks an HTTP request before Socket.IO handles it: its sender, if that is a web page, and the protocol version. */
import { ErrorCode } from "../../protocol/error_codes.ts";
import {
  minorOf,
  parseProtocolVersion,
  PROTOCOL_VERSIONS,
  toProtocolMinor,
  VERSION_QUERY_PARAMETER,
} from "../../protocol/version.ts";
import type { Refusal } from "../observe/meter.ts";
import type { HostRule, OriginRule } from "./origins.ts";
import type { ProxiedRequest, TrustedProxies } from "./proxies.ts";
import { quoted } from "../../text.ts";

/** How a client may connect: HTTP long-polling, WebSocket. */
export type TransportName = "polling" | "websocket";

export const TRANSPORTS: readonly TransportName[] = ["polling", "websocket"];

export interface HandshakePolicy {
  /** MAJOR.MINOR, lowest first. */
  readonly acceptedVersions: readonly string[];
  /** Whether peers of protocol 0.1, which send no version, are admitted. */
  readonly allowUnversioned: boolean;
  readonly transports: readonly TransportName[];
  readonly isOriginAllowed: OriginRule;
  readonly isHostAllowed: HostRule;
  /** Reverse proxies whose `X-Forwarded-` headers are read; none by default. */
  readonly proxies?: TrustedProxies | undefined;
}

export interface HandshakeRequest extends ProxiedRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: ProxiedRequest["headers"] & {
    readonly origin?: string | undefined;
    readonly host?: string | undefined;
    readonly "sec-fetch-site"?: string | readonly string[] | undefined;
  };
}

/** An HTTP answer that ends a handshake. */
export interface HandshakeRefusal {
  readonly kind: Refusal;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** @throws {TypeError} for an empty list, and for an item that is not MAJOR.MINOR. */
export function parseAcceptedVersions(versions: readonly string[]): readonly string[] {
  const parsed = versions.map((version) => {
    const full = parseProtocolVersion(`${version}.0`);
    if (full === undefined) throw new TypeError(`Cannot accept version "${version}": not MAJOR.MINOR`);
    return full;
  });
  if (parsed.length === 0) throw new TypeError("Cannot accept protocol versions: the list is empty");
  return parsed.sort((a, b) => a.major - b.major || a.minor - b.minor).map(minorOf);
}

/** @throws {TypeError} for an empty list, and for an item that is no transport. */
export function parseTransports(names: readonly string[]): readonly TransportName[] {
  if (names.length === 0) throw new TypeError("Cannot serve transports: the list is empty");
  return names.map((name) => {
    const transport = TRANSPORTS.find((known) => known === name);
    if (transport !== undefined) return transport;
    throw new TypeError(`Cannot serve transport "${name}": expected ${TRANSPORTS.join(" or ")}`);
  });
}

/**
 * Checks a request for the path of Socket.IO; `undefined` lets it pass. The sender is checked for every request, the
 * version only for those that open a connection.
 */
export function checkHandshake(
  request: HandshakeRequest,
  policy: HandshakePolicy,
): HandshakeRefusal | undefined {
  const query = readQuery(request.url);
  if (query === undefined) return refusal(ErrorCode.BAD_REQUEST, "Invalid request URL");
  const byPage = checkSender(request, policy);
  if (byPage !== undefined) return byPage;
  // A script element of any page can load JSONP, without an Origin header.
  if ("j" in query) return refusal(ErrorCode.BAD_REQUEST, "JSONP is not supported");
  // A CORS preflight request, or a request of an open session.
  if (request.method === "OPTIONS" || query["sid"]) return undefined;
  return checkVersion(query[VERSION_QUERY_PARAMETER], policy) ??
    checkTransport(query["transport"], policy);
}

/** Refuses requests of web pages that are not allowed, for any path; `undefined` lets a request pass. */
export function checkSender(
  request: HandshakeRequest,
  policy: Pick<HandshakePolicy, "isOriginAllowed" | "isHostAllowed" | "proxies">,
): HandshakeRefusal | undefined {
  const { headers } = request;
  const { origin, host } = headers;
  const forwarded = policy.proxies?.read(request);
  // Both names count: a proxy that passes on a forged X-Forwarded-Host must not open what its own Host does not.
  for (const name of [host, forwarded?.host ?? host]) {
    if (policy.isHostAllowed(name)) continue;
    return forbidden(
      `Host "${quoted(name ?? "")}" not allowed: start the Server with --allow-host to allow it`,
    );
  }
  if (origin !== undefined) {
    const target = { host: forwarded?.host ?? host, scheme: forwarded?.scheme };
    return policy.isOriginAllowed(origin, target)
      ? undefined
      : forbidden("Origin not allowed: start the Server with --allow-origin to allow it");
  }
  // Browsers send no Origin with a GET request without CORS: scripts, images, frames, links.
  const site = headers["sec-fetch-site"];
  const isOtherSite = site !== undefined && site !== "same-origin" && site !== "none";
  return isOtherSite ? forbidden("Cross-site requests are not allowed") : undefined;
}

function forbidden(message: string): HandshakeRefusal {
  return refusal(ErrorCode.FORBIDDEN, message, { kind: "origin", status: 403 });
}

/** Reads the query of a request URL in the same way as Engine.IO; `undefined` for an invalid URL. */
export function readQuery(url: string | undefined): Readonly<Record<string, string>> | undefined {
  const parsed = URL.parse(url ?? "/", "http://server");
  return parsed === null ? undefined : Object.fromEntries(parsed.searchParams.entries());
}

/** Names the transports that are served, so that a client may connect with one of them. */
function checkTransport(
  name: string | undefined,
  { transports }: HandshakePolicy,
): HandshakeRefusal | undefined {
  // Engine.IO refuses a transport that it does not know.
  const isRefused = TRANSPORTS.some((known) => known === name && !transports.includes(known));
  if (!isRefused) return undefined;
  return refusal(
    ErrorCode.BAD_REQUEST,
    `Transport "${name}" is not served: connect with ${transports.join(" or ")}`,
    { kind: "transport", body: { transports } },
  );
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
  const code = ErrorCode.PROTOCOL_VERSION_MISMATCH;
  const highest = acceptedVersions.at(-1) ?? "";
  const known = toProtocolMinor(highest);
  return refusal(code, "Protocol version mismatch", {
    kind: "version",
    headers: { "X-A2C-Error-Code": String(code) },
    body: {
      server_version: known === undefined ? `${highest}.0` : PROTOCOL_VERSIONS[known],
      client_version: raw,
      min_supported: `${acceptedVersions.at(0)}.0`,
      max_supported: `${highest}.999`,
    },
  });
}

/** Builds a refusal; by default one of a malformed request. */
export function refusal(
  code: number,
  message: string,
  { headers, body, ...rest }: Partial<HandshakeRefusal> = {},
): HandshakeRefusal {
  return {
    kind: "invalid_request",
    status: 400,
    ...rest,
    headers: { "content-type": "application/json", ...headers },
    body: { code, message, ...body },
  };
}
