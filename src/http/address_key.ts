/** By what the limits of an address are counted. Pure. */

/** Returns the key of an address. A /64 network of IPv6 counts as one address, since it usually belongs to one user. */
export function addressKey(address: string | undefined): string {
  const text = (address ?? "").toLowerCase();
  const mapped = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/.exec(text)?.[1];
  if (mapped !== undefined || !text.includes(":")) return mapped ?? text;
  const [head = "", tail] = text.split("::", 2);
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined
    ? []
    : Array<string>(Math.max(0, 8 - before.length - after.length)).fill("0");
  return `${[...before, ...zeros, ...after].slice(0, 4).join(":")}::/64`;
}
