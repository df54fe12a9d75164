/**
 * Which web pages may connect. Browsers let any page open a websocket to any host, the user's own machine included, so
 * a Server without credentials would hand that user's tools to every page that is open. Clients that are no browser
 * send no `Origin`, and are not concerned.
 */
import type { OriginRule } from "./handshake.ts";

/** Whether a host name or address is this machine only. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[(.*)\]$/, "$1").toLowerCase();
  return name === "localhost" || name.endsWith(".localhost") || name === "::1" ||
    /^127(\.\d{1,3}){3}$/.test(name);
}

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
    return isLoopback(page.hostname) || (allowSameHost && page.host === host);
  };
}
