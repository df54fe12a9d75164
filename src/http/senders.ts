/**
 * Who may send a request: programs, and web pages that are allowed.
 *
 * Browsers let any page send requests to any host, including the user's own machine, so a port without credentials would
 * give the user's tools to every open page. A page is recognized by its `Origin`, by `Sec-Fetch-Site`, and by a `Host` that
 * is a DNS name of its owner (DNS rebinding). Programs send neither of the first two, and the `Host` of the URL that they use.
 */
import { isLoopback } from "../protocol/server_address.ts";
import { quoted } from "../text/text.ts";
import type { Forwarded } from "./proxies.ts";

export interface SenderRules {
  readonly isOriginAllowed: OriginRule;
  readonly isHostAllowed: HostRule;
  /** Whether no option of the program changes these rules, so that a refusal names none; false by default. */
  readonly isFixed?: boolean;
}

export interface SenderHeaders {
  readonly host?: string | undefined;
  readonly origin?: string | undefined;
  readonly "sec-fetch-site"?: string | undefined;
}

/**
 * Why the sender of a request is refused; `undefined` lets the request pass.
 *
 * @param forwarded What a trusted proxy says about the request, or the host of its URL.
 */
export function senderProblem(
  { host, origin, "sec-fetch-site": site }: SenderHeaders,
  { isOriginAllowed, isHostAllowed, isFixed = false }: SenderRules,
  forwarded?: Partial<Forwarded>,
): string | undefined {
  const target = { host: forwarded?.host ?? host, scheme: forwarded?.scheme };
  const remedy = (what: string) => isFixed ? "" : `: allow it with --allow-${what}`;
  // Both names count: a proxy that passes on a forged X-Forwarded-Host must not open what its own Host does not.
  for (const name of new Set([host, target.host])) {
    if (!isHostAllowed(name)) return `Host "${quoted(name ?? "")}" not allowed${remedy("host")}`;
  }
  if (origin !== undefined) {
    const isAllowed = isOriginAllowed(origin, target);
    return isAllowed ? undefined : `Origin not allowed${remedy("origin")}`;
  }
  // Browsers send no Origin with a GET request without CORS: scripts, images, frames, links.
  const isOtherSite = site !== undefined && site !== "same-origin" && site !== "none";
  return isOtherSite ? "Cross-site requests are not allowed" : undefined;
}

export interface RequestTarget {
  readonly host?: string | undefined;
  /** `http:` or `https:`, as a trusted proxy says. */
  readonly scheme?: string | undefined;
}

export type OriginRule = (origin: string, target: RequestTarget) => boolean;

export type HostRule = (host: string | undefined) => boolean;

export interface OriginOptions {
  /** Origins such as `https://app.example`. */
  readonly allowed: readonly string[];
  /** Whether `*` for all and `null` for pages without an origin may be among them; `false` by default. */
  readonly allowWildcards?: boolean;
  /** Whether a page may connect to the host that it was loaded from; unsafe without credentials. */
  readonly allowSameHost: boolean;
}

/**
 * Allows pages of loopback, listed origins and, with `allowSameHost`, pages of the requested host.
 *
 * @throws {TypeError} for a listed origin that no browser sends.
 */
export function createOriginRule(
  { allowed, allowWildcards = false, allowSameHost }: OriginOptions,
): OriginRule {
  for (const origin of allowed) {
    if (!(allowWildcards && (origin === "*" || origin === "null"))) requireOrigin(origin);
  }
  return (origin, { host, scheme }) => {
    if (allowed.includes("*") || allowed.includes(origin)) return true;
    const page = URL.parse(origin);
    // Other schemes, as of files and extensions, may name any host.
    if (page === null || !["http:", "https:"].includes(page.protocol)) return false;
    if (isLoopback(page.hostname)) return true;
    const isSameScheme = scheme === undefined || scheme === page.protocol;
    // The default port of the scheme may be written or left out.
    const isSameHost = host !== undefined && page.host === URL.parse(`${page.protocol}//${host}`)?.host;
    return allowSameHost && isSameScheme && isSameHost;
  };
}

function requireOrigin(origin: string): void {
  const url = URL.parse(origin);
  if (url !== null && url.host !== "" && origin === `${url.protocol}//${url.host}`) return;
  throw new TypeError(
    `Cannot allow origin "${origin}": an origin is a scheme and a host such as https://app.example, as browsers write it`,
  );
}

export interface HostOptions {
  /** `name` for any port, `name:port`, or `*` for all. */
  readonly allowed: readonly string[];
  /** The name or address that is listened on, if known. */
  readonly own?: string | undefined;
  /** Whether other machines may connect; `false` by default. */
  readonly isOpenToOthers?: boolean;
}

/**
 * Allows names of loopback and listed hosts. A port that is open to other machines also allows IP addresses: a page is
 * never loaded from an address that its owner does not have. The port is ignored unless it is listed, since tunnels and
 * containers change it.
 */
export function createHostRule({ allowed, own, isOpenToOthers = false }: HostOptions): HostRule {
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
const HOST = /^(\[[0-9a-f:.]+\]|[^:[\]/?#@\\\s]+)(?::(\d{1,5}))?$/;
const ADDRESS = /^\[|^\d{1,3}(\.\d{1,3}){3}$/;
