/** Tool calls that are made again while waiting helps, and no tool runs twice that must not. */
import { Backoff, delay, MAX_TIMER_MS } from "../async/backoff.ts";
import { ConnectionClosedError, mayHaveRun, RequestTimeoutError } from "../link/errors.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import { SmcpError } from "../protocol/errors.ts";
import type { CallToolResult } from "../protocol/tools.ts";
import type { CallRetry } from "./remote_options.ts";

/** Waits between two attempts. */
const WAIT = { firstMs: 500, maxMs: 5_000 };

/**
 * @param call makes the call once, under an id
 * @throws {RangeError} when `patienceMs` is below 0, before the first attempt.
 */
export async function retryCall(
  call: (reqId: string) => Promise<CallToolResult>,
  { patienceMs, isIdempotent = false }: CallRetry,
  { reqId: firstId, signal }: { readonly reqId: string; readonly signal?: AbortSignal | undefined },
): Promise<CallToolResult> {
  if (!(patienceMs >= 0)) {
    throw new RangeError(`Cannot use patienceMs "${patienceMs}": must be a number of at least 0`);
  }
  const endMs = performance.now() + patienceMs;
  const backoff = new Backoff(WAIT);
  /** The end of the first attempt that may have run the tool. */
  let inDoubt: { readonly result: CallToolResult } | { readonly error: unknown } | undefined;
  let reqId = firstId;
  let result: CallToolResult;
  for (;;) {
    const nextMs = backoff.next();
    let waitMs: number | undefined;
    try {
      result = await call(reqId);
      const isDoubtful = result.meta?.may_have_run === true;
      if (isToRunLater(result) && (isIdempotent || !isDoubtful)) waitMs = nextMs;
      if (waitMs === undefined || performance.now() + waitMs > endMs) break;
      if (isDoubtful) inDoubt ??= { result };
      // The Computer would repeat what it knows of a call that may have run, or was cancelled.
      if (isDoubtful || result.meta?.a2c_cancelled === true) reqId = crypto.randomUUID();
    } catch (error) {
      signal?.throwIfAborted();
      if (mayHaveRun(error)) inDoubt ??= { error };
      if (inDoubt === undefined || isIdempotent) waitMs = waitAfter(error, nextMs);
      if (waitMs === undefined || performance.now() + waitMs > endMs) return endAs(inDoubt ?? { error });
    }
    await delay(Math.min(waitMs, MAX_TIMER_MS), signal);
  }
  return inDoubt !== undefined && hasNotRun(result) ? endAs(inDoubt) : result;
}

function endAs(end: { readonly result: CallToolResult } | { readonly error: unknown }): CallToolResult {
  if ("result" in end) return end.result;
  throw end.error;
}

/** How long to wait before the next attempt, in milliseconds; `undefined` where waiting does not help. */
function waitAfter(error: unknown, nextMs: number): number | undefined {
  if (error instanceof ConnectionClosedError) return error.isPermanent ? undefined : nextMs;
  if (error instanceof RequestTimeoutError) return error.isUnsent ? nextMs : undefined;
  if (!(error instanceof SmcpError)) return undefined;
  const { retry_after_ms, replaced } = error.details ?? {};
  switch (error.code) {
    case ErrorCode.TOO_MANY_REQUESTS:
      return typeof retry_after_ms === "number" ? Math.max(retry_after_ms, nextMs) : undefined;
    case ErrorCode.UNAVAILABLE:
      return nextMs;
    // The name of a Computer that is away, unless another machine has it now.
    case ErrorCode.NOT_FOUND:
      return replaced === true ? undefined : nextMs;
    default:
      return undefined;
  }
}

/** Whether the MCP server is about to start, too many calls run, or this Agent was away for too long. */
function isToRunLater({ meta }: CallToolResult): boolean {
  const reason = meta?.a2c_reason;
  return reason === "not_running" || reason === "busy" || reason === "caller_gone";
}

/** Whether this attempt has not run the tool, which says nothing of an earlier one. */
function hasNotRun({ meta }: CallToolResult): boolean {
  const { error_code, a2c_cancelled = false, may_have_run = false } = meta ?? {};
  return !may_have_run && (a2c_cancelled || error_code !== undefined);
}
