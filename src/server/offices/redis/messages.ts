/** What processes send to one another on their private channels: `kind {header}`, a line break, and arguments as they came. */
import { Buffer } from "node:buffer";
import { isRecord, parseJson } from "../../../json.ts";
import { ErrorCode } from "../../../protocol/error_codes.ts";
import { SmcpError } from "../../../protocol/errors.ts";
import type { Answer } from "../../relay/pending_requests.ts";
import { RawAnswer, rawArgumentsOf, RawRequest } from "../../raw.ts";

/** The fields of each kind of message, and their types. `from` is the fence of the sender; `sid`, the connection of the Computer. */
const FIELDS = {
  /** A request for a Computer. */
  ask: {
    id: "number",
    from: "string",
    sid: "string",
    event: "string",
    reqId: "string",
    agent: "string",
    computer: "string",
    officeId: "string",
    isObserving: "boolean",
    timeoutMs: "number",
  },
  /** An event for a Computer, without an ack. */
  tell: { from: "string", sid: "string", officeId: "string", event: "string" },
  /** The answer of a Computer. */
  answer: { from: "string", id: "number" },
  /** A request that has failed. */
  fail: { from: "string", id: "number", code: "number", message: "string" },
  /** The sender of a request has left. */
  drop: { id: "number", from: "string", sid: "string" },
  /** Asks the process of a connection to stop acting for it, because a newer one takes its place. */
  evict: { id: "number", from: "string", sid: "string" },
  /** Confirms that. */
  evicted: { id: "number" },
  /** Confirms that so many bytes of earlier messages have been received. */
  received: { from: "string", bytes: "number" },
} as const satisfies Readonly<Record<string, Readonly<Record<string, keyof FieldTypes>>>>;

interface FieldTypes {
  readonly string: string;
  readonly number: number;
  readonly boolean: boolean;
}

/** The fields that a message may lack. */
interface OptionalFields {
  /** The code of the error that the answer is, if it is one. */
  readonly answer: { readonly errorCode: number | undefined };
  readonly fail: { readonly details: Readonly<Record<string, unknown>> | undefined };
}

type Fields = typeof FIELDS;
type Kind = keyof Fields;

/** A message of some kinds, without its arguments. */
export type MessageOf<K extends Kind> = K extends Kind ?
    & { readonly kind: K }
    & { readonly [Name in keyof Fields[K]]: FieldTypes[Fields[K][Name] & keyof FieldTypes] }
    & (K extends keyof OptionalFields ? OptionalFields[K] : unknown)
  : never;

export type ProcessMessage = MessageOf<Kind>;

export function writeMessage({ kind, ...header }: ProcessMessage, text = ""): string {
  return `${kind} ${JSON.stringify(header)}\n${text}`;
}

/** Reads a message; `undefined` for one that another version of this program may have written. */
export function readMessage(
  message: string,
): { readonly message: ProcessMessage; readonly text: string } | undefined {
  const space = message.indexOf(" ");
  const end = message.indexOf("\n");
  const kind = message.slice(0, space);
  const header = parseJson(message.slice(space + 1, end));
  if (end < 0 || !isKind(kind) || !isRecord(header)) return undefined;
  const isComplete = Object.entries(FIELDS[kind]).every(([name, type]) => typeOf(header[name]) === type);
  if (!isComplete) return undefined;
  return { message: { ...header, kind } as unknown as ProcessMessage, text: message.slice(end + 1) };
}

/** The linter takes `typeof` before a comparison with a variable for a mistake. */
function typeOf(value: unknown): string {
  return typeof value;
}

function isKind(kind: string): kind is Kind {
  return Object.hasOwn(FIELDS, kind);
}

/** Builds the message of a request that has failed. Errors that are not of the protocol are not told to others. */
export function toFailure(reply: Pick<MessageOf<"fail">, "id" | "from">, error: unknown): MessageOf<"fail"> {
  const { code, message, details } = error instanceof SmcpError
    ? error
    : new SmcpError(ErrorCode.INTERNAL_ERROR, "Internal error");
  return { ...reply, kind: "fail", code, message, details };
}

export function toError({ code, message, details }: MessageOf<"fail">): SmcpError {
  return new SmcpError(code, message, details === undefined ? {} : { details });
}

/**
 * Writes the arguments of an event or an ack: as they came, if possible. Attachments, which are rare, become Base64. Throws a `RangeError` when they are nested too
 * deep.
 */
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

/** @param errorCode The code of the error that the answer is, if it is one. */
export function readAnswer(text: string, errorCode: number | undefined): Answer {
  if (!isPlain(text)) return readWithAttachments(text);
  return [new RawAnswer(text, errorCode === undefined ? undefined : { code: errorCode, message: "" })];
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
