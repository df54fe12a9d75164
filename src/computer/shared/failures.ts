/** Translates the failure of an MCP server into the protocol's codes: one table for reads and for tool calls. */
import {
  ServerAnswerError,
  ServerAuthorizationError,
  ServerNotRunningError,
  ServerTimeoutError,
  SignInRequiredError,
  TaskError,
} from "../../mcp/errors.ts";
import type { SupervisedServer } from "../../mcp/supervision/supervised_server.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { RpcErrorCode } from "../../protocol/mcp.ts";
import { fitsApproximately, isRecord } from "../../json/json.ts";
import { type ErrorDetails, SmcpError } from "../../protocol/errors.ts";
import type { ToolResultMeta } from "../../protocol/tools.ts";
import type { DpeUri } from "../../uri/dpe_uri.ts";

const MAX_DATA_BYTES = 16 * 1024;
/** How many servers a message names; the others are counted. */
const MAX_NAMED = 5;

/**
 * Every failure of an MCP server apart from its own error answers, and the sentence that starts with the MCP server or the
 * tool (`docs/protocol/errors.md#how-errors-of-mcp-become-codes`).
 */
const FAILURES = {
  timeout: { code: ErrorCode.TIMEOUT, text: "did not answer in time" },
  unauthorized: {
    code: ErrorCode.TOOL_AUTHORIZATION_REQUIRED,
    text: "needs a valid credential: check the headers in the Computer's config",
  },
  signIn: { code: ErrorCode.TOOL_AUTHORIZATION_REQUIRED, text: "needs a sign-in at the Computer" },
  forbidden: {
    code: ErrorCode.TOOL_AUTHORIZATION_FAILED,
    text: "refused the request: check what the configured credential may do",
  },
  notRunning: { code: ErrorCode.INTERNAL_ERROR, text: "is not running" },
} as const;

/** The row of a failure; `undefined` for an answer of the server, and for an error of our own. */
function failureOf(error: unknown): keyof typeof FAILURES | undefined {
  if (error instanceof ServerTimeoutError) return "timeout";
  if (error instanceof SignInRequiredError) return "signIn";
  if (error instanceof ServerAuthorizationError) return error.status === 401 ? "unauthorized" : "forbidden";
  return error instanceof ServerNotRunningError ? "notRunning" : undefined;
}

/** The text and metadata of a tool result that replaces the result of a failed call. */
export interface ToolFailure {
  readonly text: string;
  readonly meta: ToolResultMeta;
}

/**
 * Describes why a tool call brought no result.
 *
 * @param call `name`: the tool, as it was called
 */
export function toToolFailure(
  error: unknown,
  { name, timeoutMs }: { readonly name: string; readonly timeoutMs: number },
): ToolFailure {
  const kind = failureOf(error);
  if (kind === "timeout") {
    const { idleMs, afterMs = timeoutMs } = error instanceof ServerTimeoutError ? error : {};
    const text = idleMs === undefined
      ? `Tool "${name}" did not answer in ${Math.min(afterMs, timeoutMs) / 1000} s`
      : `Tool "${name}" made no progress in ${idleMs / 1000} s`;
    return { text, meta: { error_code: ErrorCode.TOOL_TIMEOUT, a2c_timeout: true } };
  }
  if (error instanceof SignInRequiredError) {
    const text = `Tool "${name}" failed: ${error.message} at the Computer`;
    return { text, meta: { error_code: FAILURES.signIn.code } };
  }
  if (kind === "unauthorized" || kind === "forbidden") {
    const { text, code } = FAILURES[kind];
    return { text: `Tool "${name}" ${text}`, meta: { error_code: code } };
  }
  return {
    text: `Tool "${name}" failed: ${toolReasonOf(error)}`,
    meta: {
      error_code: ErrorCode.TOOL_EXECUTION_FAILED,
      ...(kind === "notRunning" ? { a2c_reason: "not_running" } : {}),
    },
  };
}

function toolReasonOf(error: unknown): string {
  if (error instanceof ServerAnswerError) return `${error.message} (${error.rpcCode})`;
  if (error instanceof TaskError) return error.reason;
  return error instanceof ServerNotRunningError ? error.message : "internal error";
}

export interface FailedRead {
  readonly server: Pick<SupervisedServer, "name" | "status">;
  readonly uri?: string | undefined;
  readonly dpe?: DpeUri | undefined;
  readonly isListed?: boolean;
  readonly pageCount?: () => number | undefined;
}

/** The error that the Agent gets for a failed read or list (`docs/protocol/finder.md#error-path`). */
export function toReadError(error: unknown, read: FailedRead): unknown {
  if (error instanceof ServerAnswerError) return fromAnswer(error, read);
  const kind = failureOf(error);
  if (kind === undefined) return error;
  const { code, text } = FAILURES[kind];
  const { name: mcp_server, status: state } = read.server;
  const details = kind === "notRunning" ? { mcp_server, state } : { mcp_server };
  const isRefused = error instanceof ServerNotRunningError && state === "running";
  const what = error instanceof SignInRequiredError
    ? `${text}: ${error.reason}`
    : isRefused
    ? `failed: ${error.reason}`
    : text;
  return smcpError(code, `MCP server "${mcp_server}" ${what}`, details, error);
}

