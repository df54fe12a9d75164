/** What processes send to one another on their private channels: `kind {header}`, a line break, and arguments as they came. */
import { Buffer } from "node:buffer";
import { deserialize, serialize } from "node:v8";
import { isRecord, parseJson } from "../../../json/json.ts";
import type { SmcpError } from "../../../protocol/errors.ts";
import type { Answer, RelayedRequest } from "../../relay/pending_requests.ts";
import { RawAnswer, rawArgumentsOf, RawRequest } from "../../engine/raw.ts";

/** What each kind of message has besides its sender. `sid` is a connection of the receiver. */
interface Fields {
  /** A request for a Computer. Answers repeat its `id`. */
  readonly ask: RelayedRequest & { readonly id: number; readonly sid: string };
  /** An event for a Computer, without an ack. */
  readonly tell: { readonly sid: string; readonly officeId: string; readonly event: string };
  /** The sender of a request has left, or was lost. */
  readonly drop: { readonly id: number; readonly sid: string; readonly mayReturn: boolean };
  /** The answer of a Computer, with the code of the error that it is, if it is one. */
  readonly answer: { readonly id: number; readonly errorCode: number | undefined };
  /** A request that has failed. */
  readonly fail: { readonly id: number } & Pick<SmcpError, "code" | "message" | "details">;
  /** The connection `newer` takes the place of others of its session, in all offices but one. */
  readonly replace: { readonly sessionId: string; readonly newer: string; readonly exceptOffice: string };
  /** All older connections of the session of `newer` have ended in the process that says so. */
  readonly replaced: { readonly newer: string };
  /** Confirms that so many bytes of earlier messages have been received. */
  readonly received: { readonly bytes: number };
}

const KINDS: readonly string[] = ["ask", "tell", "drop", "answer", "fail", "replace", "replaced", "received"];

/** A message of some kinds, without its arguments. `from` is the fence of its sender. */
export type MessageOf<Kind extends keyof Fields> = {
  [Each in Kind]: { readonly kind: Each; readonly from: string } & Fields[Each];
}[Kind];
export type ProcessMessage = MessageOf<keyof Fields>;

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
  if (!KINDS.includes(kind) || !isRecord(header) || typeof header["from"] !== "string") return undefined;
  return { message: { ...header, kind } as unknown as ProcessMessage, text: message.slice(end + 1) };
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

/** @param errorCode The code of the error that the answer tells, if it tells one. */
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
