/**
 * What a holder of a seat and the programs that it serves tell each other, one JSON object on a line:
 *
 * - the program: `{ seat: 1 }` first, then requests `{ id, event, body, timeoutMs }`, events `{ emit, body }`, and
 *   `{ gone: true }` when it sends nothing more because the holder is leaving;
 * - the holder: `{ hello: { protocol, maxPayloadBytes } }` once it is connected, answers `{ id, answer }` and
 *   `{ id, error }`, `{ read: id }` before it passes a request on, events `{ event, body }`, `{ leaving: why }`, and `{ ended: why }`.
 */
import { isRecord } from "../../../json/json.ts";
import { SmcpError } from "../../../protocol/errors.ts";
import { ConnectionClosedError, RequestTimeoutError } from "../../../link/errors.ts";
import { PROTOCOL_MINORS, type ProtocolMinor } from "../../../protocol/version.ts";
import { describeError } from "../../../text/text.ts";
import type { Message } from "../../line_channel.ts";

/** The version of these messages: programs of different versions of this package may share a seat. */
export const SEAT_VERSION = 1;

export interface SentRequest {
  readonly id: number;
  readonly event: string;
  readonly body: unknown;
  readonly timeoutMs: number;
}

export interface Hello {
  readonly protocol: ProtocolMinor;
  readonly maxPayloadBytes: number;
}

export function readRequest({ id, event, body, timeoutMs }: Message): SentRequest | undefined {
  if (typeof id !== "number" || typeof event !== "string" || typeof timeoutMs !== "number") return undefined;
  return { id, event, body, timeoutMs };
}

export function readHello({ hello }: Message): Hello | undefined {
  if (!isRecord(hello)) return undefined;
  const { protocol: named, maxPayloadBytes } = hello;
  const protocol = PROTOCOL_MINORS.find((minor) => minor === named);
  return protocol === undefined || typeof maxPayloadBytes !== "number"
    ? undefined
    : { protocol, maxPayloadBytes };
}

/** The error of a request, as it crosses the socket. */
export function toSentError(error: unknown): Message {
  const message = describeError(error);
  if (error instanceof SmcpError) return { message, code: error.code, details: error.details };
  if (error instanceof ConnectionClosedError) return { message, isUnsent: error.isUnsent };
  return error instanceof RequestTimeoutError
    ? { message, isLate: true, isUnsent: error.isUnsent }
    : { message };
}

export function fromSentError(error: unknown): Error {
  const { message, code, details, isLate, isUnsent } = isRecord(error) ? error : {};
  const text = typeof message === "string" ? message : "Cannot complete the request";
  if (typeof code === "number") {
    return new SmcpError(code, text, isRecord(details) ? { details } : {});
  }
  const options = { isUnsent: isUnsent === true };
  return isLate === true ? new RequestTimeoutError(text, options) : new ConnectionClosedError(text, options);
}
