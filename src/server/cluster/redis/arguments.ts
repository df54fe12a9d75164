/** The arguments of an event or an ack as text. Attachments, which are rare, become Base64. */
import { Buffer } from "node:buffer";
import { isRecord } from "../../../json.ts";

/** Writes arguments. Throws a `RangeError` when they are nested too deep. */
export function writeArguments(values: readonly unknown[]): string {
  const marker = crypto.randomUUID();
  let hasAttachment = false;
  const json = JSON.stringify(values, function (this: unknown, key: string, value: unknown) {
    // Buffers have already become something else in `value`.
    const original: unknown = Reflect.get(Object(this), key);
    if (!(original instanceof Uint8Array)) return value;
    hasAttachment = true;
    return { [marker]: Buffer.from(original).toString("base64") };
  });
  return hasAttachment ? `${marker} ${json}` : json;
}

/** Reads arguments. Throws a `SyntaxError` when they are not a list. */
export function readArguments(text: string): readonly unknown[] {
  const marker = text.startsWith("[") ? undefined : text.slice(0, text.indexOf(" "));
  const values: unknown = marker === undefined
    ? JSON.parse(text)
    : JSON.parse(text.slice(marker.length + 1), (_key, value: unknown) => {
      const attachment = isRecord(value) ? value[marker] : undefined;
      return typeof attachment === "string" ? Buffer.from(attachment, "base64") : value;
    });
  if (Array.isArray(values)) return values;
  throw new SyntaxError("Cannot read arguments: not a list");
}
