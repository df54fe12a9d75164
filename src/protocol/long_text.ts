/** Long texts of tool results as bytes: a string would be copied at each step on its way to an Agent. */
import { isRecord } from "../json.ts";

/** A text as UTF-8, in the place of a string. As JSON it is a string. */
export class LongText {
  /** Its UTF-8, which nobody changes. */
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

/** The result with strings in the place of its long texts, which it holds no longer. */
export function withStrings<T extends { readonly content?: unknown }>(result: T): T {
  visitTextPlaces(result, (holder, member) => {
    const text = holder[member];
    if (text instanceof LongText) holder[member] = text.toString();
  });
  return result;
}

/** How many bytes the texts of a tool result have at least, without looking at each of their characters. */
export function longTextBytes(result: { readonly content?: unknown }): number {
  let bytes = 0;
  visitTextPlaces(result, (holder, member) => {
    const text = holder[member];
    if (typeof text === "string") bytes += text.length;
    else if (text instanceof LongText) bytes += text.bytes.length;
  });
  return bytes;
}
