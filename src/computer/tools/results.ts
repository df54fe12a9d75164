/** Results of tool calls: those of MCP servers in the form of the wire, and those that the Computer gives instead. */
import { isRecord } from "../../json.ts";
import {
  A2C_MCP_SERVER,
  A2C_TOOL_META,
  type CallToolResult,
  type ToolMeta,
  type ToolResultMeta,
} from "../../protocol/tools.ts";
import { toToolFailure } from "../failures.ts";
import type { ToolCallOutcome } from "./history.ts";

/** A result and the outcome for the history. */
export interface ToolOutcome {
  readonly result: CallToolResult;
  readonly outcome: ToolCallOutcome;
  /** Whether the result came from the MCP server; false by default. */
  readonly isOwnResult?: boolean;
}

/** A failure as a tool result: text for the model, a code for the program. */
export function failureResult(text: string, meta: ToolResultMeta): CallToolResult {
  return { content: [{ type: "text", text }], isError: true, meta };
}

/**
 * An MCP server's result in the form of the wire: `_meta` becomes `meta`, to which the Computer's metadata of the tool
 * is added. Everything else is unchanged.
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

/** The result with the name of its MCP server, from which links in the result can be read. */
export function withServer(result: CallToolResult, server: string): CallToolResult {
  return { ...result, meta: { ...result.meta, [A2C_MCP_SERVER]: server } };
}

/** The result of a call that failed or was cancelled. */
export function toFailureOutcome(error: unknown, call: Parameters<typeof toToolFailure>[1]): ToolOutcome {
  if (error instanceof ToolCallCancelled) {
    const result = failureResult(`Tool "${call.name}" was cancelled`, { a2c_cancelled: true });
    return { result, outcome: "cancelled" };
  }
  const { text, meta } = toToolFailure(error, call);
  return { result: failureResult(text, meta), outcome: meta.a2c_timeout === true ? "timeout" : "error" };
}

/** The abort reason of a call that was cancelled. */
export class ToolCallCancelled extends Error {
  override readonly name = "ToolCallCancelled";
  readonly code = "TOOL_CALL_CANCELLED";
}
