/** The time limits of a relayed request. Each side waits longer than the next one, so that the most precise answer arrives. */

/** The time limit of a relayed request without `timeout`, in seconds. */
export const DEFAULT_TIMEOUT_SECONDS = 30;
/** The highest `timeout` of a request, in seconds: one day. */
export const MAX_TIMEOUT_SECONDS = 86_400;
/** How much longer than `timeout` the Server waits for the Computer, in milliseconds. */
export const SERVER_GRACE_MS = 5_000;
/** How much longer than `timeout` the Agent waits for the Server, in milliseconds. */
export const AGENT_GRACE_MS = 10_000;

/** How long a tool call may take in all by default when progress restarts its time-out, in milliseconds: one hour. */
const DEFAULT_MAX_TIMEOUT_MS = 3_600_000;

/** Whether `timeout` is a number of seconds above 0 and up to {@linkcode MAX_TIMEOUT_SECONDS}. */
export function isTimeoutSeconds(timeout: unknown): timeout is number {
  return typeof timeout === "number" && timeout > 0 && timeout <= MAX_TIMEOUT_SECONDS;
}

/** The time limit of a request in milliseconds: its `timeout`, or the default. */
export function timeoutMsOf(request: { readonly timeout?: number | undefined }): number {
  return (request.timeout ?? DEFAULT_TIMEOUT_SECONDS) * 1000;
}

/** The time-out of a tool call, and whether progress restarts it. */
export interface CallTimeouts {
  /** How long it may take, in milliseconds; 30,000 by default. */
  readonly timeoutMs?: number | undefined;
  /** Whether each progress restarts `timeoutMs`; false by default. */
  readonly resetTimeoutOnProgress?: boolean | undefined;
  /** How long it may then take in all, in milliseconds; 3,600,000 by default. */
  readonly maxTimeoutMs?: number | undefined;
}

/** The time that a call has in all, and how long it may make no progress, both in milliseconds. */
export function toCallTimes(
  { timeoutMs = DEFAULT_TIMEOUT_SECONDS * 1000, resetTimeoutOnProgress = false, maxTimeoutMs }: CallTimeouts,
): { readonly timeoutMs: number; readonly idleMs: number | undefined } {
  if (!resetTimeoutOnProgress) return { timeoutMs, idleMs: undefined };
  return { timeoutMs: Math.max(timeoutMs, maxTimeoutMs ?? DEFAULT_MAX_TIMEOUT_MS), idleMs: timeoutMs };
}
