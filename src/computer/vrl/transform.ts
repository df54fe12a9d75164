/** The VRL script of an MCP server, run on the result of a tool call: its input event and the place of its output. */
import type { Logger } from "../../log.ts";
import { A2C_VRL_TRANSFORMED, type CallToolResult, type ContentItem } from "../../protocol/tools.ts";
import { describeError } from "../../text/text.ts";
import type { VrlEngine } from "./engine.ts";

export interface VrlCall {
  readonly tool: string;
  readonly params: Readonly<Record<string, unknown>>;
}

export interface TransformOptions {
  readonly engine: VrlEngine;
  readonly script: string;
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly fields: Readonly<Record<string, string>>;
}

/**
 * Adds the output of a script to a result. When the script fails or runs out of time, gives the result unchanged: the
 * tool has already run.
 */
export async function transformResult(
  result: CallToolResult,
  call: VrlCall,
  { engine, script, signal, log, fields }: TransformOptions,
): Promise<CallToolResult> {
  try {
    return withTransformed(result, await engine.run(script, toVrlEvent(result, call), { signal }));
  } catch (error) {
    log.warn("cannot transform a tool result with VRL", { ...fields, error: describeError(error) });
    return result;
  }
}

/**
 * The event that a script gets: the result with all its members, and the call. Items of the content have `meta` instead
 * of `_meta`, as in the Python SDK, so that a script runs on both.
 */
export function toVrlEvent(result: CallToolResult, { tool, params }: VrlCall): Record<string, unknown> {
  const { content, structuredContent = null, isError = false, meta = null, ...rest } = result;
  return {
    ...rest,
    meta,
    content: content.map(toEventItem),
    structuredContent,
    isError,
    tool_name: tool,
    parameters: params,
  };
}

/** The result with the transformed event, as JSON, in its metadata. */
export function withTransformed(result: CallToolResult, transformed: string): CallToolResult {
  return { ...result, meta: { ...result.meta, [A2C_VRL_TRANSFORMED]: transformed } };
}

function toEventItem(item: ContentItem): object {
  if (!("_meta" in item)) return item;
  const { _meta: meta, ...rest } = item;
  return meta === undefined ? rest : { ...rest, meta };
}
