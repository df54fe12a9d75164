/** Errors on the wire: the class, the functions that write and read an error ack, and the bounds that every message has. */
import { ErrorCode } from "./error_codes.ts";
import { TOOL_CALL_EVENTS } from "./call.ts";
import { isDeeperThan, isRecord, MAX_REQUEST_DEPTH, surelyFits } from "../json/json.ts";
import { shorten } from "../text/text.ts";

/** What an {@linkcode SmcpError} is about. Values are JSON. */
export type ErrorDetails = Readonly<Record<string, unknown>>;

/**
 * The ack of a failed request (`docs/protocol/errors.md`). It has the flat form of the official SDKs and the `error`
 * member of `docs/protocol/errors.md#error-acks`; readers accept both. For `client:tool_call` it is also a failed
 * tool result, so that a peer that does not know the code does not take it for a success.
 */
export interface ErrorAck {
  /** One of {@linkcode ErrorCode}. */
  code: number;
  /** The message, for display. */
  message: string;
  /** What the error is about. */
  details?: ErrorDetails;
  /** The same error in the form of `docs/protocol/errors.md#error-acks`. */
  error: { code: number; message: string; details?: ErrorDetails };
  /** Only for `client:tool_call`: marks the ack as a failed tool result. */
  isError?: true;
  /** Only for `client:tool_call`: the message as the content of a tool result. */
  content?: { type: "text"; text: string }[];
}

/**
 * An error of the protocol. A failed request rejects with it, and a request handler throws it to refuse a request.
 *
 * @example
 * ```ts
 * import { assertThrows } from "@std/assert";
 * import { ErrorCode, parseDpeUri, SmcpError } from "@a2c-smcp/sdk";
 *
 * const error = assertThrows(() => parseDpeUri("dpe://"), SmcpError);
 * if (error.code !== ErrorCode.INVALID_DPE_URI) throw error;
 * ```
 */
export class SmcpError extends Error {
  /** The name of the class. */
  override readonly name: string = "SmcpError";
  /** One of {@linkcode ErrorCode}, or a code of a newer peer. */
  readonly code: number;
  /** The field, tool, document and so on that the error is about. */
  readonly details: ErrorDetails | undefined;

  /** `code` is one of {@linkcode ErrorCode}; `details` are JSON. */
  constructor(code: number, message: string, options: { details?: ErrorDetails; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details;
  }
}

/**
 * A Computer does not support a request of an Agent, such as one of our extensions: its program is of another
 * implementation, or older. `code` is 400, and `details.field` is `event`.
 */
export class UnsupportedRequestError extends SmcpError {
  /** The name of the class. */
  override readonly name = "UnsupportedRequestError";
  /** The event of the request. */
  readonly event: string;

