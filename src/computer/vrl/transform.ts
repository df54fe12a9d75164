/** A tool's result as a VRL script sees it, and where what the script makes of it stands. */
import { A2C_VRL_TRANSFORMED, type CallToolResult, type ContentItem } from "../../protocol/tools.ts";

/** The call that a result came of. */
export interface VrlCall {
  /** The tool's own name. */
  readonly tool: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/**
 * The event: the result with every member there, `meta` in the reference implementation's spelling on its items, too,
 * and the call beside it. A script that was written for one Computer runs on the other.
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

/** The result with the transformed event, as JSON, in its metadata; everything else stays as it is. */
export function withTransformed(result: CallToolResult, transformed: string): CallToolResult {
  return { ...result, meta: { ...result.meta, [A2C_VRL_TRANSFORMED]: transformed } };
}

function toEventItem(item: ContentItem): object {
  if (!("_meta" in item)) return item;
  const { _meta: meta, ...rest } = item;
  return meta === undefined ? rest : { ...rest, meta };
}
