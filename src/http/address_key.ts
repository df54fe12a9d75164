/** By what the limits of an address are counted. Pure. */

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