  /** `computer` is the name of the Computer, if the request has one; `why` replaces the reason in the message. */
  constructor(
    event: string,
    options: { computer?: string | undefined; why?: string | undefined; cause?: unknown } = {},
  ) {
    const { computer, cause } = options;
    const who = computer === undefined ? "the Computer" : `Computer "${computer}"`;
    const {
      why =
        `${who}, or the Server, does not support it: its program is older, or of another implementation. Tools, ` +
        "calls and desktop work with every Computer",
    } = options;
    super(ErrorCode.BAD_REQUEST, `Cannot send "${event}": ${why}`, { details: { field: "event" }, cause });
    this.event = event;
  }
}

/** Whether a peer does not let the caller have what was asked for, as a Computer that its owner has paused. */
export function isForbidden(error: unknown): error is SmcpError {
  return error instanceof SmcpError && error.code === ErrorCode.FORBIDDEN;
}

/** A 400 whose `details.field` names the invalid field (`event` for an unknown event). */
export function badRequest(field: string, message: string): SmcpError {
  return new SmcpError(ErrorCode.BAD_REQUEST, message, { details: { field } });
}

/** A 400 for an invalid field of a message. */
export function unreadable(what: string, field: string, why: string): SmcpError {
  return badRequest(field, `Cannot read ${what} field "${field}": ${why}`);
}

/** The most characters of a `req_id`, in a request and in an error. */
export const MAX_REQUEST_ID_LENGTH = 1024;

/** Reads the `req_id` of a request that may be malformed. */
export function readRequestId(body: unknown): string | undefined {
  const reqId = isRecord(body) ? body["req_id"] : undefined;
  return typeof reqId === "string" && reqId.length <= MAX_REQUEST_ID_LENGTH ? reqId : undefined;
}

/**
 * Converts a thrown value to the ack of a failed request. Only the message of an {@linkcode SmcpError} is sent: the
 * message of any other error may contain an address, a path or a secret, so it becomes a 500 without details. The ack has
 * no `req_id`: official Agents take an ack with it for an answer.
 *
 * @param error The thrown value.
 * @param event The event of the failed request.
 */
export function toErrorAck(error: unknown, event: string): ErrorAck {
  const { code, message, details } = error instanceof SmcpError
    ? error
    : new SmcpError(ErrorCode.INTERNAL_ERROR, "Internal error");
  const body = details === undefined ? { code, message } : { code, message, details };
  return {
    ...body,
    ...(TOOL_CALL_EVENTS.has(event) ? { isError: true, content: [{ type: "text", text: message }] } : {}),
    error: body,
  };
}

/** Reads the error of an ack in either form; `undefined` when the ack is not an error. */
export function fromErrorAck(ack: unknown): SmcpError | undefined {
  // The member comes first: for peers that know few codes, the flat one may be another.
  return (isRecord(ack) ? readErrorBody(ack["error"]) : undefined) ?? readErrorBody(ack);
}

function readErrorBody(body: unknown): SmcpError | undefined {
  if (!isRecord(body)) return undefined;
  const { code, message, details } = body;
  if (typeof code !== "number" || typeof message !== "string") return undefined;
  return new SmcpError(code, message, isRecord(details) ? { details } : readFlatDetails(body));
}

/** Other Computers write the details of 4014 and 4015 next to the code, at 0.2 under another name. */
function readFlatDetails(body: Readonly<Record<string, unknown>>): { details?: ErrorDetails } {
  const { mcp_server_name, mcp_server = mcp_server_name, capability } = body;
  if (typeof mcp_server !== "string") return {};
  return { details: typeof capability === "string" ? { mcp_server, capability } : { mcp_server } };
}

/** The details to add to a message, by the code of the error. */
const TOLD_DETAILS: Readonly<Record<number, readonly string[]>> = {
  [ErrorCode.MCP_SERVER_NOT_FOUND]: ["mcp_server", "name"],
  [ErrorCode.MCP_CAPABILITY_NOT_SUPPORTED]: ["mcp_server"],
  [ErrorCode.SKILL_NAME_INVALID]: ["name"],
  [ErrorCode.SKILL_RESOURCE_NOT_ACCESSIBLE]: ["rel_path", "reason"],
  [ErrorCode.DOCUMENT_NOT_FOUND]: ["doc_ref"],
  [ErrorCode.PAGE_OUT_OF_RANGE]: ["page_index", "page_count"],
  [ErrorCode.ELEMENT_NOT_FOUND]: ["element_id"],
  [ErrorCode.INVALID_DPE_URI]: ["uri"],
};
/** The most characters of a detail in a message. */
const MAX_DETAIL_LENGTH = 128;

/**
 * Adds to the message of an error what it is about, such as a document, a page, a skill or an MCP server, unless the
 * message has it.
 */
export function withDetailsTold(error: SmcpError): SmcpError {
  const { code, message, details } = error;
  const keys = TOLD_DETAILS[code] ?? [];
  const [subject] = keys.map((key) => details?.[key]);
  // A message that names the subject says in words what is wrong with it.
  if (typeof subject === "string" && message.includes(subject)) return error;
  const told = keys.flatMap((key) => {
    const value = details?.[key];
    const isKnown = typeof value === "number" || typeof value === "string";
    if (!isKnown || message.includes(String(value))) return [];
    return [`${key} ${shorten(JSON.stringify(value), MAX_DETAIL_LENGTH)}`];
  });
  if (told.length === 0 || details === undefined) return error;
  return new SmcpError(code, `${message}: ${told.join(", ")}`, { details, cause: error });
}

const MAX_FIELD_LENGTH = 128;
/** An upper bound for what the event name, packet type, namespace and ack id add to the JSON of a message. */
const ENVELOPE_BYTES = 256;

const encoder = new TextEncoder();
/** A long text is measured piece by piece. */
const piece = new Uint8Array(16_384);

/**
 * Throws a 400 {@linkcode SmcpError} whose `details.field` names the first member of a request's body that is nested
 * more than {@linkcode MAX_REQUEST_DEPTH} levels deep: recursive readers use stack for each level.
 */
export function assertShallow(body: unknown): void {
  if (!isRecord(body)) return;
  for (const field of Object.keys(body)) {
    if (!isDeeperThan(body[field], MAX_REQUEST_DEPTH)) continue;
    const why = `nested more than ${MAX_REQUEST_DEPTH} levels deep`;
    throw unreadable("request", shorten(field, MAX_FIELD_LENGTH), why);
  }
}

/**
 * Throws a 413 when `message` does not fit into `limitBytes`: Socket.IO would close the connection. For nearly all
 * messages an upper bound is enough, which needs no serialization.
 */
export function assertFits(message: unknown, limitBytes: number): void {
  if (surelyFits(message, limitBytes - ENVELOPE_BYTES)) return;
  const size = utf8Length(JSON.stringify(message) ?? "") + ENVELOPE_BYTES;
  if (size > limitBytes) throw payloadTooLarge({ size, limit: limitBytes });
}

/** A 413 with the size of the message and the limit of the connection. */
export function payloadTooLarge(
  { size, limit }: { readonly size: number; readonly limit: number },
): SmcpError {
  return new SmcpError(
    ErrorCode.PAYLOAD_TOO_LARGE,
    `Cannot send a message of ${size} bytes: the limit of this connection is ${limit}`,
    { details: { size, limit } },
  );
}

/** The length of a text in UTF-8. Needs no copy of a long text. */
function utf8Length(text: string): number {
  let bytes = 0;
  for (let start = 0; start < text.length;) {
    // A unit takes a byte at least, so that a character at the end of the slice does not fit in half.
    const { read, written } = encoder.encodeInto(text.slice(start, start + piece.length), piece);
    bytes += written;
    start += read;
  }
  return bytes;
}