function fromAnswer(error: ServerAnswerError, read: FailedRead): SmcpError {
  const code = finderCode(error);
  if (code !== undefined) {
    const details = answerDetails(error.rpcData) ?? knownDetails(code, read);
    return smcpError(code, error.message, details, error);
  }
  if (error.rpcCode === RpcErrorCode.RESOURCE_NOT_FOUND && read.uri !== undefined) {
    return notFound(error, read);
  }
  const mcp_server = read.server.name;
  const command = logCommandFor(error, mcp_server);
  const hint = command === undefined ? "" : `; run "${command}" on its Computer for details`;
  const details = {
    mcp_server,
    code: error.rpcCode,
    ...(isWorthKeeping(error.rpcData) ? { data: error.rpcData } : {}),
  };
  const message = `MCP server "${mcp_server}" failed: ${error.message}${hint}`;
  return smcpError(ErrorCode.INTERNAL_ERROR, message, details, error);
}

/** The command of the Computer that prints the server's log; `undefined` where the error explains itself. */
export function logCommandFor(error: unknown, server: string): string | undefined {
  const isUnexpected = error instanceof ServerAnswerError && error.rpcCode === RpcErrorCode.INTERNAL_ERROR;
  return isUnexpected ? `server logs ${server}` : undefined;
}

/** 4201–4203: the JSON-RPC code of the answer, or `data.code` where the server's SDK allows no other JSON-RPC codes. */
function finderCode({ rpcCode, rpcData }: ServerAnswerError): number | undefined {
  const codes = [rpcCode, isRecord(rpcData) ? rpcData["code"] : undefined];
  return codes.find((code) =>
    typeof code === "number" && code >= ErrorCode.DOCUMENT_NOT_FOUND && code <= ErrorCode.ELEMENT_NOT_FOUND
  ) as number | undefined;
}

/** The details that follow from the URI and the known document, for servers that give none (`docs/protocol/errors.md#codes-at-a-glance`). */
function knownDetails(code: number, { dpe, pageCount }: FailedRead): ErrorDetails {
  if (dpe === undefined) return {};
  const { docRef: doc_ref, pageIndex: page_index, elementId: element_id } = dpe;
  const details = code === ErrorCode.PAGE_OUT_OF_RANGE
    ? { doc_ref, page_index, page_count: pageCount?.() }
    : code === ErrorCode.ELEMENT_NOT_FOUND
    ? { doc_ref, element_id }
    : { doc_ref };
  return Object.fromEntries(Object.entries(details).filter(([, value]) => value !== undefined));
}

function isWorthKeeping(data: unknown): boolean {
  return data !== undefined && data !== null && fitsApproximately(data, MAX_DATA_BYTES);
}

function answerDetails(data: unknown): ErrorDetails | undefined {
  if (!isRecord(data) || !isWorthKeeping(data)) return undefined;
  if (isRecord(data["details"])) return data["details"];
  const { code: _code, message: _message, ...details } = data;
  return Object.keys(details).length === 0 ? undefined : details;
}

/** MCP has one "not found". The level of the URI decides which part is missing, if the document is known to exist. */
function notFound(error: ServerAnswerError, read: FailedRead): SmcpError {
  const { uri, dpe, isListed } = read;
  if (dpe === undefined) return smcpError(ErrorCode.NOT_FOUND, "Resource not found", { uri }, error);
  const level = isListed === true ? dpe.level : 1;
  const [code, message] = level === 2
    ? [ErrorCode.PAGE_OUT_OF_RANGE, "Page out of range"] as const
    : level === 3
    ? [ErrorCode.ELEMENT_NOT_FOUND, "Element not found"] as const
    : [ErrorCode.DOCUMENT_NOT_FOUND, "Document not found"] as const;
  return smcpError(code, message, knownDetails(code, read), error);
}

function smcpError(
  code: number,
  message: string,
  details: ErrorDetails | undefined,
  cause: unknown,
): SmcpError {
  return new SmcpError(code, message, { cause, ...(details === undefined ? {} : { details }) });
}

/** The end of a "not found" message: the servers that do not run now. Empty when all servers run. */
export function absentServersHint(
  { servers }: { readonly servers: readonly Pick<SupervisedServer, "name" | "status" | "statusText">[] },
): string {
  const absent = servers.filter(({ status }) => status !== "running");
  return serversHint("not running", absent.map(({ name, statusText }) => `${name} (${statusText})`));
}

/** The end of a "not found" message: the servers that may have what was not found. Empty without servers. */
export function serversHint(state: string, servers: readonly string[]): string {
  if (servers.length === 0) return "";
  const others = servers.length - MAX_NAMED;
  return `; ${state}: ${servers.slice(0, MAX_NAMED).join(", ")}${others > 0 ? ` and ${others} more` : ""}`;
}
