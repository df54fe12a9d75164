/** The errors of MCP servers that callers distinguish. */
import { RpcErrorCode } from "../protocol/mcp.ts";
import { describeError } from "../text/text.ts";

/** What is said of an answer that breaks the rules of JSON-RPC or of MCP. */
export const UNREADABLE = "its answer cannot be read";

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
  /** What only this machine may read of the reason. */
  readonly detail: string | undefined;
  /** The end of its stderr. It may hold secrets, so it stays on this machine. */
  readonly stderrTail: string;
  /** The status of the HTTP answer that is the reason. */
  readonly httpStatus: number | undefined;
  /** Whether the server lost the session before it began the request, which the next session may repeat. */
  readonly isRepeatable: boolean;

  /** @param options `detail` is part of the message, which stays on this machine. */
  constructor(options: {
    reason: string;
    detail?: string | undefined;
    server?: string;
    cause?: unknown;
    stderrTail?: string;
    httpStatus?: number | undefined;
    isRepeatable?: boolean;
  }) {
    const { reason, detail, server, cause, stderrTail = "", httpStatus, isRepeatable = false } = options;
    const what = server === undefined ? "the MCP server" : `MCP server "${server}"`;
    super(`Cannot use ${what}: ${reason}${detail === undefined ? "" : ` (${detail})`}`, { cause });
    this.reason = reason;
    this.detail = detail;
    this.stderrTail = stderrTail;
    this.httpStatus = httpStatus;
    this.isRepeatable = isRepeatable;
  }
}

/** The server did not answer in time. */
export class ServerTimeoutError extends Error {
  override readonly name = "ServerTimeoutError";
  readonly code = "SERVER_TIMEOUT";
  /** The time that ended the wait, in milliseconds, where it may differ from the time that the caller gave. */
  readonly afterMs: number | undefined;
  /** How long it made no progress, in milliseconds, where that is why the wait ended. */
  readonly idleMs: number | undefined;

  constructor(message: string, options: { readonly afterMs?: number; readonly idleMs?: number } = {}) {
    super(message);
    this.afterMs = options.afterMs;
    this.idleMs = options.idleMs;
  }
}

/** The server answered HTTP 401 or 403. */
export class ServerAuthorizationError extends Error {
  override readonly name: string = "ServerAuthorizationError";
  readonly code: string = "SERVER_AUTHORIZATION";
  /** 401 or 403. */
  readonly status: 401 | 403;

  /** @param message By default, what to check in the configuration. */
  constructor(status: 401 | 403, message?: string) {
    const advice = status === 401
      ? 'check the credentials in "headers"'
      : "check the permissions of its credentials";
    super(message ?? `Cannot use the MCP server: it answered HTTP ${status}; ${advice}`);
    this.status = status;
  }
}

/** The server wants its user to sign in. */
export class SignInRequiredError extends ServerAuthorizationError {
  override readonly name = "SignInRequiredError";
  override readonly code = "SIGN_IN_REQUIRED";
  /** The reason in a few words, without addresses and secrets; it names the command to run. */
  readonly reason: string;
  /** Scopes that one request lacks. The session goes on, since other requests work. */
  readonly missingScope: string | undefined;

  /** @param options `why`: a clause, such as "its sign-in has ended"; without it, nobody has signed in. */
  constructor(
    server: string,
    { why, missingScope }: {
      readonly why?: string | undefined;
      readonly missingScope?: string | undefined;
    } = {},
  ) {
    const advice = `run "auth login ${quoteName(server)}"`;
    const state = `${why ?? "it needs a sign-in"}; ${advice}`;
    super(missingScope === undefined ? 401 : 403, `Cannot use MCP server "${server}": ${state}`);
    // Shown beside the status, which says already that it needs a sign-in.
    this.reason = why === undefined ? advice : state;
    this.missingScope = missingScope;
  }
}

/** A sign-in has failed, or cannot begin. */
export class SignInError extends Error {
  /** The name of the class. */
  override readonly name = "SignInError";
  /** Tells this error from others. */
  readonly code: "SIGN_IN" = "SIGN_IN";
  /** Whether the sign-in is over; false when another answer may still finish it. */
  readonly isOver: boolean;

  /**
   * Creates the error.
   *
   * @param options `isOver` is true by default.
   */
  constructor(message: string, options: { readonly isOver?: boolean; readonly cause?: unknown } = {}) {
    const { isOver = true, cause } = options;
    super(message, cause === undefined ? undefined : { cause });
    this.isOver = isOver;
  }
}

function quoteName(name: string): string {
  return /^[\w.@/:-]+$/.test(name) ? name : `'${name.replaceAll("'", `'\\''`)}'`;
}

/** The server answered with a JSON-RPC error. */
export class ServerAnswerError extends Error {
  override readonly name = "ServerAnswerError";
  readonly code = "SERVER_ANSWER";
  readonly rpcCode: number;
  readonly rpcData: unknown;
  /** The HTTP status of the answer, where that is a refusal. */
  readonly httpStatus: number | undefined;

  constructor(rpcCode: number, message: string, options: { data?: unknown; httpStatus?: number } = {}) {
    super(message);
    this.rpcCode = rpcCode;
    this.rpcData = options.data;
    this.httpStatus = options.httpStatus;
  }
}

/** A call as a task brought no result. */
export class TaskError extends Error {
  override readonly name = "TaskError";
  readonly code = "TASK";
  /** The reason in a few words, for the Agent. */
  readonly reason: string;

  constructor(options: { readonly reason: string }) {
    super(`Cannot run the call as a task: ${options.reason}`);
    this.reason = options.reason;
  }
}

/** Describes why a server could not be used, in a few words without addresses and secrets. */
export function reasonOf(error: unknown): string {
  if (error instanceof ServerNotRunningError) return error.reason;
  if (error instanceof SignInRequiredError) return error.reason;
  if (error instanceof ServerAuthorizationError) return `HTTP ${error.status}`;
  if (error instanceof ServerTimeoutError) return "no answer in time";
  if (error instanceof ConfigurationError) return error.reason;
  if (error instanceof ServerAnswerError) return `it refuses to open a session (error ${error.rpcCode})`;
  return "it does not follow the MCP protocol";
}

/** The cause of a failed `fetch` in the network, the name service or TLS: the end of its message. */
export function networkReason(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return describeError(cause).replace(/^.*client error \(\w+\): /s, "");
}

/** Converts any error of a request into one of these errors. */
export function toFailure(error: unknown): unknown {
  if (isFailure(error) || error instanceof ServerAnswerError) return error;
  return new ServerNotRunningError({ reason: UNREADABLE, cause: error });
}

export function isFailure(error: unknown): boolean {
  return error instanceof ConfigurationError || error instanceof ServerNotRunningError ||
    error instanceof ServerTimeoutError || error instanceof ServerAuthorizationError;
}

/** The HTTP status of a refusal. */
export function statusOf(error: unknown): number | undefined {
  const isOwn = error instanceof ServerAnswerError || error instanceof ServerNotRunningError;
  return isOwn ? error.httpStatus : undefined;
}

/** Returns whether the server has answered in the session, if only with an error. A refusal by HTTP is no such answer. */
export function isAnswer(error: unknown): boolean {
  if (!(error instanceof ServerAnswerError)) return false;
  return error.httpStatus === undefined || error.rpcCode === RpcErrorCode.METHOD_NOT_FOUND;
}
