/** Long texts of tool results, kept as bytes: strings would be copied at each step on the way to an Agent. */
import { isRecord } from "../json/json.ts";

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
