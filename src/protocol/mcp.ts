/** What MCP fixes for all who speak it: its versions, the codes of errors, and how requests of JSON-RPC are answered. */

/** The name of the Skills extension of MCP (SEP-2640). */
export const SKILLS_EXTENSION = "io.modelcontextprotocol/skills";

/** The versions with sessions, which `initialize` opens; the newest first. */
export const SESSION_VERSIONS: readonly string[] = [
  "2025-11-25",
  "2025-06-18",
  "2025-03-26",
  "2024-11-05",
  "2024-10-07",
];
/** The version without sessions, and without a handshake. */
export const STATELESS_VERSION = "2026-07-28";
/** The request of that version that opens a stream of changes. */
export const LISTEN_METHOD = "subscriptions/listen";
/** The member of `_meta` by which each request without a handshake tells its version. */
export const VERSION_MEMBER = "io.modelcontextprotocol/protocolVersion";

/** Codes of errors, of JSON-RPC and of MCP. */
export const RpcErrorCode = {
  PARSE_ERROR: -32700,
  INVALID_REQUEST: -32600,
  METHOD_NOT_FOUND: -32601,
  INVALID_PARAMS: -32602,
  INTERNAL_ERROR: -32603,
  /** Before 2026-07-28, which has INVALID_PARAMS in its place (`docs/protocol/resources.md#errors`). */
  RESOURCE_NOT_FOUND: -32002,
  /** HTTP headers that do not agree with the request. */
  HEADER_MISMATCH: -32020,
  /** A request of a version that the server does not speak. */
  UNSUPPORTED_VERSION: -32022,
  URL_ELICITATION_REQUIRED: -32042,
} as const;

export type RequestId = string | number;

export function isRequestId(id: unknown): id is RequestId {
  return typeof id === "string" || (typeof id === "number" && Number.isInteger(id));
}

/** The `error` member of an answer. */
export interface RpcErrorBody {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** Refuses a request: sent to the peer as it is. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, options: { data?: unknown; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.data = options.data;
  }

  get body(): RpcErrorBody {
    const { code, message, data } = this;
    return { code, message, ...(data !== undefined && { data }) };
  }
}

/** The requests of a peer that are being answered. */
export class ServedRequests {
  readonly #running = new Map<RequestId, AbortController>();

  get size(): number {
    return this.#running.size;
  }

  has(id: RequestId): boolean {
    return this.#running.has(id);
  }

  /** Resolves to the answer; to `undefined` when the request was cancelled, which wants none. */
  async serve<T>(id: RequestId, answer: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
    const running = new AbortController();
    const { signal } = running;
    this.#running.set(id, running);
    try {
      const answered = await answer(signal);
      return signal.aborted ? undefined : answered;
    } finally {
      // The peer may have given a later request the same id.
      if (this.#running.get(id) === running) this.#running.delete(id);
    }
  }

  /** Aborts the signal of a request, whose id is then free; does nothing for an unknown one. */
  cancel(id: unknown, reason: Error): void {
    if (!isRequestId(id)) return;
    this.#running.get(id)?.abort(reason);
    this.#running.delete(id);
  }

  /** Cancels all. */
  end(reason: Error): void {
    for (const running of this.#running.values()) running.abort(reason);
    this.#running.clear();
  }
}
