/** The arguments of an event or an ack as text: as they came, if possible. Attachments, which are rare, become Base64. */
import { Buffer } from "node:buffer";
import { fromErrorAck } from "../../../protocol/errors.ts";
import { isRecord } from "../../../json.ts";
import type { Answer } from "../../pending_requests.ts";
import { RawAnswer, rawArgumentsOf, RawRequest } from "../../raw.ts";

/** Writes arguments. Throws a `RangeError` when they are nested too deep. */
export function writeArguments(values: readonly unknown[]): string {
  const raw = rawArgumentsOf(values);
  if (raw !== undefined) return raw.json;
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

/** Reads the body of a request. Throws a `SyntaxError` when the arguments are malformed. */
export function readBody(text: string): unknown {
  if (isPlain(text)) return new RawRequest(text, { body: undefined, isTooDeep: false });
  return readWithAttachments(text)[1];
}

/**
 * Reads the arguments of an ack.
 *
 * @param errorCode The code of the error that the answer is, if it is one; see {@linkcode errorCodeOf}.
 */
export function readAnswer(text: string, errorCode: number | undefined): Answer {
  if (!isPlain(text)) return readWithAttachments(text);
  return [new RawAnswer(text, errorCode === undefined ? undefined : { code: errorCode, message: "" })];
}

/** The code of the error that an answer is, if it is one. */
export function errorCodeOf([first]: Answer): number | undefined {
  return first instanceof RawAnswer ? first.errorCode : fromErrorAck(first)?.code;
}

/** A text with attachments begins with a marker that nothing else in it can contain. */
function isPlain(text: string): boolean {
  return text.startsWith("[");
}

function readWithAttachments(text: string): readonly unknown[] {
  const marker = text.slice(0, text.indexOf(" "));
  const values: unknown = JSON.parse(text.slice(marker.length + 1), (_key, value: unknown) => {
    const attachment = isRecord(value) ? value[marker] : undefined;
    return typeof attachment === "string" ? Buffer.from(attachment, "base64") : value;
  });
  if (Array.isArray(values)) return values;
  throw new SyntaxError("Cannot read arguments: not a list");
}
