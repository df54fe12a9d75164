/**
 * Which web pages may reach the Server. Browsers let any page send requests to any host, the user's own machine included,
 * so a Server without credentials would give that user's tools to every page that is open. A page is recognized by its
 * `Origin`, by `Sec-Fetch-Site`, and by a `Host` that is a DNS name of the page's owner (DNS rebinding). Programs send
 * neither of the first two, and the `Host` of the URL that they were given.
 */
import { isLoopback } from "../../protocol/server_address.ts";

/** Whether web pages of this origin may connect to this `Host`. */
export type OriginRule = (origin: string, host: string | undefined) => boolean;

/** Whether a request may name this `Host`. */
export type HostRule = (host: string | undefined) => boolean;

/** How to judge an `Origin`. */
export interface OriginOptions {
  /** Origins such as `https://app.example`, or `*` for all. */
  readonly allowed: readonly string[];
  /** Whether a page may connect to the very host that it was loaded from; a trap where no credentials are asked for. */
  readonly allowSameHost: boolean;
}

/** Pages of this machine, the origins that are allowed and, where that is safe, pages of the Server's own host. */
export function createOriginRule({ allowed, allowSameHost }: OriginOptions): OriginRule {
  return (origin, host) => {
    if (allowed.includes("*") || allowed.includes(origin)) return true;
    const page = URL.parse(origin);
    if (page === null) return false;
    return isLoopback(page.hostname) || (allowSameHost && host !== undefined && isHostOf(page, host));
  };
}

/** A client may write the scheme's own port, or leave it out; some write it in one place only. */
function isHostOf(page: URL, host: string): boolean {
  return page.host === URL.parse(`${page.protocol}//${host}`)?.host;
}

/** How to judge a `Host` where no credentials are asked for. */
export interface HostOptions {
  /** `name` for any port, `name:port`, or `*` for all. */
  readonly allowed: readonly string[];
  /** The name or address that the Server listens on, where that is known. */
  readonly own: string | undefined;
  /** Whether other machines may use the Server. */
  readonly isOpenToOthers: boolean;
}

/**
 * Names of this machine, and what is allowed. A Server that is open to other machines can be reached by its addresses, too:
 * a page cannot be loaded from an address that its owner does not hold. The port does not matter: a tunnel or a container
 * has another one, and a page has no name of this machine, whatever the port.
 */
export function createHostRule({ allowed, own, isOpenToOthers }: HostOptions): HostRule {
  const listed = new Set(allowed.map((host) => host.toLowerCase()));
  return (host) => {
    // A browser always sends one; health checks in HTTP/1.0 do not.
    if (listed.has("*") || host === undefined) return true;
    const parsed = parseHost(host);
    if (parsed === undefined) return false;
    const { name } = parsed;
    if (listed.has(name) || listed.has(`${name}:${parsed.port}`)) return true;
    return isLoopback(name) || (isOpenToOthers && (isAddress(name) || name === own?.toLowerCase()));
  };
}

interface ParsedHost {
  /** Lower case; an IPv6 address in brackets. */
  readonly name: string;
  readonly port: number;
}

const DEFAULT_HTTP_PORT = 80;

function parseHost(host: string): ParsedHost | undefined {
  const match = /^(\[[0-9a-f:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/i.exec(host);
  if (match === null) return undefined;
  const [, name = "", port] = match;
  return { name: name.toLowerCase(), port: port === undefined ? DEFAULT_HTTP_PORT : Number(port) };
}

function isAddress(name: string): boolean {
  return name.startsWith("[") || /^\d{1,3}(\.\d{1,3}){3}$/.test(name);
}
