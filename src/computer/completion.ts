/** Suggestions for parameters of resource templates and of prompts (`docs/protocol/extensions.md#completion`). */
import { isRecord } from "../json.ts";
import type { CompletionRef } from "../mcp/connection.ts";
import type { SupervisedServer } from "../mcp/supervision/supervised_server.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import { SmcpError } from "../protocol/errors.ts";
import {
  type CompletionInfo,
  type GetCompletionReq,
  MAX_COMPLETION_VALUES,
} from "../protocol/resource_templates.ts";
import { timeoutMsOf } from "../protocol/timeouts.ts";
import { ask } from "./resources/read.ts";

const MAX_COMPLETION_LENGTH = 256 * 1024;

export type CompletionRequest = Omit<GetCompletionReq, "agent" | "req_id" | "computer">;

/**
 * Requests completions from an MCP server.
 *
 * @throws {SmcpError} 500 when the answer has none; otherwise as `client:get_resources` is answered.
 */
export async function completeAt(
  server: SupervisedServer,
  ref: CompletionRef,
  request: CompletionRequest,
): Promise<CompletionInfo> {
  const { argument, context: chosen } = request;
  const timeoutMs = timeoutMsOf(request);
  const wanted = {
    ref,
    argument: { name: argument.name, value: argument.value },
    context: chosen && { arguments: chosen.arguments },
  };
  const { completion } = await ask({ server }, (connection) => connection.complete(wanted, { timeoutMs }));
  if (isRecord(completion) && Array.isArray(completion["values"])) return toCompletionInfo(completion);
  const mcp_server = server.name;
  const message = `MCP server "${mcp_server}" failed: its answer has no completion`;
  throw new SmcpError(ErrorCode.INTERNAL_ERROR, message, { details: { mcp_server } });
}

/** Reads MCP's completion: at most 100 strings. */
function toCompletionInfo({ values, total, hasMore }: Readonly<Record<string, unknown>>): CompletionInfo {
  const texts = Array.isArray(values) ? values.filter((value) => typeof value === "string") : [];
  const shown: string[] = [];
  let free = MAX_COMPLETION_LENGTH;
  for (const text of texts.slice(0, MAX_COMPLETION_VALUES)) {
    free -= text.length;
    if (free < 0) break;
    shown.push(text);
  }
  const more = shown.length < texts.length ? true : hasMore;
  return {
    values: shown,
    ...(typeof total === "number" && total >= 0 ? { total } : {}),
    ...(typeof more === "boolean" ? { has_more: more } : {}),
  };
}
