/** Where an address leads, and whether two lead to the same place. Pure. */

/** Where an address leads: to this machine, to the own network, or to the internet. */
export type AddressKind = "loopback" | "private" | "public";

/** The IPv4 networks that are not on the internet: first address, length of the prefix, kind. */
const NETWORKS: readonly (readonly [base: string, bits: number, kind: AddressKind])[] = [
  ["0.0.0.0", 8, "loopback"],
  ["127.0.0.0", 8, "loopback"],
  ["10.0.0.0", 8, "private"],
  ["100.64.0.0", 10, "private"],
  // Also the metadata services of clouds.
  ["169.254.0.0", 16, "private"],
  ["172.16.0.0", 12, "private"],
  ["192.0.0.0", 24, "private"],
  ["192.168.0.0", 16, "private"],
  ["198.18.0.0", 15, "private"],
  ["224.0.0.0", 3, "private"],
];
/** Names that only the own machine or network resolves. */
const LOOPBACK_NAME = /^(?:localhost|.+\.localhost)$/;
const PRIVATE_NAME = /^(?:[^.]+|.+\.(?:local|internal|intranet|lan|home|corp|home\.arpa))$/;

/** The kind of a host as it stands in a URL: a name, an IPv4 address, or an IPv6 address with or without brackets. */
export function kindOfHost(host: string): AddressKind {
  const name = host.toLowerCase().replace(/\.$/, "").replace(/^\[(.*)\]$/, "$1");
  if (name.includes(":")) return kindOfIpv6(name);
  const number = ipv4Number(name);
  if (number !== undefined) return kindOfIpv4(number);
  if (LOOPBACK_NAME.test(name)) return "loopback";
  return PRIVATE_NAME.test(name) ? "private" : "public";
}

/** Whether http, without TLS, stays on this machine. */
export function isLoopbackUrl({ hostname }: URL): boolean {
  return kindOfHost(hostname) === "loopback";
}

/** Whether two addresses differ in their query alone. Browsers may write the host of the loopback interface in another way. */
export function isSamePlace(one: URL, other: URL): boolean {
  return one.protocol === other.protocol && hostOf(one) === hostOf(other) && one.port === other.port &&
    one.pathname === other.pathname;
}

function hostOf({ hostname }: URL): string {
  return ["localhost", "[::1]"].includes(hostname) ? "127.0.0.1" : hostname;
}

function kindOfIpv4(number: number): AddressKind {
  const network = NETWORKS.find(([base, bits]) => {
    const size = 2 ** (32 - bits);
    return Math.floor(number / size) === Math.floor((ipv4Number(base) ?? 0) / size);
  });
  return network?.[2] ?? "public";
}

function ipv4Number(text: string): number | undefined {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) < 256)) {
    return undefined;
  }
  return parts.reduce((sum, part) => sum * 256 + Number(part), 0);
}

/** An IPv6 address that embeds an IPv4 address has the kind of that one. */
function kindOfIpv6(text: string): AddressKind {
  const groups = ipv6Groups(text);
  if (groups === undefined) return "private";
  const [first = 0] = groups;
  const isZero = (count: number) => groups.slice(0, count).every((group) => group === 0);
  const last = (groups[6] ?? 0) * 65_536 + (groups[7] ?? 0);
  if (isZero(7) && last <= 1) return "loopback";
  const isMapped = isZero(5) && (groups[5] === 0xffff || groups[5] === 0);
  const isTranslated = first === 0x64 && groups[1] === 0xff9b &&
    groups.slice(2, 6).every((group) => group === 0);
  if (isMapped || isTranslated) return kindOfIpv4(last);
  if (first === 0x2002) return kindOfIpv4((groups[1] ?? 0) * 65_536 + (groups[2] ?? 0));
  // Global unicast; everything else is local, multicast or reserved.
  return first >= 0x2000 && first < 0x4000 ? "public" : "private";
}

function ipv6Groups(text: string): number[] | undefined {
  const [address = ""] = text.split("%");
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(address);
  const number = dotted === null ? undefined : ipv4Number(dotted[2] ?? "");
  const plain = number === undefined
    ? address
    : `${dotted?.[1]}${Math.floor(number / 65_536).toString(16)}:${(number % 65_536).toString(16)}`;
  const [head = "", tail, ...rest] = plain.split("::");
  const before = groupsOf(head);
  const after = tail === undefined ? [] : groupsOf(tail);
  const missing = 8 - before.length - after.length;
  if (rest.length > 0 || (tail === undefined ? missing !== 0 : missing < 0)) return undefined;
  const groups = [...before, ...Array<number>(missing).fill(0), ...after];
  return groups.every((group) => Number.isInteger(group) && group >= 0 && group <= 0xffff)
    ? groups
    : undefined;
}

function groupsOf(text: string): number[] {
  return text === ""
    ? []
    : text.split(":").map((group) => /^[\da-f]{1,4}$/.test(group) ? parseInt(group, 16) : NaN);
}
