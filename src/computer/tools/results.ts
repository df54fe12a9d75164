/** Tool results: what an MCP server answers, as it crosses the wire, and what the Computer says in its place. */
import {
  ServerAnswerError,
  ServerAuthorizationError,
  ServerNotRunningError,
  ServerTimeoutError,
} from "../../mcp/errors.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { isRecord } from "../../json.ts";
import { shorten } from "../../text.ts";
import {
  A2C_MCP_SERVER,
  A2C_TOOL_META,
  type CallToolResult,
  type ToolMeta,
  type ToolResultMeta,
} from "../../protocol/tools.ts";
import type { ToolCallOutcome } from "./history.ts";

/** How much of an MCP server's error message an Agent is told, in characters: cut after it was masked. */
export const MAX_ERROR_LENGTH = 16_384;

/** A result and how the call counts in the history. */
export interface ToolOutcome {
  readonly result: CallToolResult;
  readonly outcome: ToolCallOutcome;
  /** Whether the result is the MCP server's own. */
  readonly isOwnResult?: boolean;
}

/** A failure as a tool result: text for the model, a code for the program. */
export function failureResult(text: string, meta: ToolResultMeta): CallToolResult {
  return { content: [{ type: "text", text }], isError: true, meta };
}

/**
 * The MCP server's result for this wire: its own metadata is spelled `meta` here, and the Computer's metadata of the
 * tool stands in it. Everything else passes as it came.
 */
export function toWireResult(
  raw: Readonly<Record<string, unknown>>,
  toolMeta: ToolMeta | undefined,
): CallToolResult {
  const { _meta, content, isError, ...rest } = raw;
  const meta = {
    ...(isRecord(_meta) ? _meta : {}),
    ...(toolMeta === undefined ? {} : { [A2C_TOOL_META]: toolMeta }),
  };
  return {
    ...rest,
    content: Array.isArray(content) ? content : [],
    isError: isError === true,
    meta: Object.keys(meta).length === 0 ? null : meta,
  };
}

/** The result with the name of its MCP server: a link in it can be read there. */
export function withServer(result: CallToolResult, server: string): CallToolResult {
  return { ...result, meta: { ...result.meta, [A2C_MCP_SERVER]: server } };
}

/** What a call that did not bring a result is answered with; `redact` masks secrets in a server's own words. */
export function toFailureOutcome(
  error: unknown,
  call: {
    readonly name: string;
    readonly timeoutMs: number;
    readonly redact: (text: string) => string;
  },
): ToolOutcome {
  const { name, timeoutMs, redact } = call;
  const fail = (text: string, error_code: number): ToolOutcome => ({
    result: failureResult(text, { error_code }),
    outcome: "error",
  });
  if (error instanceof ToolCallCancelled) {
    const result = failureResult(`Tool "${name}" was cancelled`, { a2c_cancelled: true });
    return { result, outcome: "cancelled" };
  }
  if (error instanceof ServerTimeoutError) {
    const text = `Tool "${name}" did not answer in ${timeoutMs / 1000} s`;
    const result = failureResult(text, { error_code: ErrorCode.TOOL_TIMEOUT, a2c_timeout: true });
    return { result, outcome: "timeout" };
  }
  if (error instanceof ServerAuthorizationError) {
    const [state, code] = REFUSALS[error.status];
    return fail(`Tool "${name}" ${state}`, code);
  }
  if (error instanceof ServerAnswerError) {
    return fail(
      `Tool "${name}" failed: ${shorten(redact(error.message), MAX_ERROR_LENGTH)} (${error.rpcCode})`,
      ErrorCode.TOOL_EXECUTION_FAILED,
    );
  }
  const why = error instanceof ServerNotRunningError ? error.message : "internal error";
  return fail(`Tool "${name}" failed: ${redact(why)}`, ErrorCode.TOOL_EXECUTION_FAILED);
}

const REFUSALS = {
  401: [
    "needs a valid credential for its MCP server: check the headers in the Computer's config",
    ErrorCode.TOOL_AUTHORIZATION_REQUIRED,
  ],
  403: [
    "is not allowed by its MCP server: check what the configured credential may do",
    ErrorCode.TOOL_AUTHORIZATION_FAILED,
  ],
} as const;

/** The reason of a cancelled call's signal. */
export class ToolCallCancelled extends Error {
  override readonly name = "ToolCallCancelled";
  readonly code = "TOOL_CALL_CANCELLED";
}
