/** What processes send to one another on their private channels: `kind {header}`, a line break, and arguments as they came. */
import { Buffer } from "node:buffer";
import { deserialize, serialize } from "node:v8";
import { isRecord, parseJson } from "../../../json/json.ts";
import type { Answer } from "../../relay/pending_requests.ts";
import { RawAnswer, rawArgumentsOf, RawRequest } from "../../engine/raw.ts";

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
  if (end < 0 || !Object.hasOwn(FIELDS, kind) || !isRecord(header)) return undefined;
  const fields = Object.entries(FIELDS[kind as Kind]);
  if (!fields.every(([name, type]) => typeOf(header[name]) === type)) return undefined;
  return { message: { ...header, kind } as unknown as ProcessMessage, text: message.slice(end + 1) };
}

/** The linter takes `typeof` before a comparison with a variable for a mistake. */
function typeOf(value: unknown): string {
  return typeof value;
}

/**
 * Writes the arguments of an event or an ack: as they came, or, with attachments, which are rare, in the form of `node:v8`.
 * Throws a `RangeError` when they are nested too deep.
 */
export function writeArguments(values: readonly unknown[]): string {
  return rawArgumentsOf(values)?.json ?? serialize(values).toString("base64");
}

/** Reads the body of a request. */
export function readBody(text: string): unknown {
  return isJson(text) ? new RawRequest(text, { body: undefined, isTooDeep: false }) : deserialized(text)[1];
}

/** @param errorCode The code of the error that the answer is, if it is one. */
export function readAnswer(text: string, errorCode: number | undefined): Answer {
  if (!isJson(text)) return deserialized(text);
  return [new RawAnswer(text, errorCode === undefined ? undefined : { code: errorCode, message: "" })];
}

/** Arguments are a list. */
function isJson(text: string): boolean {
  return text.startsWith("[");
}

function deserialized(text: string): readonly unknown[] {
  const values: unknown = deserialize(Buffer.from(text, "base64"));
  if (Array.isArray(values)) return values;
  throw new TypeError("Cannot read arguments: not a list");
}
