/** JSON-RPC messages of the SDK's transports, and the errors that a server answers with. */
import { isRecord } from "../../json/json.ts";
import { SmcpError } from "../../protocol/errors.ts";
import { type RequestId, RpcError, type RpcErrorBody, RpcErrorCode } from "../../protocol/mcp.ts";

/** A message as the SDK's transports carry it: a request, a notification or an answer. */
export interface RpcMessage {
  readonly jsonrpc: "2.0";
  readonly id?: RequestId | null | undefined;
  readonly method?: string | undefined;
  readonly params?: Readonly<Record<string, unknown>> | undefined;
  readonly result?: RpcResult | undefined;
  readonly error?: unknown;
}

export interface RpcRequest extends RpcMessage {
  readonly id: RequestId;
  readonly method: string;
}

export type RpcResult = Record<string, unknown>;

/** MCP's "not found", with the URI as `data.uri`. */
export function resourceNotFound(uri: string, cause?: unknown): RpcError {
  return new RpcError(RpcErrorCode.RESOURCE_NOT_FOUND, "Resource not found", { data: { uri }, cause });
}

/** Whether a message is a request, and needs an answer. */
export function isRequest(message: RpcMessage): message is RpcRequest {
  return message.method !== undefined && message.id !== undefined && message.id !== null;
}

/**
 * Converts a thrown value to the `error` member of an answer. Errors of MCP and of the protocol are sent unchanged. Any
 * other error becomes a -32603 without details (`isForeign`), because its message may contain an address, a path or a
 * secret.
 */
export function toErrorBody(error: unknown): { readonly body: RpcErrorBody; readonly isForeign: boolean } {
  const meant = meantForClient(error);
  const body = meant ?? { code: RpcErrorCode.INTERNAL_ERROR, message: "Internal error" };
  return { body, isForeign: meant === undefined };
}

/** The errors of both versions of the SDK: by name and not by class, since the author may use another copy. */
const SDK_ERRORS: readonly string[] = ["McpError", "ProtocolError"];

function meantForClient(error: unknown): RpcErrorBody | undefined {
  if (error instanceof RpcError) return error.body;
  if (error instanceof SmcpError) {
    return new RpcError(error.code, error.message, { data: error.details }).body;
  }
  if (!(error instanceof Error) || !SDK_ERRORS.includes(error.name) || !("code" in error)) return undefined;
  const { code, message } = error;
  if (typeof code !== "number" || !Number.isSafeInteger(code)) return undefined;
  const data = "data" in error ? error.data : undefined;
  return new RpcError(code, message.replace(/^MCP error -?\d+: /, ""), { data }).body;
}

/** Reads the `error` member of the SDK's answer. */
export function readErrorBody(error: unknown): RpcError {
  const { code, message, data }: Record<string, unknown> = isRecord(error) ? error : {};
  return new RpcError(
    typeof code === "number" ? code : RpcErrorCode.INTERNAL_ERROR,
    typeof message === "string" ? message : "Internal error",
    { data },
  );
}

/** The request of a client, as callbacks of the author get it. */
export interface ReadRequest {
  /** Aborted when the client cancels the request or disconnects. */
  readonly signal: AbortSignal;
  /** The id of the session, if the transport has sessions (Streamable HTTP). */
  readonly sessionId: string | undefined;
  /** The SDK's `AuthInfo` from the transport's authentication. */
  readonly authInfo: unknown;
}

/** A request, and access to the SDK's own handler. */
export interface Exchange {
  readonly params: Readonly<Record<string, unknown>>;
  /** The request, for callbacks of the author. */
  readonly request: ReadRequest;
  /** Calls the SDK's own handler, with other parameters if given. Rejects with an `RpcError`. */
  next(params?: Record<string, unknown>): Promise<RpcResult>;
  /** Reports to the author an error that is not sent to the client. */
  report(error: unknown): void;
}

/** Answers requests of one method. An error that it throws becomes a JSON-RPC error. */
export type RpcHandler = (exchange: Exchange) => Promise<RpcResult>;
