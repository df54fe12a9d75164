/** Where an address leads, and whether two lead to the same place. Pure. */
import { BlockList, isIP } from "node:net";

/** Where an address leads: to this machine, to the own network, or to the internet. */
export type AddressKind = "loopback" | "private" | "public";

const LOOPBACK = listOf([["0.0.0.0", 8], ["127.0.0.0", 8]]);
LOOPBACK.addSubnet("::", 127, "ipv6");
const PRIVATE = listOf([
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  // Also the metadata services of clouds.
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 3],
]);
// 6to4, which is out of use, holds IPv4 addresses of any network.
PRIVATE.addSubnet("2002::", 16, "ipv6");
/** What else of IPv6 is local, multicast or reserved. */
const GLOBAL = listOf([["0.0.0.0", 0]]);
GLOBAL.addSubnet("2000::", 3, "ipv6");

/** A list of networks of IPv4, also as NAT64 writes them in IPv6. IPv4-mapped addresses count by themselves. */
function listOf(networks: readonly (readonly [base: string, bits: number])[]): BlockList {
  const list = new BlockList();
  for (const [base, bits] of networks) {
    list.addSubnet(base, bits, "ipv4");
    list.addSubnet(`64:ff9b::${base}`, 96 + bits, "ipv6");
  }
  return list;
}

/** Names that only the own machine or network resolves. */
const LOOPBACK_NAME = /^(?:localhost|.+\.localhost)$/;
const PRIVATE_NAME = /^(?:[^.]+|.+\.(?:local|internal|intranet|lan|home|corp|home\.arpa))$/;

/** The kind of a host as it stands in a URL: a name, an IPv4 address, or an IPv6 address with or without brackets. */
export function kindOfHost(host: string): AddressKind {
  const name = host.toLowerCase().replace(/\.$/, "").replace(/^\[(.*)\]$/, "$1").replace(/%.*$/, "");
  if (isIP(name) !== 0) return kindOfAddress(name, isIP(name) === 4 ? "ipv4" : "ipv6");
  if (LOOPBACK_NAME.test(name)) return "loopback";
  return PRIVATE_NAME.test(name) || name.includes(":") ? "private" : "public";
}

function kindOfAddress(address: string, family: "ipv4" | "ipv6"): AddressKind {
  if (LOOPBACK.check(address, family)) return "loopback";
  return PRIVATE.check(address, family) || !GLOBAL.check(address, family) ? "private" : "public";
}

/** Whether http, without TLS, stays on this machine. */
export function isLoopbackUrl({ hostname }: URL): boolean {
  return kindOfHost(hostname) === "loopback";
}

/** Whether requests to a URL are protected by TLS. */
export function isSecureUrl({ protocol }: Pick<URL, "protocol">): boolean {
  return protocol === "https:" || protocol === "wss:";
}

/** The port of a URL, also where the scheme implies it. */
export function portOf(url: Pick<URL, "port" | "protocol">): number {
  return Number(url.port || (isSecureUrl(url) ? 443 : 80));
}

/** The host of a URL as the system wants it: an IPv6 address without brackets. */
export function plainHost({ hostname }: Pick<URL, "hostname">): string {
  return hostname.replace(/^\[(.*)\]$/, "$1");
}

/** Whether two addresses differ in their query alone. Browsers may write the host of the loopback interface in another way. */
export function isSamePlace(one: URL, other: URL): boolean {
  return one.protocol === other.protocol && hostOf(one) === hostOf(other) && one.port === other.port &&
    one.pathname === other.pathname;
}

function hostOf({ hostname }: URL): string {
  return ["localhost", "[::1]"].includes(hostname) ? "127.0.0.1" : hostname;
}
