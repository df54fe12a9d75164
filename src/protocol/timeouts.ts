/** The time limits of a relayed request. Each side waits longer than the next one, so that the most precise answer arrives. */

/** The time limit of a relayed request without `timeout`, in seconds. */
export const DEFAULT_TIMEOUT_SECONDS = 30;
/** The highest `timeout` of a request, in seconds: one day. */
export const MAX_TIMEOUT_SECONDS = 86_400;
/** How much longer than `timeout` the Server waits for the Computer, in milliseconds. */
export const SERVER_GRACE_MS = 5_000;
/** How much longer than `timeout` the Agent waits for the Server, in milliseconds. */
export const AGENT_GRACE_MS = 10_000;

/** Whether `timeout` is a number of seconds above 0 and up to {@linkcode MAX_TIMEOUT_SECONDS}. */
export function isTimeoutSeconds(timeout: unknown): timeout is number {
  return typeof timeout === "number" && timeout > 0 && timeout <= MAX_TIMEOUT_SECONDS;
}

/** The time limit of a request in milliseconds: its `timeout`, or the default. */
export function timeoutMsOf(request: { readonly timeout?: number | undefined }): number {
  return (request.timeout ?? DEFAULT_TIMEOUT_SECONDS) * 1000;
}
