/**
 * Reverse proxies that are trusted to say who their client is. Everybody can send `X-Forwarded-For`, so the header is read only
 * in requests of these addresses, and from its right-hand end: each proxy appends the address that it saw itself.
 */
import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";

/** Names for networks that no packet from the internet comes from. */
const NAMED_NETWORKS: Readonly<Record<string, readonly string[]>> = {
  loopback: ["127.0.0.0/8", "::1"],
  private: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"],
};

/** What proxies write for the scheme of a page; some write that of the WebSocket. */
const FORWARDED_SCHEME = /^(?:http|ws)(s?)$/i;

export interface ProxiedRequest {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly socket?: { readonly remoteAddress?: string | undefined } | undefined;
}

/** What a trusted proxy says about a request; without a proxy, the TCP connection tells the address. */
export interface Forwarded {
  readonly address: string | undefined;
  /** The `Host` that the client sent to the proxy. */
  readonly host: string | undefined;
  /** `http:` or `https:`, which the client spoke to the proxy. */
  readonly scheme: string | undefined;
}

/** The origin by which a client has asked, as far as proxies say: `https://hub.example.com`. */
export function originOf({ headers, socket }: IncomingMessage, forwarded: Forwarded | undefined): string {
  const scheme = forwarded?.scheme ?? ("encrypted" in socket ? "https:" : "http:");
  return `${scheme}//${forwarded?.host ?? headers.host ?? "localhost"}`;
}

export class TrustedProxies {
  readonly #networks = new BlockList();

  /**
   * @param networks IP addresses, networks such as `10.1.0.0/16`, `loopback` and `private`; none are trusted by default.
   * @throws {TypeError} for another text.
   */
  constructor(networks: readonly string[] = []) {
    for (const network of networks) {
      for (const one of NAMED_NETWORKS[network] ?? [network]) addNetwork(this.#networks, one);
    }
  }

  has(address = ""): boolean {
    const plain = plainAddress(address);
    return isIP(plain) !== 0 && this.#networks.check(plain, familyOf(plain));
  }

  read({ headers, socket }: ProxiedRequest): Forwarded {
    const peer = socket?.remoteAddress;
    if (!this.has(peer)) return { address: peer, host: undefined, scheme: undefined };
    const scheme = FORWARDED_SCHEME.exec(listOf(headers["x-forwarded-proto"]).at(-1) ?? "");
    return {
      address: this.#clientOf(listOf(headers["x-forwarded-for"])) ?? peer,
      host: listOf(headers["x-forwarded-host"]).at(-1),
      scheme: scheme === null ? undefined : `http${scheme[1]?.toLowerCase()}:`,
    };
  }

  /** Returns the address that the outermost trusted proxy saw. */
  #clientOf(hops: readonly string[]): string | undefined {
    let client: string | undefined;
    for (const hop of hops.toReversed()) {
      const address = plainAddress(withoutPort(hop));
      // What stands left of a text that is no address cannot be trusted either.
      if (isIP(address) === 0) return client;
      client = address;
      if (!this.has(address)) return client;
    }
    return client;
  }
}

function addNetwork(networks: BlockList, text: string): void {
  const [, address = "", prefix] = /^([^/]+)(?:\/(\d+))?$/.exec(text) ?? [];
  const family = familyOf(address);
  try {
    networks.addSubnet(address, Number(prefix ?? (family === "ipv4" ? 32 : 128)), family);
  } catch (cause) {
    throw new TypeError(
      `Cannot trust proxy "${text}": expected an IP address, a network such as 10.0.0.0/8, loopback or private`,
      { cause },
    );
  }
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 4 ? "ipv4" : "ipv6";
}

/** Writes an IPv4 address that came over IPv6 as such, and drops the interface of a link-local one. */
function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d{1,3}(?:\.\d{1,3}){3}$)/i, "").replace(/%.*$/, "");
}

/** Some proxies add the port of the client. */
function withoutPort(hop: string): string {
  return /^\[([^\]]*)\](?::\d+)?$/.exec(hop)?.[1] ?? /^(\d{1,3}(?:\.\d{1,3}){3}):\d+$/.exec(hop)?.[1] ?? hop;
}

function listOf(header: string | readonly string[] = ""): string[] {
  return header.toString().split(",").map((item) => item.trim()).filter((item) => item !== "");
}

/** Returns the key of an address. A /64 network of IPv6 counts as one address, since it usually belongs to one user. */
export function addressKey(address: string | undefined): string {
  const { v4, v6 } = parse(address);
  return v6 === undefined ? v4 : `${v6.slice(0, 4).join(":")}::/64`;
}

/** Returns the key of the network in which somebody usually has many addresses: a /24 of IPv4, a /48 of IPv6. */
export function networkKey(address: string | undefined): string {
  const { v4, v6 } = parse(address);
  return v6 === undefined ? v4.replace(/\.\d+$/, ".0/24") : `${v6.slice(0, 3).join(":")}::/48`;
}

/** The eight groups of an address of IPv6, or the text of another one. */
function parse(address: string | undefined): { readonly v4: string; readonly v6?: readonly string[] } {
  const text = (address ?? "").toLowerCase();
  const mapped = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/.exec(text)?.[1];
  if (mapped !== undefined || !text.includes(":")) return { v4: mapped ?? text };
  const [head = "", tail] = text.split("::", 2);
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined
    ? []
    : Array<string>(Math.max(0, 8 - before.length - after.length)).fill("0");
  return { v4: text, v6: [...before, ...zeros, ...after] };
}
