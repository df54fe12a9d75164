/** Tool calls that are made again while waiting helps, and no tool runs twice that must not. */
import { Backoff, delay } from "../async/backoff.ts";
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
  { reqId: firstId, signal }: { readonly reqId: string; readonly signal: AbortSignal | undefined },
): Promise<CallToolResult> {
  if (!(patienceMs >= 0)) {
    throw new RangeError(`Cannot use patienceMs "${patienceMs}": must be a number of at least 0`);
  }
  const endMs = performance.now() + patienceMs;
  const backoff = new Backoff(WAIT);
  /** Ends as the first attempt that may have run the tool. */
  let endInDoubt: (() => CallToolResult) | undefined;
  let reqId = firstId;
  let result: CallToolResult;
  for (;;) {
    let waitMs = backoff.next();
    try {
      result = await call(reqId);
      const isDoubtful = result.meta?.may_have_run === true;
      const mayPass = isToRunLater(result) && (isIdempotent || !isDoubtful);
      if (!mayPass || performance.now() + waitMs > endMs) break;
      // The Computer would repeat what it knows of a call that may have run.
      if (isDoubtful) {
        reqId = crypto.randomUUID();
        endInDoubt ??= returning(result);
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (mayHaveRun(error)) endInDoubt ??= throwing(error);
      waitMs = Math.max(waitMs, endInDoubt !== undefined && !isIdempotent ? Infinity : waitAfter(error));
      if (performance.now() + waitMs > endMs) return (endInDoubt ?? throwing(error))();
    }
    await delay(waitMs, signal);
  }
  return endInDoubt !== undefined && hasNotRun(result) ? endInDoubt() : result;
}

function returning(result: CallToolResult): () => CallToolResult {
  return () => result;
}

function throwing(error: unknown): () => never {
  return () => {
    throw error;
  };
}

/** How long to wait at least before the next attempt, in milliseconds; `Infinity` where waiting does not help. */
function waitAfter(error: unknown): number {
  if (error instanceof ConnectionClosedError) return error.isPermanent ? Infinity : 0;
  if (error instanceof RequestTimeoutError) return error.isUnsent ? 0 : Infinity;
  if (!(error instanceof SmcpError)) return Infinity;
  const { retry_after_ms, replaced } = error.details ?? {};
  switch (error.code) {
    case ErrorCode.TOO_MANY_REQUESTS:
      return typeof retry_after_ms === "number" ? retry_after_ms : Infinity;
    case ErrorCode.UNAVAILABLE:
      return 0;
    // The name of a Computer that is away, unless another machine has it now.
    case ErrorCode.NOT_FOUND:
      return replaced === true ? Infinity : 0;
    default:
      return Infinity;
  }
}

/** Whether the MCP server is about to start, or too many calls run. */
function isToRunLater({ meta }: CallToolResult): boolean {
  const reason = meta?.a2c_reason;
  return reason === "not_running" || reason === "busy";
}

/** Whether this attempt has not run the tool, which says nothing of an earlier one. */
function hasNotRun({ meta }: CallToolResult): boolean {
  const { error_code, a2c_cancelled = false, may_have_run = false } = meta ?? {};
  return !may_have_run && (a2c_cancelled || error_code !== undefined);
}
