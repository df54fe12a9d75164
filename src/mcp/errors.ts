/** What can go wrong with an MCP server, as far as callers tell it apart. */
import { isRecord } from "../json.ts";
import { shorten } from "../text.ts";

/** Codes of JSON-RPC errors that this client handles or sends; the negative ones above -32100 are of the MCP SDK. */
export const RpcErrorCode = {
  PARSE_ERROR: -32700,
  CONNECTION_CLOSED: -32000,
  REQUEST_TIMEOUT: -32001,
} as const;

/** How much of a server's error message is read, in characters; whoever passes it on masks it and cuts it further. */
const MAX_ERROR_LENGTH = 65_536;

/** The server can never start like this: no such command, a missing input, a malformed URL. Trying again is of no use. */
export class ConfigurationError extends Error {
  override readonly name = "ConfigurationError";
  readonly code = "CONFIGURATION";
}

/** The server is not running, died with the request in flight, or cannot be talked to. */
export class ServerNotRunningError extends Error {
  override readonly name = "ServerNotRunningError";
  readonly code = "SERVER_NOT_RUNNING";
  /** Why, in a few words that hold no address and no secret. */
  readonly reason: string;
  /** The end of what its process wrote to stderr: for local eyes only, it may hold secrets. */
  readonly stderrTail: string;

  /** `detail` stands in the message, which is for local eyes only. */
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
}

/** The server answered HTTP 401 or 403. */
export class ServerAuthorizationError extends Error {
  override readonly name = "ServerAuthorizationError";
  readonly code = "SERVER_AUTHORIZATION";
  /** 401 or 403. */
  readonly status: 401 | 403;

  constructor(status: 401 | 403) {
    const advice = status === 401
      ? "check the credential in its headers"
      : "check what its credential may do";
    super(`Cannot use the MCP server: it answers HTTP ${status}; ${advice}`);
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

  constructor(rpcCode: number, message: string, options: { data?: unknown; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.rpcCode = rpcCode;
    this.rpcData = options.data;
  }
}

/** Why a server could not be used, in a few words that hold no address and no secret. */
export function reasonOf(error: unknown): string {
  if (error instanceof ServerNotRunningError) return error.reason;
  if (error instanceof ServerAuthorizationError) return `HTTP ${error.status}`;
  if (error instanceof ServerTimeoutError) return "no answer in time";
  if (error instanceof ConfigurationError) return "its configuration cannot be used";
  return "it does not speak MCP as expected";
}

/** Says what happened in terms that callers tell apart. */
export function toFailure(error: unknown, method: string): unknown {
  if (isFailure(error)) return error;
  if (!isMcpError(error)) {
    return new ServerNotRunningError({ reason: "its answer cannot be read", cause: error });
  }
  if (error.code === RpcErrorCode.REQUEST_TIMEOUT && isRecord(error.data) && "timeout" in error.data) {
    return new ServerTimeoutError(`Cannot complete "${method}": no answer in time`, { cause: error });
  }
  // Of our own making: a server cannot send it.
  if (isFailure(error.data)) return error.data;
  const message = shorten(error.message.replace(/^MCP error -?\d+: /, ""), MAX_ERROR_LENGTH);
  return new ServerAnswerError(error.code, message, { data: error.data, cause: error });
}

/** An error of the MCP SDK. It is recognized by its name, because the SDK is loaded with the first connection only. */
export interface McpError extends Error {
  /** The code of JSON-RPC, or one of {@linkcode RpcErrorCode} that the SDK made up. */
  readonly code: number;
  readonly data?: unknown;
}

/** Whether the MCP SDK raised the error, for an error answer or a condition of its own. */
export function isMcpError(error: unknown): error is McpError {
  return error instanceof Error && error.name === "McpError" && "code" in error &&
    typeof error.code === "number";
}

/** Whether callers know the error already. */
export function isFailure(error: unknown): boolean {
  return error instanceof ConfigurationError || error instanceof ServerNotRunningError ||
    error instanceof ServerTimeoutError || error instanceof ServerAuthorizationError;
}
