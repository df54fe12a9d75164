/** Results of tool calls: those of MCP servers in the form of the wire, and those that the Computer gives instead. */
import { isRecord } from "../../json/json.ts";
import { RpcErrorCode } from "../../protocol/mcp.ts";
import { ServerAnswerError, ServerTimeoutError, UNREADABLE } from "../../mcp/errors.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { A2C_INPUT_REQUIRED } from "../../protocol/questions.ts";
import {
  A2C_TOOL_META,
  type CallToolResult,
  type ContentItem,
  type ToolMeta,
  type ToolResultMeta,
} from "../../protocol/tools.ts";
import { toToolFailure } from "../failures.ts";
import type { ToolCallOutcome } from "./history.ts";
import type { AwaitedPerson } from "./running_call.ts";

export interface ToolOutcome {
  readonly result: CallToolResult;
  readonly outcome: ToolCallOutcome;
  /** Whether the result came from the MCP server; false by default. */
  readonly isOwnResult?: boolean;
  /** The MCP server that the failure of a call without a route is about. */
  readonly server?: string;
}

/** A failure as a tool result: text for the model, a code for the program. */
export function failureResult(text: string, meta: ToolResultMeta): CallToolResult {
  return { content: [{ type: "text", text }], isError: true, meta };
}

/**
 * An MCP server's result in the form of the wire: `_meta` becomes `meta`, to which the Computer's metadata of the tool
 * is added. Everything else is unchanged, but that only the Computer itself asks the Agent's user.
 *
 * @throws {ServerAnswerError} when the content is `null`, and no other member says what the result is.
 */
export function toWireResult(
  raw: Readonly<Record<string, unknown>>,
  toolMeta: ToolMeta | undefined,
): CallToolResult {
  const { _meta, content, isError, ...rest } = raw;
  const { [A2C_INPUT_REQUIRED]: _question, ...own } = isRecord(_meta) ? _meta : {};
  const meta = {
    ...own,
    ...(toolMeta === undefined ? {} : { [A2C_TOOL_META]: toolMeta }),
  };
  return {
    ...rest,
    content: toContent(content, [rest["structuredContent"], isError]),
    isError: isError === true,
    meta: Object.keys(meta).length === 0 ? null : meta,
  };
}

/** Content that is no list is one item; `null` alone is no result. */
function toContent(content: unknown, others: readonly unknown[]): ContentItem[] {
  if (Array.isArray(content)) return content;
  if (isRecord(content) && typeof content["type"] === "string") return [content as unknown as ContentItem];
  const isGiven = content !== undefined && content !== null;
  if (isGiven) {
    return [{ type: "text", text: typeof content === "string" ? content : JSON.stringify(content) }];
  }
  if (content === undefined || others.some((member) => member !== undefined && member !== null)) return [];
  throw new ServerAnswerError(RpcErrorCode.PARSE_ERROR, `${UNREADABLE}: it has no content`);
}

/** What a peer of protocol 0.3 or later reads of a call that needs a sign-in, or has one that does not suffice. */
export function withAuthHint(result: CallToolResult, server: string): CallToolResult {
  const code = result.meta?.error_code;
  const action = code === undefined ? undefined : AUTH_ACTIONS.get(code);
  if (action === undefined) return result;
  const [first] = result.content;
  const message = first?.type === "text" ? first.text : "";
  return { ...result, meta: { ...result.meta, mcp_server: server, auth_hint: { action, message } } };
}

const AUTH_ACTIONS: ReadonlyMap<number, string> = new Map([
  [ErrorCode.TOOL_AUTHORIZATION_REQUIRED, "user_authorization_required"],
  [ErrorCode.TOOL_AUTHORIZATION_FAILED, "token_refresh_required"],
]);

export function withTexts(result: CallToolResult, convert: (text: string) => string): CallToolResult {
  const content = result.content.map((item) =>
    item.type === "text" ? { ...item, text: convert(item.text) } : item
  );
  return { ...result, content };
}

/** Adds sentences for the model to the content of a result. */
export function withNotes(ended: ToolOutcome, notes: readonly string[]): ToolOutcome {
  if (notes.length === 0) return ended;
  const content = [...ended.result.content, ...notes.map((text) => ({ type: "text" as const, text }))];
  return { ...ended, result: { ...ended.result, content } };
}

export type FailedCall = Parameters<typeof toToolFailure>[1] & {
  readonly awaited?: AwaitedPerson | undefined;
  readonly server?: string;
};

/** The result of a call that failed or was cancelled. */
export function toFailureOutcome(error: unknown, call: FailedCall): ToolOutcome {
  const { name, awaited, server, timeoutMs } = call;
  if (error instanceof ToolCallCancelled) {
    const when = awaited === undefined ? "" : AWAITED_WORDS[awaited](server ?? "");
    return {
      result: failureResult(`Tool "${name}" was cancelled${when}`, { a2c_cancelled: true }),
      outcome: "cancelled",
    };
  }
  const isTimeout = error instanceof ServerTimeoutError;
  if (isTimeout && (awaited === "confirmer" || awaited === "approver")) {
    const text = `Tool "${name}" needs a confirmation: nobody gave it in ${
      timeoutMs / 1000
    } s, and it has not run`;
    return {
      result: failureResult(text, { error_code: ErrorCode.TOOL_REQUIRES_CONFIRMATION }),
      outcome: "timeout",
    };
  }
  if (isTimeout && awaited === "answerer") {
    const text = `Tool "${name}" did not finish in ${timeoutMs / 1000} s${
      AWAITED_WORDS.answerer(server ?? "")
    }`;
    const meta = { error_code: ErrorCode.TOOL_TIMEOUT, a2c_timeout: true };
    return { result: failureResult(text, meta), outcome: "timeout" };
  }
  const { text, meta } = toToolFailure(error, call);
  return { result: failureResult(text, meta), outcome: meta.a2c_timeout === true ? "timeout" : "error" };
}

/** What a call waited for when it ended, as the end of a sentence. */
const AWAITED_WORDS: Readonly<Record<AwaitedPerson, (server: string) => string>> = {
  confirmer: () => " before it was confirmed, and has not run",
  approver: () => " before it was confirmed, and has not run",
  answerer: (server) => ` while a question of MCP server "${server}" was open`,
};

export class ToolCallCancelled extends Error {
  override readonly name = "ToolCallCancelled";
  readonly code = "TOOL_CALL_CANCELLED";
}
