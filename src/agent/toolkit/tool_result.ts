/** Results of Computers for MCP clients. */
import { ConnectionClosedError, mayHaveRun, RequestTimeoutError } from "../../link/errors.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { SmcpError, UnsupportedRequestError } from "../../protocol/errors.ts";
import { ASK_TOOL_CALL_EVENT } from "../../protocol/events.ts";
import { A2C_INPUT_REQUIRED } from "../../protocol/questions.ts";
import {
  A2C_MCP_SERVER,
  A2C_TOOL_META,
  type CallToolResult,
  type ContentItem,
} from "../../protocol/tools.ts";
import { timeText } from "../../text/text.ts";
import { toSeenError, toSeenName } from "../../text/safe_text.ts";
import { toContent, toWellFormed } from "./list_entries.ts";
import { errorResult, type Json, type McpContent, type McpToolResult } from "../../local_tools/mcp.ts";
import { A2C_COMPUTER, type ToClientUri, toOwnMeta } from "./tool_definition.ts";
import type { GoneComputer } from "./toolset.ts";

/** What a model can do while an office cannot be reached: a lost connection comes back. */
export const TRY_AGAIN = "Try again in a few seconds; if this lasts, tell the user";
/** What a problem says that only the user can solve, such as wrong credentials. */
export const TELL_USER = "Trying again does not help: tell the user";

/** Why an office cannot be reached, and what a model can do about it. @param effect What the call has done. */
export function withAdvice(problem: string, effect = ""): string {
  return problem.includes(TELL_USER) ? problem + effect : `${problem}${effect}. ${TRY_AGAIN}`;
}

/** The states of an MCP server that will run again by itself. */
const COMING_BACK: ReadonlySet<unknown> = new Set(["starting", "retrying"]);

/** What a model can do after a failure, by the code of the result. */
const ADVICE: Readonly<Record<number, string>> = {
  [ErrorCode.TOOL_NOT_FOUND]: "The list of tools has changed: list the tools again, and call one of those.",
  [ErrorCode.TOOL_DISABLED]:
    "The owner of this Computer has switched the tool off. Do not call it again; use another tool, or ask the user.",
  [ErrorCode.TOOL_TIMEOUT]:
    "The tool may have run, and was told to stop. Check what it has done before you call it again.",
  [ErrorCode.TOOL_REQUIRES_CONFIRMATION]:
    "The tool did not run. Tell the user why, and call it again only when they ask for it.",
};

/** The codes of tools that did not run, where a result does not say it. */
const NOT_RUN: ReadonlySet<number> = new Set([
  ErrorCode.TOOL_NOT_FOUND,
  ErrorCode.TOOL_DISABLED,
  ErrorCode.TOOL_REQUIRES_CONFIRMATION,
  ErrorCode.TOOL_AUTHORIZATION_REQUIRED,
  ErrorCode.TOOL_AUTHORIZATION_FAILED,
]);

/** After a failure in which the MCP server was asked, for whatever other reason. */
const CHECK_FIRST = "The tool may have run. Check what it has done before you call it again.";

/** After a failure in which nothing ran, and that passes. */
const NOT_NOW = `The tool did not run. ${TRY_AGAIN}.`;

/** Translates a result: every kind of content is kept, and links can be followed. */
export function toMcpResult(
  result: CallToolResult,
  { toClientUri, ...from }: {
    readonly computer: string;
    readonly mcpServer: string | undefined;
    readonly toClientUri: ToClientUri;
  },
): McpToolResult {
  const { content, structuredContent, isError = false, meta } = result;
  // A client has no use for the open question of a call, or for the Computer's own settings of the tool. The MCP server may
  // not say which one it is.
  const { [A2C_INPUT_REQUIRED]: _question, [A2C_TOOL_META]: _settings, [A2C_MCP_SERVER]: _claim, ...rest } =
    meta ?? {};
  const translate = (uri: string) => toClientUri(uri, from);
  const mayHaveRun = isError ? effectOf(meta) : undefined;
  const advice = mayHaveRun === undefined
    ? undefined
    : ADVICE[meta?.error_code ?? 0] ?? adviceOf(meta, mayHaveRun);
  const translated: McpToolResult = {
    content: [
      ...content.map((item) => toMcpContent(item, translate)),
      ...(advice === undefined ? [] : [{ type: "text" as const, text: advice }]),
    ],
    ...(structuredContent === undefined ? {} : { structuredContent }),
    ...(isError ? { isError } : {}),
    _meta: { ...rest, ...(mayHaveRun === undefined ? {} : { may_have_run: mayHaveRun }), ...toOwnMeta(from) },
  };
  return toWellFormed(translated);
}

/** Whether the tool may have run, of a failure that the Computer tells; `undefined` for one that the tool tells itself. */
function effectOf(meta: CallToolResult["meta"]): boolean | undefined {
  const { error_code: code, a2c_reason: reason, a2c_cancelled: isCancelled, may_have_run } = meta ?? {};
  if (code === undefined && isCancelled !== true) return undefined;
  if (typeof may_have_run === "boolean") return may_have_run;
  return reason === undefined && (code === undefined || !NOT_RUN.has(code));
}

function adviceOf(meta: CallToolResult["meta"], mayHaveRun: boolean): string | undefined {
  if (mayHaveRun) return CHECK_FIRST;
  return meta?.a2c_reason === "not_running" || meta?.a2c_reason === "busy" ? NOT_NOW : undefined;
}

