/** JSON-RPC as the SDK's transports carry it, and the errors that a server answers. */
import type { JSONRPCMessage, RequestId } from "@modelcontextprotocol/sdk/types";
import { isRecord } from "../../json.ts";
import { SmcpError } from "../../protocol/errors.ts";

/** MCP's own error codes, as far as we answer or read them. */
export const RpcErrorCode = {
  /** `docs/protocol/resources.md#errors`. */
  RESOURCE_NOT_FOUND: -32002,
  INVALID_REQUEST: -32600,
  METHOD_NOT_FOUND: -32601,
  INVALID_PARAMS: -32602,
  INTERNAL_ERROR: -32603,
} as const;

/** A request that came in. */
export interface RpcRequest {
  readonly jsonrpc: "2.0";
  readonly id: RequestId;
  readonly method: string;
  readonly params?: Record<string, unknown> | undefined;
}

/** What answers a request. */
export type RpcResult = Record<string, unknown>;

/** The `error` member of an answer. */
export interface RpcErrorBody {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** An error that the client is to see as it is. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, options: { data?: unknown; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.data = options.data;
  }
}

/** MCP's "not found", with the URI as `data.uri`. */
export function resourceNotFound(uri: string, cause?: unknown): RpcError {
  return new RpcError(RpcErrorCode.RESOURCE_NOT_FOUND, "Resource not found", { data: { uri }, cause });
}

/** Whether a message is a request, which wants an answer. */
export function isRequest(message: JSONRPCMessage): message is JSONRPCMessage & RpcRequest {
  return "method" in message && "id" in message;
}

/**
 * Turns whatever was thrown into an answer. Errors of MCP and of the protocol were meant for the client; the text of
 * any other may hold an address, a path or a secret, so it becomes a plain -32603 (`isForeign`).
 */
export function toErrorBody(error: unknown): { readonly body: RpcErrorBody; readonly isForeign: boolean } {
  const meant = meantForClient(error);
  const body = meant ?? { code: RpcErrorCode.INTERNAL_ERROR, message: "Internal error" };
  return { body, isForeign: meant === undefined };
}

function meantForClient(error: unknown): RpcErrorBody | undefined {
  if (error instanceof SmcpError) return errorBody(error, error.details);
  if (error instanceof RpcError) return errorBody(error, error.data);
  // The SDK's own class, which an author's code throws; there may be several copies of the SDK.
  if (!(error instanceof Error) || error.name !== "McpError" || !("code" in error)) return undefined;
  const { code, message } = error;
  if (typeof code !== "number" || !Number.isSafeInteger(code)) return undefined;
  return errorBody(
    { code, message: message.replace(/^MCP error -?\d+: /, "") },
    "data" in error ? error.data : undefined,
  );
}

function errorBody(error: { readonly code: number; readonly message: string }, data: unknown): RpcErrorBody {
  const { code, message } = error;
  return data === undefined ? { code, message } : { code, message, data };
}

/** Reads the `error` member of an answer of the SDK. */
export function readErrorBody(error: unknown): RpcError {
  const { code, message, data }: Record<string, unknown> = isRecord(error) ? error : {};
  return new RpcError(
    typeof code === "number" ? code : RpcErrorCode.INTERNAL_ERROR,
    typeof message === "string" ? message : "Internal error",
    { data },
  );
}

/** What an author's code may know of the request that it reads for. */
export interface ReadRequest {
  /** Aborted when the client cancels the request or goes away. */
  readonly signal: AbortSignal;
  /** The session's id, where the transport has one (Streamable HTTP). */
  readonly sessionId: string | undefined;
  /** What the transport's authentication found out about the client: the SDK's `AuthInfo`. */
  readonly authInfo: unknown;
}

/** A request, and the way on to the SDK's own handler. */
export interface Exchange {
  /** As they came. */
  readonly params: Readonly<Record<string, unknown>>;
  /** What an author's code may know of it. */
  readonly request: ReadRequest;
  /** What the SDK's own handler answers, to other parameters if there are any; rejects with an `RpcError`. */
  next(params?: Record<string, unknown>): Promise<RpcResult>;
  /** Reports an error that is not sent to the client to the author. */
  report(error: unknown): void;
}

/** Answers a request of one method. What it throws becomes a JSON-RPC error. */
export type Answer = (exchange: Exchange) => Promise<RpcResult>;
