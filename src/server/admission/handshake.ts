/**
 * Checks an HTTP request before Socket.IO handles it: its sender, if that is a web page, and the protocol version.
 *
 * Browsers let any page send requests to any host, including the user's own machine, so a Server without credentials would
 * give the user's tools to every open page. A page is recognized by its `Origin`, by `Sec-Fetch-Site`, and by a `Host` that
 * is a DNS name of its owner (DNS rebinding). Programs send neither of the first two, and the `Host` of the URL that they use.
 */
import type { IncomingHttpHeaders } from "node:http";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { isLoopback } from "../../protocol/server_address.ts";
import {
  minorOf,
  parseProtocolVersion,
  PROTOCOL_VERSIONS,
  toProtocolMinor,
  VERSION_QUERY_PARAMETER,
} from "../../protocol/version.ts";
import { quoted } from "../../text.ts";
import type { Refusal } from "../observe/meter.ts";
import type { ProxiedRequest, TrustedProxies } from "./proxies.ts";

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
  readonly headers: IncomingHttpHeaders;
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
  { request, query }: { readonly request: HandshakeRequest; readonly query: Query },
  policy: HandshakePolicy,
): HandshakeRefusal | undefined {
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

export type Query = Readonly<Record<string, string>>;

/** Reads the query of a request URL in the same way as Engine.IO. That of an invalid URL is empty. */
export function readQuery(url = "/"): Query {
  return Object.fromEntries(URL.parse(url, "http://server")?.searchParams ?? []);
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
  if (policy.acceptedVersions.includes(minorOf(version))) return undefined;
  const code = ErrorCode.PROTOCOL_VERSION_MISMATCH;
  const [lowest, highest] = [policy.acceptedVersions.at(0), policy.acceptedVersions.at(-1)];
  const known = toProtocolMinor(highest);
  return refusal(code, "Protocol version mismatch", {
    kind: "version",
    headers: { "X-A2C-Error-Code": String(code) },
    body: {
      server_version: known === undefined ? `${highest}.0` : PROTOCOL_VERSIONS[known],
      client_version: raw,
      min_supported: `${lowest}.0`,
      max_supported: `${highest}.999`,
    },
  });
}

/** Names the transports that are served, so that a client may connect with one of them. */
function checkTransport(
  name: string | undefined,
  { transports }: HandshakePolicy,
): HandshakeRefusal | undefined {
  // Engine.IO refuses a transport that it does not know.
  if (!TRANSPORTS.some((known) => known === name && !transports.includes(known))) return undefined;
  const message = `Transport "${name}" is not served: connect with ${transports.join(" or ")}`;
  return refusal(ErrorCode.BAD_REQUEST, message, { kind: "transport", body: { transports } });
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

export interface RequestTarget {
  readonly host?: string | undefined;
  /** `http:` or `https:`, as a trusted proxy says. */
  readonly scheme?: string | undefined;
}

export type OriginRule = (origin: string, target: RequestTarget) => boolean;

export type HostRule = (host: string | undefined) => boolean;

export interface OriginOptions {
  /** Origins such as `https://app.example`, or `*` for all. */
  readonly allowed: readonly string[];
  /** Whether a page may connect to the host that it was loaded from; unsafe without credentials. */
  readonly allowSameHost: boolean;
}

/**
 * Allows pages of loopback, listed origins and, with `allowSameHost`, pages of the requested host.
 *
 * @throws {TypeError} for a listed origin that no browser sends.
 */
export function createOriginRule({ allowed, allowSameHost }: OriginOptions): OriginRule {
  for (const origin of allowed) requireOrigin(origin);
  return (origin, { host, scheme }) => {
    if (allowed.includes("*") || allowed.includes(origin)) return true;
    const page = URL.parse(origin);
    if (page === null) return false;
    if (isLoopback(page.hostname)) return true;
    const isSameScheme = scheme === undefined || scheme === page.protocol;
    // The default port of the scheme may be written or left out.
    const isSameHost = host !== undefined && page.host === URL.parse(`${page.protocol}//${host}`)?.host;
    return allowSameHost && isSameScheme && isSameHost;
  };
}

function requireOrigin(origin: string): void {
  const url = URL.parse(origin);
  const isOrigin = url !== null && url.host !== "" && origin === `${url.protocol}//${url.host}`;
  if (isOrigin || origin === "*" || origin === "null") return;
  throw new TypeError(
    `Cannot allow origin "${origin}": an origin is a scheme and a host such as https://app.example, as browsers write it`,
  );
}

export interface HostOptions {
  /** `name` for any port, `name:port`, or `*` for all. */
  readonly allowed: readonly string[];
  /** The name or address that the Server listens on, if known. */
  readonly own: string | undefined;
  /** Whether other machines may connect. */
  readonly isOpenToOthers: boolean;
}

/**
 * Allows names of loopback and listed hosts. A Server that is open to other machines also allows IP addresses: a page is
 * never loaded from an address that its owner does not have. The port is ignored unless it is listed, since tunnels and
 * containers change it.
 */
export function createHostRule({ allowed, own, isOpenToOthers }: HostOptions): HostRule {
  const listed = new Set(allowed.map((host) => host.toLowerCase()));
  return (host) => {
    // Browsers always send a Host; health checks in HTTP/1.0 do not.
    if (listed.has("*") || host === undefined) return true;
    const [, name, port = "80"] = HOST.exec(host.toLowerCase()) ?? [];
    if (name === undefined) return false;
    if (listed.has(name) || listed.has(`${name}:${Number(port)}`)) return true;
    return isLoopback(name) || (isOpenToOthers && (ADDRESS.test(name) || name === own?.toLowerCase()));
  };
}

/** A name, or an IPv6 address in brackets; and a port. */
const HOST = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/;
const ADDRESS = /^\[|^\d{1,3}(\.\d{1,3}){3}$/;