/** Translates an item of a result or a prompt; one that MCP does not know becomes its JSON. */
export function toMcpContent(item: ContentItem, translate: (uri: string) => string): McpContent {
  return toContent(translated(item, translate));
}

function translated(
  item: ContentItem,
  translate: (uri: string) => string,
): Json & { readonly type: string } {
  switch (item.type) {
    case "unknown":
      return { type: "text", text: JSON.stringify(item.item) };
    case "resource_link":
      // MCP demands a name.
      return { ...item, name: item.name ?? item.uri, uri: translate(item.uri) };
    case "resource":
      return { ...item, resource: { ...item.resource, uri: translate(item.resource.uri) } };
    default:
      return { ...item };
  }
}

/** The result of a call of a tool that is not there. `problem` says why the office cannot be reached. */
export function noToolResult(
  name: string,
  { problem, gone }: { readonly problem: string | undefined; readonly gone: GoneComputer | undefined },
): McpToolResult {
  const why = problem !== undefined
    ? withAdvice(problem)
    : gone === undefined
    ? "its Computer may be asleep or gone, or the list has changed. List the tools again and call one of those"
    : `Computer ${toSeenName(gone.computer)} is gone since ${
      timeText(gone.since)
    }. Call list_computers to see who is there`;
  return errorResult(`No tool named ${toSeenName(name)} is there now: ${why}`, {
    error_code: ErrorCode.TOOL_NOT_FOUND,
    may_have_run: false,
  });
}

/** A call that has no result: what happened, and what a model can do about it. */
export function failureResult(
  error: unknown,
  { name, computer }: { readonly name: string; readonly computer: string },
): McpToolResult {
  const text = `Cannot call "${name}" on Computer ${toSeenName(computer)}: ${explain(error, computer)}`;
  const retry_after_ms = error instanceof SmcpError ? error.details?.["retry_after_ms"] : undefined;
  return errorResult(text, {
    [A2C_COMPUTER]: computer,
    error_code: codeOf(error),
    may_have_run: mayHaveRun(error),
    ...(typeof retry_after_ms === "number" ? { retry_after_ms } : {}),
  });
}

/** What never crossed the wire has the code that a Server would have answered. */
function codeOf(error: unknown): number {
  if (error instanceof RequestTimeoutError) return ErrorCode.TIMEOUT;
  if (error instanceof ConnectionClosedError) return ErrorCode.UNAVAILABLE;
  return error instanceof SmcpError ? error.code : ErrorCode.INTERNAL_ERROR;
}

/** Why a read of a Computer has failed, and what a model can do about it. */
export function explainRead(error: unknown): string {
  const isComingBack = error instanceof SmcpError && COMING_BACK.has(error.details?.["state"]);
  return explainConnection(error, "read") ?? `${toSeenError(error)}${isComingBack ? `. ${TRY_AGAIN}` : ""}`;
}

/** A failure of the connection, and what a model can do about it; `undefined` for others. A read may be made again. */
function explainConnection(error: unknown, request: "call" | "read"): string | undefined {
  if (!(error instanceof ConnectionClosedError || error instanceof RequestTimeoutError)) return undefined;
  const isRead = request === "read";
  const effect = isRead ? "" : mayHaveRun(error) ? " The tool may have run." : " The tool did not run.";
  const isClosed = error instanceof ConnectionClosedError;
  if (isClosed && error.isPermanent) return `this program has left the office.${effect} Tell the user`;
  if (error.isUnsent) return `the office cannot be reached now.${effect} ${TRY_AGAIN}`;
  const what = isClosed ? "the connection to the office was lost during the call" : "no answer came in time";
  if (isRead) return `${what}. ${TRY_AGAIN}`;
  return isClosed
    ? `${what}. The tool may have run. Wait a few seconds, check what it has done, and call it again if it has not`
    : `${what}. The tool may have run, and was told to stop. Check what it has done before you call it again`;
}

function explain(error: unknown, computer: string): string {
  const lost = explainConnection(error, "call");
  if (lost !== undefined) return lost;
  if (error instanceof UnsupportedRequestError && error.event === ASK_TOOL_CALL_EVENT) {
    return "you may call it only after the owner of the Computer was asked, and this Computer, or the Server, cannot do " +
      "that. The tool did not run. Tell the user";
  }
  if (mayHaveRun(error)) {
    const what = error instanceof SmcpError && error.code === ErrorCode.NOT_FOUND
      ? "it left the office during the call"
      : toSeenError(error);
    return `${what}. The tool may have run. Call list_computers to see who is there, and check what it has done before you ` +
      "call it again";
  }
  if (error instanceof SmcpError && error.details?.["replaced"] === true) {
    return "another machine has its name now. List the tools again and call one of those";
  }
  const isAsleep = error instanceof SmcpError && error.details?.["asleep_since"] !== undefined;
  if (error instanceof SmcpError && error.code === ErrorCode.NOT_FOUND && !isAsleep) {
    const where = `Computer ${toSeenName(computer)} is not in the office now`;
    return `${where}. Call list_computers to see who is there, or wait and try again`;
  }
  const isRefused = error instanceof SmcpError && error.code === ErrorCode.TOO_MANY_REQUESTS;
  return `${toSeenError(error)}${isRefused ? ". The tool did not run" : ""}`;
}
