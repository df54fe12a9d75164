/** Checks an HTTP request before Socket.IO handles it: its sender, if that is a web page, and the protocol version. */
import type { IncomingMessage } from "node:http";
import type { Forwarded, TrustedProxies } from "../../http/proxies.ts";
import type { HttpRefusal } from "../../http/refusals.ts";
import { senderProblem, type SenderRules } from "../../http/senders.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import {
  minorOf,
  parseProtocolVersion,
  PROTOCOL_VERSIONS,
  toProtocolMinor,
  VERSION_QUERY_PARAMETER,
} from "../../protocol/version.ts";
import { quoted } from "../../text/text.ts";
import type { Refusal } from "../observe/meter.ts";

/** How a client may connect: HTTP long-polling, WebSocket. */
export type TransportName = "polling" | "websocket";

export const TRANSPORTS: readonly TransportName[] = ["polling", "websocket"];

export interface HandshakePolicy extends SenderRules {
  /** MAJOR.MINOR, lowest first. */
  readonly acceptedVersions: readonly string[];
  /** Whether peers of protocol 0.1, which send no version, are admitted. */
  readonly allowUnversioned: boolean;
  readonly transports: readonly TransportName[];
  /** Reverse proxies whose `X-Forwarded-` headers are read; none by default. */
  readonly proxies?: TrustedProxies | undefined;
}

/** An HTTP answer that ends a handshake. */
export interface HandshakeRefusal extends HttpRefusal {
  readonly kind: Refusal;
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

export interface HandshakeRequest {
  readonly request:
    & Pick<IncomingMessage, "headers">
    & Partial<Pick<IncomingMessage, "method" | "httpVersion" | "rawHeaders">>;
  readonly query: Query;
  /** What a trusted proxy says about it. */
  readonly forwarded?: Forwarded | undefined;
}

/**
 * Checks a request for the path of Socket.IO; `undefined` lets it pass. The sender is checked for every request, the
 * version only for those that open a connection.
 */
export function checkHandshake(
  handshake: HandshakeRequest,
  policy: HandshakePolicy,
): HandshakeRefusal | undefined {
  const { request, query } = handshake;
  const refused = refuseSender(handshake, policy);
  if (refused !== undefined) return refused;
  // A script element of any page can load JSONP, without an Origin header.
  if ("j" in query) return refusal(ErrorCode.BAD_REQUEST, "JSONP is not supported");
  // A CORS preflight request, or a request of an open session.
  if (request.method === "OPTIONS" || query["sid"]) return undefined;
  return checkVersion(query[VERSION_QUERY_PARAMETER], policy) ??
    checkTransport(query["transport"], policy);
}

/** Refuses a sender that is not allowed, and a request that does not name one host (RFC 9112, section 3.2). */
export function refuseSender(
  { request, forwarded }: Omit<HandshakeRequest, "query">,
  rules: SenderRules,
): HandshakeRefusal | undefined {
  const { headers, httpVersion, rawHeaders = [] } = request;
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === "host").length;
  if (hosts > 1 || (hosts === 0 && httpVersion === "1.1")) {
    return refusal(ErrorCode.BAD_REQUEST, "Cannot accept the request: it must have one Host header");
  }
  const problem = senderProblem(headers, rules, forwarded);
  return problem === undefined
    ? undefined
    : refusal(ErrorCode.FORBIDDEN, problem, { kind: "origin", status: 403 });
}

export type Query = Readonly<Record<string, string>>;

/** Reads the query of a request URL; the last value of a parameter counts. A whole `URL` would take twice the time. */
export function readQuery(url = "/"): Query {
  const [, query] = /\?([^#]*)/.exec(url) ?? [];
  return Object.fromEntries(new URLSearchParams(query));
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
