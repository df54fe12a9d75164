/** JSON of others: parsing it, testing and measuring its values, and long texts that are kept as bytes. */

/** The most levels in a member of a request's body, and in an entry of a list of an MCP server. JSON readers of some languages accept at most 1,000. */
export const MAX_REQUEST_DEPTH = 200;

/** The most levels of a whole message of an MCP server. Much deeper values exhaust the stack of recursive functions. */
export const MAX_MESSAGE_DEPTH = 1_000;

/**
 * The most levels of an event or an ack that a Server passes on, its list of arguments included. The Socket.IO client of
 * Python loses packets of about 500 levels when it writes them, and of 1,000 when it reads them.
 */
export const MAX_RELAYED_DEPTH = 256;

/** The most bytes that one UTF-16 unit can take in JSON: `\u0000`. */
const MAX_BYTES_PER_UNIT = 6;
/** The most bytes of a number, a boolean or null, with its comma. */
const MAX_SCALAR_BYTES = 26;

/** Parses JSON; `undefined` for invalid JSON, because the error of `JSON.parse` quotes the text, which may be secret. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The line of the first fault of a text that is no JSON, or `?`; of the error's message nothing else, since it quotes the text. */
export function lineOfFault(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return /\bline (\d+)/.exec(String(error))?.[1] ?? "?";
  }
}

/** Whether `value` is an object that is neither null nor an array, nor bytes, which would have millions of members. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);
}

/**
 * Whether an object has a member named `__proto__`, or one in it down to so many levels of objects. Zod leaves out such a
 * member without a word, so that a call would run with less than was sent.
 */
export function hasProto(value: unknown, levels: number): boolean {
  if (Array.isArray(value)) return value.some((item) => hasProto(item, levels));
  if (!isRecord(value) || levels === 0) return false;
  return Object.hasOwn(value, "__proto__") || Object.values(value).some((item) => hasProto(item, levels - 1));
}

/** Whether a member is there: peers in Python write `null` for absent ones. */
export function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Whether `value` is a list of texts. */
export function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

export function textsOf(members: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(members).filter((member): member is [string, string] => typeof member[1] === "string"),
  );
}

/**
 * Whether a value has more than `levels` levels of lists and objects. Bytes are one level: an object takes their place in the
 * JSON. Looks no deeper, and not into bytes.
 */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  if (ArrayBuffer.isView(value)) return false;
  if (Array.isArray(value)) return value.some((item) => isDeeperThan(item, levels - 1));
  for (const key in value) {
    if (isDeeperThan(Reflect.get(value, key), levels - 1)) return true;
  }
  return false;
}

/** The approximate size of `value` in memory or as JSON, in bytes, computed without serialization. */
export function approximateSizeBytes(value: unknown): number {
  return sumBytes(value, { bytesPerUnit: 1, enough: Infinity });
}

/** Whether the approximate size of `value` is at most `limitBytes`. Stops when it is larger. */
export function fitsApproximately(value: unknown, limitBytes: number): boolean {
  return sumBytes(value, { bytesPerUnit: 1, enough: limitBytes }) <= limitBytes;
}

/** Whether the JSON of `value` surely has at most `limitBytes`, whatever its texts are. Stops when it may have more. */
export function surelyFits(value: unknown, limitBytes: number): boolean {
  return sumBytes(value, { bytesPerUnit: MAX_BYTES_PER_UNIT, enough: limitBytes }) <= limitBytes;
}

/** Adds up the lengths of texts and keys; stops when the sum exceeds `enough`. */
function sumBytes(
  value: unknown,
  measure: { readonly bytesPerUnit: number; readonly enough: number },
): number {
  const { bytesPerUnit, enough } = measure;
  const add = (sum: number, member: unknown): number => {
    if (typeof member === "string") return sum + member.length * bytesPerUnit + 3;
    if (typeof member !== "object" || member === null) return sum + MAX_SCALAR_BYTES;
    if (member instanceof LongText) return sum + member.bytes.length * bytesPerUnit + 3;
    sum += 3;
    if (Array.isArray(member)) {
      for (let index = 0; index < member.length && sum <= enough; index++) sum = add(sum + 4, member[index]);
      return sum;
    }
    for (const key of Object.keys(member)) {
      if (sum > enough) break;
      sum = add(sum + key.length * bytesPerUnit + 4, Reflect.get(member, key));
    }
    return sum;
  };
  return add(0, value);
}

/** A text as UTF-8 bytes, in place of a string. `JSON.stringify` writes it as a string. */
export class LongText {
  /** The text in UTF-8. Do not modify it. */
  readonly bytes: Uint8Array<ArrayBuffer>;

  constructor(bytes: Uint8Array<ArrayBuffer>) {
    this.bytes = bytes;
  }

  toString(): string {
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(this.bytes);
  }

  toJSON(): string {
    return this.toString();
  }
}

/** Calls `visit` for each member of a tool result that may be a {@linkcode LongText}. */
export function visitTextPlaces(
  result: { readonly content?: unknown },
  visit: (holder: Record<string, unknown>, member: string) => void,
): void {
  const { content } = result;
  if (!Array.isArray(content)) return;
  for (const item of content) {
    if (!isRecord(item)) continue;
    const { resource } = item;
    for (const member of ["text", "data"]) visit(item, member);
    if (isRecord(resource)) { for (const member of ["text", "blob"]) visit(resource, member); }
  }
}

/** Replaces the long texts of a result by strings, and releases them. */
export function withStrings<T extends { readonly content?: unknown }>(result: T): T {
  visitTextPlaces(result, (holder, member) => {
    const text = holder[member];
    if (text instanceof LongText) holder[member] = text.toString();
  });
  return result;
}

/** A lower bound for the bytes of the texts of a tool result, computed without reading the texts. */
export function longTextBytes(result: { readonly content?: unknown }): number {
  let bytes = 0;
  visitTextPlaces(result, (holder, member) => {
    const text = holder[member];
    if (typeof text === "string") bytes += text.length;
    else if (text instanceof LongText) bytes += text.bytes.length;
  });
  return bytes;
}
