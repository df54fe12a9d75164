/**
 * What became of tool calls: results of MCP servers in the form of the wire, those that the Computer gives instead, and
 * the answers that are kept for repeated requests.
 */
import { approximateSizeBytes, isRecord } from "../../json/json.ts";
import { RpcErrorCode } from "../../protocol/mcp.ts";
import { ServerAnswerError, ServerTimeoutError, UNREADABLE } from "../../mcp/errors.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { badRequest } from "../../protocol/errors.ts";
import {
  A2C_TOOL_META,
  type CallToolResult,
  type ContentItem,
  type ToolCallReq,
  type ToolMeta,
  type ToolResultMeta,
} from "../../protocol/tools.ts";
import type { AwaitedPerson, ToolCallOutcome } from "../shared/computer_events.ts";
import { toToolFailure } from "../shared/failures.ts";
import { ToolCallCancelled } from "../shared/running_call.ts";

/** The most answers that are kept for repeated requests, and the most bytes of all of them. */
const MAX_ANSWERS = 256;
const MAX_ANSWERS_BYTES = 16 * 1024 * 1024;
/** Replaces an answer that is too large to keep: the tool must not run again. */
const NOT_KEPT = "The tool has already run for this request, and its result is too large to be sent again";

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

/** What the Computer says of a call: an MCP server could claim with them that a person has refused it. */
const OURS =
  /^(?:error_code|may_have_run|auth_hint|a2c_(?:reason|timeout|cancelled|tool_meta|input_required))$/;

/**
 * An MCP server's result in the form of the wire: `_meta` becomes `meta`, to which the Computer's metadata of the tool
 * is added. Everything else is unchanged, without the metadata that only the Computer itself writes.
 *
 * @throws {ServerAnswerError} when the content is `null`, and no other member says what the result is.
 */
export function toWireResult(
  raw: Readonly<Record<string, unknown>>,
  toolMeta: ToolMeta | undefined,
): CallToolResult {
  const { _meta, content, isError, ...rest } = raw;
  const meta = {
    ...Object.fromEntries(
      Object.entries(isRecord(_meta) ? _meta : {}).filter(([key]) => !OURS.test(key)),
    ),
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

/** Says of a failed call whose MCP server was asked that the tool may have run, unless the server refused the credentials. */
export function withEffect(result: CallToolResult): CallToolResult {
  if (AUTH_ACTIONS.has(result.meta?.error_code ?? 0)) return result;
  return { ...result, meta: { ...result.meta, may_have_run: true } };
}

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
      // A cancel has no code that would tell it.
      result: failureResult(`Tool "${name}" was cancelled${when}`, {
        a2c_cancelled: true,
        ...(error.isCallerGone ? { a2c_reason: "caller_gone" as const } : {}),
        may_have_run: false,
      }),
      outcome: "cancelled",
    };
  }
  const isTimeout = error instanceof ServerTimeoutError;
  const waitedS = (isTimeout && error.idleMs !== undefined ? error.idleMs : timeoutMs) / 1000;
  if (isTimeout && (awaited === "confirmer" || awaited === "approver")) {
    const text = `Tool "${name}" needs a confirmation: nobody gave it in ${waitedS} s, and it has not run`;
    return {
      result: failureResult(text, {
        error_code: ErrorCode.TOOL_REQUIRES_CONFIRMATION,
        a2c_reason: "unconfirmed",
      }),
      outcome: "unconfirmed",
    };
  }
  if (isTimeout && awaited === "answerer") {
    const text = `Tool "${name}" did not finish in ${waitedS} s${AWAITED_WORDS.answerer(server ?? "")}`;
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
  caller: () => ", since its Agent had gone and did not ask for it again, and has not run",
  answerer: (server) => ` while a question of MCP server "${server}" was open`,
};

export interface AnsweredCall {
  /** Its answer now: a question while one is open, else what comes next. */
  readonly call: {
    readonly answer: Promise<CallToolResult>;
    /** Whether its MCP server or a person was asked. */
    readonly hasBegun?: boolean;
    readonly ask?: () => void;
  };
  readonly result: Promise<CallToolResult>;
}

interface KeptCall {
  readonly fingerprint: string;
  call: AnsweredCall["call"];
  /** 0 while the call runs. */
  sizeBytes: number;
}

/**
 * The calls of one office by `agent` and `req_id`, running and answered. They are kept while the Computer is in the
 * office with the same Agent, also across a connection that is lost and comes back.
 */
export class RepeatedCalls {
  readonly #calls = new Map<string, KeptCall>();
  #sizeBytes = 0;

  /**
   * The answer of a call with the same `agent` and `req_id`; `undefined` when there was none.
   *
   * @throws {SmcpError} 400 when that call was for another tool or had other parameters.
   */
  answerOf(request: ToolCallReq): Promise<CallToolResult> | undefined {
    const earlier = this.#calls.get(keyOf(request));
    if (earlier === undefined) return undefined;
    if (earlier.fingerprint === fingerprintOf(request)) {
      earlier.call.ask?.();
      return earlier.call.answer;
    }
    throw badRequest(
      "req_id",
      `Cannot use request id "${request.req_id}" again: it belongs to a different call`,
    );
  }

  /** Keeps a call that runs; one whose result rejects is forgotten, and one that failed before its tool or a person began. */
  keep(request: ToolCallReq, { call, result }: AnsweredCall): void {
    const key = keyOf(request);
    const kept: KeptCall = { fingerprint: fingerprintOf(request), call, sizeBytes: 0 };
    this.#calls.set(key, kept);
    const forget = () => {
      if (this.#calls.get(key) === kept) this.#calls.delete(key);
    };
    result.then((last) => {
      const { a2c_cancelled, a2c_reason, may_have_run } = last.meta ?? {};
      const hasBegun = call.hasBegun !== false && (a2c_reason !== "not_running" || may_have_run === true);
      const isToBegin = !hasBegun && last.isError === true && a2c_cancelled !== true;
      return isToBegin ? forget() : this.#measure(key, kept, last);
    }).catch(forget);
  }

  clear(): void {
    this.#calls.clear();
    this.#sizeBytes = 0;
  }

  /** Counts an answer, and drops the oldest answers that exceed the bounds. */
  #measure(key: string, kept: KeptCall, result: CallToolResult): void {
    if (this.#calls.get(key) !== kept) return;
    kept.call = { answer: Promise.resolve(result) };
    kept.sizeBytes = approximateSizeBytes(result) + kept.fingerprint.length;
    if (kept.sizeBytes > MAX_ANSWERS_BYTES) {
      const notKept = failureResult(NOT_KEPT, { error_code: ErrorCode.PAYLOAD_TOO_LARGE });
      kept.call = { answer: Promise.resolve(notKept) };
      kept.sizeBytes = NOT_KEPT.length + kept.fingerprint.length;
    }
    this.#sizeBytes += kept.sizeBytes;
    for (const [oldest, { sizeBytes }] of this.#calls) {
      if (this.#calls.size <= MAX_ANSWERS && this.#sizeBytes <= MAX_ANSWERS_BYTES) return;
      if (sizeBytes === 0) continue;
      this.#calls.delete(oldest);
      this.#sizeBytes -= sizeBytes;
    }
  }
}

function keyOf({ agent, req_id }: ToolCallReq): string {
  return JSON.stringify([agent, req_id]);
}

function fingerprintOf({ tool_name, params }: ToolCallReq): string {
  return JSON.stringify([tool_name, params]);
}
