/** One request of a client, from whoever answers it to whoever reads for it. */
import type { RpcResult } from "./json_rpc.ts";

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
