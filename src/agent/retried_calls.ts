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
 * @param call makes the call once, each time under the same id
 * @throws {RangeError} when `patienceMs` is below 0, before the first attempt.
 */
export async function retryCall(
  call: () => Promise<CallToolResult>,
  { patienceMs, isIdempotent = false }: CallRetry,
  signal: AbortSignal | undefined,
): Promise<CallToolResult> {
  if (!(patienceMs >= 0)) {
    throw new RangeError(`Cannot use patienceMs "${patienceMs}": must be a number of at least 0`);
  }
  const endMs = performance.now() + patienceMs;
  const backoff = new Backoff(WAIT);
  /** The first error after which the tool may have run. */
  let doubt: unknown;
  let result: CallToolResult;
  for (;;) {
    let waitMs = backoff.next();
    try {
      result = await call();
      if (!isToRunLater(result) || performance.now() + waitMs > endMs) break;
    } catch (error) {
      signal?.throwIfAborted();
      if (mayHaveRun(error)) doubt ??= error;
      waitMs = Math.max(waitMs, doubt !== undefined && !isIdempotent ? Infinity : waitAfter(error));
      if (performance.now() + waitMs > endMs) throw doubt ?? error;
    }
    await delay(waitMs, signal);
  }
  if (doubt !== undefined && hasNotRun(result)) throw doubt;
  return result;
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
  return (reason === "not_running" || reason === "busy") && meta?.may_have_run !== true;
}

/** Whether this attempt has not run the tool, which says nothing of an earlier one. */
function hasNotRun({ meta }: CallToolResult): boolean {
  const { error_code, a2c_cancelled = false, may_have_run = false } = meta ?? {};
  return !may_have_run && (a2c_cancelled || error_code !== undefined);
}
