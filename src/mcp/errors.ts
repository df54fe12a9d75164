/** The errors of MCP servers that callers distinguish. */

/** Codes of JSON-RPC errors that this client handles or sends. */
export const RpcErrorCode = {
  PARSE_ERROR: -32700,
  METHOD_NOT_FOUND: -32601,
  INVALID_PARAMS: -32602,
  INTERNAL_ERROR: -32603,
} as const;

/** The server cannot start as it is configured: no such command, a missing input, an invalid URL. Retrying does not help. */
export class ConfigurationError extends Error {
  override readonly name = "ConfigurationError";
  readonly code = "CONFIGURATION";
  /** The reason in a few words, without addresses, names and secrets. */
  readonly reason: string;

  /** @param options `reason` is "invalid configuration" by default. */
  constructor(message: string, options: { readonly reason?: string; readonly cause?: unknown } = {}) {
    const { reason = "invalid configuration", cause } = options;
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}

/** The server is not running, exited during the request, or cannot be reached. */
export class ServerNotRunningError extends Error {
  override readonly name = "ServerNotRunningError";
  readonly code = "SERVER_NOT_RUNNING";
  /** The reason in a few words, without addresses and secrets. */
  readonly reason: string;
  /** The end of its stderr. It may hold secrets, so it stays on this machine. */
  readonly stderrTail: string;

  /** @param options `detail` is part of the message only, which stays on this machine. */
  constructor(
    options: { reason: string; detail?: string; server?: string; cause?: unknown; stderrTail?: string },
  ) {
    const { reason, detail, server, cause, stderrTail = "" } = options;
    const what = server === undefined ? "the MCP server" : `MCP server "${server}"`;
    super(`Cannot use ${what}: ${reason}${detail === undefined ? "" : ` (${detail})`}`, { cause });
    this.reason = reason;
    this.stderrTail = stderrTail;
  }
}

/** The server did not answer in time. */
export class ServerTimeoutError extends Error {
  override readonly name = "ServerTimeoutError";
  readonly code = "SERVER_TIMEOUT";
  /** How long it made no progress, in milliseconds, where that is why the wait ended. */
  readonly idleMs: number | undefined;

  constructor(
    message: string,
    { cause, idleMs }: { readonly cause?: unknown; readonly idleMs?: number } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.idleMs = idleMs;
  }
}

/** The server answered HTTP 401 or 403. */
export class ServerAuthorizationError extends Error {
  override readonly name = "ServerAuthorizationError";
  readonly code = "SERVER_AUTHORIZATION";
  /** 401 or 403. */
  readonly status: 401 | 403;

  constructor(status: 401 | 403) {
    const advice = status === 401
      ? 'check the credentials in "headers"'
      : "check the permissions of its credentials";
    super(`Cannot use the MCP server: it answered HTTP ${status}; ${advice}`);
    this.status = status;
  }
}

/** The server answered with a JSON-RPC error. */
export class ServerAnswerError extends Error {
  override readonly name = "ServerAnswerError";
  readonly code = "SERVER_ANSWER";
  /** The JSON-RPC `error.code`. */
  readonly rpcCode: number;
  /** The JSON-RPC `error.data`. */
  readonly rpcData: unknown;

  constructor(rpcCode: number, message: string, options: { data?: unknown } = {}) {
    super(message);
    this.rpcCode = rpcCode;
    this.rpcData = options.data;
  }
}

/** Describes why a server could not be used, in a few words without addresses and secrets. */
export function reasonOf(error: unknown): string {
  if (error instanceof ServerNotRunningError) return error.reason;
  if (error instanceof ServerAuthorizationError) return `HTTP ${error.status}`;
  if (error instanceof ServerTimeoutError) return "no answer in time";
  if (error instanceof ConfigurationError) return error.reason;
  return "it does not follow the MCP protocol";
}

/** Converts an error of a transport of the SDK into one of these errors. */
export function toFailure(error: unknown): unknown {
  if (isFailure(error) || error instanceof ServerAnswerError) return error;
  return new ServerNotRunningError({ reason: "its answer cannot be read", cause: error });
}

/** Returns whether the error needs no conversion. */
export function isFailure(error: unknown): boolean {
  return error instanceof ConfigurationError || error instanceof ServerNotRunningError ||
    error instanceof ServerTimeoutError || error instanceof ServerAuthorizationError;
}
