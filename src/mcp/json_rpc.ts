/** The messages of JSON-RPC 2.0, and a transport that carries them. */
import { isRecord } from "../json.ts";

/** The id of a request. */
export type RequestId = string | number;

/** A request, with the method first: over HTTP, a request is told from others by the beginning of its JSON. */
export interface RpcRequest {
  readonly method: string;
  readonly params?: Record<string, unknown>;
  readonly jsonrpc: "2.0";
  readonly id: RequestId;
}

/** A notification. */
export interface RpcNotification {
  readonly method: string;
  readonly params?: Record<string, unknown>;
  readonly jsonrpc: "2.0";
}

/** The answer to a request. */
export interface RpcResult {
  readonly jsonrpc: "2.0";
  readonly id: RequestId;
  readonly result: Record<string, unknown>;
}

/** The refusal of a request; without an id, of something that could not be read. */
export interface RpcFailure {
  readonly jsonrpc: "2.0";
  readonly id?: RequestId;
  readonly error: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** Any message. */
export type RpcMessage = RpcRequest | RpcNotification | RpcResult | RpcFailure;

/** What a transport is told about one message; a transport with one channel for everything ignores it. */
export interface SendOptions {
  /** Closes the stream of the answer. */
  readonly requestSignal?: AbortSignal;
  /** Called when the stream of the answer has ended, for whatever reason but its signal. */
  readonly onRequestStreamEnd?: () => void;
  /** Further headers of an HTTP request. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Carries messages to an MCP server and back. The transports of the MCP SDK have the same shape. */
export interface Transport {
  start(): Promise<void>;
  send(message: RpcMessage, options?: SendOptions): Promise<void>;
  close(): Promise<void>;
  setProtocolVersion?(version: string): void;
  /** Whether each request has a stream of its own for its answer, as over Streamable HTTP. */
  readonly hasPerRequestStream?: boolean;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: RpcMessage) => void) | undefined;
}

/** Reads a message; `undefined` for anything else. Members that JSON-RPC does not name are ignored. */
export function readMessage(value: unknown): RpcMessage | undefined {
  if (!isRecord(value) || value["jsonrpc"] !== "2.0") return undefined;
  if (isRequestOrNotification(value) || isResult(value) || isFailureMessage(value)) return value;
  return undefined;
}

/** Returns whether a value may be the id of a request. */
export function isRequestId(id: unknown): id is RequestId {
  return typeof id === "string" || (typeof id === "number" && Number.isInteger(id));
}

function isRequestOrNotification(value: object): value is RpcRequest | RpcNotification {
  const { method, params, id }: { method?: unknown; params?: unknown; id?: unknown } = value;
  return typeof method === "string" && (params === undefined || isRecord(params)) &&
    (id === undefined || isRequestId(id));
}

function isResult(value: object): value is RpcResult {
  const { id, result }: { id?: unknown; result?: unknown } = value;
  return isRequestId(id) && isRecord(result);
}

function isFailureMessage(value: object): value is RpcFailure {
  const { id, error }: { id?: unknown; error?: unknown } = value;
  return (id === undefined || isRequestId(id)) && isRecord(error) && Number.isInteger(error["code"]) &&
    typeof error["message"] === "string";
}
