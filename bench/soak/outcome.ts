/** Classifies the outcome of a call, and decides whether that outcome is allowed. */
import { ErrorCode } from "../../src/protocol/error_codes.ts";
import { SmcpError } from "../../src/protocol/errors.ts";
import { ConnectionClosedError, RequestTimeoutError } from "../../src/link/errors.ts";
import type { CallToolResult } from "../../src/protocol/tools.ts";
import type { Ledger } from "./ledger.ts";

/** There was no answer: the request timed out at the Agent or at the Server. */
export const UNANSWERED = "unanswered";

/** The outcome of a rejected request. */
export function outcomeOfError(error: unknown): string {
  if (error instanceof RequestTimeoutError) {
    return error.message.includes("no connection") ? "not sent: away" : UNANSWERED;
  }
  if (error instanceof ConnectionClosedError) return "connection lost";
  if (error instanceof SmcpError) return outcomeOfRefusal(error);
  if (error instanceof Error && error.name === "AbortError") return "given up by the caller";
  return `other: ${error instanceof Error ? `${error.name}: ${error.message}` : error}`;
}

/** A 408 of the Computer means a slow MCP server. A 408 of the Server means that the Computer did not answer. */
function outcomeOfRefusal({ code, message }: SmcpError): string {
  if (code !== ErrorCode.TIMEOUT) return `error ${code}`;
  return message.startsWith("Computer with name") ? UNANSWERED : "out of time";
}

/** The outcome of a request whose answer is only counted. */
export function outcomeOf(settled: PromiseSettledResult<unknown>): string {
  return settled.status === "fulfilled" ? "ok" : outcomeOfError(settled.reason);
}

/** How an answer is checked. */
export interface AnswerCheck {
  /** The id of the call, which the answer must contain. */
  readonly id: string;
  readonly ledger: Ledger;
  /** Whether the connection was cut meanwhile; a repeated call may then run once more. */
  readonly isExcused: boolean;
}

/** The outcome of a tool call. The answer of another call breaks a requirement. */
export function outcomeOfCall(
  settled: PromiseSettledResult<CallToolResult>,
  check: AnswerCheck,
): string {
  if (settled.status === "rejected") return outcomeOfError(settled.reason);
  const { meta, isError, content } = settled.value;
  if (isError !== true) return checkEcho(content, check);
  if (meta?.["a2c_cancelled"] === true) return "cancelled";
  if (meta?.["a2c_timeout"] === true) return "out of time";
  return `error ${meta?.["error_code"] ?? "without a code"}`;
}

function checkEcho(content: readonly unknown[], { id, ledger, isExcused }: AnswerCheck): string {
  const text = Object(content[0])["text"];
  const { args, runs = 1 } = JSON.parse(String(text));
  if (args?.id !== id) ledger.breach(`call ${id} got the answer to call ${args?.id}`);
  if (runs !== 1 && !isExcused) ledger.breach(`the tool of call ${id} ran ${runs} times`);
  return "ok";
}
