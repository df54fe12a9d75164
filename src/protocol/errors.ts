/** Errors that cross the wire: one class, one function out, one function back. */
import { ErrorCode } from "./error_codes.ts";
import { TOOL_CALL_EVENT } from "./events.ts";
import { isRecord } from "../json.ts";
import { shorten } from "../text.ts";

/** What an {@linkcode SmcpError} may say beyond its message. Values are JSON. */
export type ErrorDetails = Readonly<Record<string, unknown>>;

/**
 * A failed request's ack: flat for today's SDKs, with the `error` member of `docs/protocol/finder.md#error-details` for tomorrow's.
 * Readers accept either form. A failed `client:tool_call` is a failed tool result as well, so that a peer that knows
 * nothing of the code never takes it for a success.
 */
export interface ErrorAck {
  /** One of {@linkcode ErrorCode}. */
  code: number;
  /** What went wrong, for people. */
  message: string;
  /** What the error is about. */
  details?: ErrorDetails;
  /** The same again, in the form of `docs/protocol/finder.md#error-details`. */
  error: { code: number; message: string; details?: ErrorDetails };
  /** The id of the request that failed, where it had one. */
  req_id?: string;
  /** A failed `client:tool_call` only: what makes it a failed tool result. */
  isError?: true;
  /** A failed `client:tool_call` only: the message as the content of a tool result. */
  content?: { type: "text"; text: string }[];
}

/** The request that an {@linkcode ErrorAck} answers. */
export interface FailedRequest {
  readonly event: string;
  /** Its `req_id`, if it had one. */
  readonly reqId: string | undefined;
}

/**
 * An error of the protocol: what a failed request rejects with, and what a request handler throws to refuse one.
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
  /** Tells the class of an error. */
  override readonly name = "SmcpError";
  /** One of {@linkcode ErrorCode}, or a code of a newer peer. */
  readonly code: number;
  /** Which field, tool, document … the error is about. */
  readonly details: ErrorDetails | undefined;

  /** `code`: one of {@linkcode ErrorCode}; `details` and `cause` where there are any. */
  constructor(code: number, message: string, options: { details?: ErrorDetails; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details;
  }
}

/** A 400 that names the offending field (`event` for an event that is not served). */
export function badRequest(field: string, message: string): SmcpError {
  return new SmcpError(ErrorCode.BAD_REQUEST, message, { details: { field } });
}

/** The longest `req_id` that a request may have, and that an error repeats. */
export const MAX_REQUEST_ID_LENGTH = 1024;

/** The id of a request that may be malformed. */
export function readRequestId(body: unknown): string | undefined {
  const reqId = isRecord(body) ? body["req_id"] : undefined;
  return typeof reqId === "string" && reqId.length <= MAX_REQUEST_ID_LENGTH ? reqId : undefined;
}

/**
 * Turns whatever was thrown into the ack of a failed request. Only an {@linkcode SmcpError} shows its text:
 * any other error may carry an address, a path or a secret, so it becomes a plain 500.
 *
 * @param error What was thrown.
 * @param request What failed; its `req_id` goes into the ack.
 */
export function toErrorAck(error: unknown, { event, reqId }: FailedRequest): ErrorAck {
  const { code, message, details } = error instanceof SmcpError
    ? error
    : new SmcpError(ErrorCode.INTERNAL_ERROR, "Internal error");
  const body = details === undefined ? { code, message } : { code, message, details };
  return {
    ...body,
    ...(reqId === undefined ? {} : { req_id: reqId }),
    ...(event === TOOL_CALL_EVENT ? { isError: true, content: [{ type: "text", text: message }] } : {}),
    error: body,
  };
}

/** Reads an ack: the error it carries in either form, or `undefined` when it is no error. */
export function fromErrorAck(ack: unknown): SmcpError | undefined {
  return readErrorBody(ack) ?? (isRecord(ack) ? readErrorBody(ack["error"]) : undefined);
}

function readErrorBody(body: unknown): SmcpError | undefined {
  if (!isRecord(body)) return undefined;
  const { code, message, details } = body;
  if (typeof code !== "number" || typeof message !== "string") return undefined;
  return new SmcpError(code, message, isRecord(details) ? { details } : readFlatDetails(body));
}

/** The reference Computer writes what 4014 and 4015 are about beside the code, under a name of its own. */
function readFlatDetails(body: Readonly<Record<string, unknown>>): { details?: ErrorDetails } {
  const { mcp_server_name: mcp_server, capability } = body;
  if (typeof mcp_server !== "string") return {};
  return { details: typeof capability === "string" ? { mcp_server, capability } : { mcp_server } };
}

/** The details that a message names, by the code of the error. */
const TOLD_DETAILS: Readonly<Record<number, readonly string[]>> = {
  [ErrorCode.DOCUMENT_NOT_FOUND]: ["doc_ref"],
  [ErrorCode.PAGE_OUT_OF_RANGE]: ["page_index", "page_count"],
  [ErrorCode.ELEMENT_NOT_FOUND]: ["element_id"],
  [ErrorCode.INVALID_DPE_URI]: ["uri"],
};
/** The longest detail in a message. */
const MAX_DETAIL_LENGTH = 128;

/**
 * The error with the details of a document, a page or an element in its message, unless the message has them already.
 */
export function withDetailsTold(error: SmcpError): SmcpError {
  const { code, message, details } = error;
  const told = (TOLD_DETAILS[code] ?? []).flatMap((key) => {
    const value = details?.[key];
    const isKnown = typeof value === "number" || typeof value === "string";
    if (!isKnown || message.includes(String(value))) return [];
    return [`${key} ${shorten(JSON.stringify(value), MAX_DETAIL_LENGTH)}`];
  });
  if (told.length === 0 || details === undefined) return error;
  return new SmcpError(code, `${message}: ${told.join(", ")}`, { details, cause: error });
}
