/**
 * Rules for requests of web pages. Browsers let any page send requests to any host, including the user's own machine, so a
 * Server without credentials would give the user's tools to every open page. A page is recognized by its `Origin`, by
 * `Sec-Fetch-Site`, and by a `Host` that is a DNS name of its owner (DNS rebinding). Programs send neither of the first
 * two, and the `Host` of the URL that they use.
 */
import { isLoopback } from "../../protocol/server_address.ts";

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
    return allowSameHost && host !== undefined && isSameScheme && isHostOf(page, host);
  };
}

function requireOrigin(origin: string): void {
  if (origin === "*" || origin === "null") return;
  const url = URL.parse(origin.includes("://") ? origin : `https://${origin}`);
  // Schemes such as that of browser extensions have no origin for the parser.
  const written = url?.origin === "null" ? `${url.protocol}//${url.host}` : url?.origin;
  if (url !== null && url.host !== "" && written === origin) return;
  const hint = url === null || url.host === ""
    ? "an origin is a scheme and a host such as https://app.example"
    : `did you mean "${written}"?`;
  throw new TypeError(`Cannot allow origin "${origin}": ${hint}`);
}

/** Compares host and port; the default port of the scheme may be written or left out. */
function isHostOf(page: URL, host: string): boolean {
  return page.host === URL.parse(`${page.protocol}//${host}`)?.host;
}

const DEFAULT_HTTP_PORT = 80;

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
    const parsed = parseHost(host);
    if (parsed === undefined) return false;
    const [name, port] = parsed;
    if (listed.has(name) || listed.has(`${name}:${port}`)) return true;
    return isLoopback(name) || (isOpenToOthers && (isAddress(name) || name === own?.toLowerCase()));
  };
}

/** The name in lower case, an IPv6 address in brackets; and the port. */
function parseHost(host: string): readonly [name: string, port: number] | undefined {
  const [, name, port = DEFAULT_HTTP_PORT] = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/i.exec(host) ?? [];
  return name === undefined ? undefined : [name.toLowerCase(), Number(port)];
}

function isAddress(name: string): boolean {
  return name.startsWith("[") || /^\d{1,3}(\.\d{1,3}){3}$/.test(name);
}
