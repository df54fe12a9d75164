/** What processes send to one another on their private channels: `kind {header}`, a line break, and arguments as they came. */
import { isRecord, parseJson } from "../../../json.ts";
import { ErrorCode } from "../../../protocol/error_codes.ts";
import { SmcpError } from "../../../protocol/errors.ts";

/** A request for a Computer. */
export interface AskMessage {
  readonly kind: "ask";
  readonly id: number;
  /** The fence of the sender, which the answer goes to. */
  readonly from: string;
  /** The connection of the Computer. */
  readonly sid: string;
  readonly event: string;
  readonly reqId: string;
  readonly agent: string;
  readonly computer: string;
  readonly officeId: string;
  readonly isObserving: boolean;
  readonly timeoutMs: number;
}

/** An event for a Computer, without an ack. */
export interface TellMessage {
  readonly kind: "tell";
  /** The fence of the sender. */
  readonly from: string;
  readonly sid: string;
  readonly officeId: string;
  readonly event: string;
}

/** The answer of a Computer. */
export interface AnswerMessage {
  readonly kind: "answer";
  /** As in {@linkcode TellMessage}. */
  readonly from: string;
  readonly id: number;
  /** The code of the error that it is, if it is one. */
  readonly errorCode: number | undefined;
}

/** A request that has failed. */
export interface FailMessage {
  readonly kind: "fail";
  /** As in {@linkcode TellMessage}. */
  readonly from: string;
  readonly id: number;
  readonly code: number;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>> | undefined;
}

/** The sender of a request has left. */
export interface DropMessage {
  readonly kind: "drop";
  readonly id: number;
  readonly from: string;
  /** The connection of the Computer. */
  readonly sid: string;
}

/** Asks the process of a connection to stop acting for it, because a newer one takes its place. */
export interface EvictMessage {
  readonly kind: "evict";
  readonly id: number;
  readonly from: string;
  readonly sid: string;
}

/** Confirms that. */
export interface EvictedMessage {
  readonly kind: "evicted";
  readonly id: number;
}

/** Confirms that so many bytes of earlier messages have been received. */
export interface ReceivedMessage {
  readonly kind: "received";
  readonly from: string;
  readonly bytes: number;
}

/** A message without its arguments. */
export type ProcessMessage =
  | AskMessage
  | TellMessage
  | AnswerMessage
  | FailMessage
  | DropMessage
  | EvictMessage
  | EvictedMessage
  | ReceivedMessage;

type FieldType = "string" | "number" | "boolean";

const FIELDS: Readonly<Record<ProcessMessage["kind"], Readonly<Record<string, FieldType>>>> = {
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
  tell: { from: "string", sid: "string", officeId: "string", event: "string" },
  answer: { from: "string", id: "number" },
  fail: { from: "string", id: "number", code: "number", message: "string" },
  drop: { id: "number", from: "string", sid: "string" },
  evict: { id: "number", from: "string", sid: "string" },
  evicted: { id: "number" },
  received: { from: "string", bytes: "number" },
};

/** Writes a message. */
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

function typeOf(value: unknown): string {
  return typeof value;
}

function isKind(kind: string): kind is ProcessMessage["kind"] {
  return Object.hasOwn(FIELDS, kind);
}

/** Builds the message of a request that has failed. Errors that are not of the protocol are not told to others. */
export function toFailure(reply: Pick<FailMessage, "id" | "from">, error: unknown): FailMessage {
  const { code, message, details } = error instanceof SmcpError
    ? error
    : new SmcpError(ErrorCode.INTERNAL_ERROR, "Internal error");
  return { ...reply, kind: "fail", code, message, details };
}

/** Turns the message of a failed request back into its error. */
export function toError({ code, message, details }: FailMessage): SmcpError {
  return new SmcpError(code, message, details === undefined ? {} : { details });
}
