/**
 * Tool calls as tasks, which servers of 2025-11-25 may demand (`execution.taskSupport` of a tool): the call begins a task,
 * the task is polled until it ends, and its result is fetched, all within the time of the call.
 */
import { delay } from "../async/backoff.ts";
import { Deadline } from "../async/deadline.ts";
import { isRecord } from "../json/json.ts";
import type { Logger } from "../log.ts";
import { SESSION_VERSIONS } from "../protocol/mcp.ts";
import { describeError, shorten } from "../text/text.ts";
import type { RequestLimits } from "./call_options.ts";
import { ServerAnswerError, ServerTimeoutError, TaskError } from "./errors.ts";
import type { Introduction } from "./handshake.ts";
import type { Result } from "./rpc_peer.ts";
import type { SessionCall } from "./session_calls.ts";

/** The version whose tasks these are; later ones have others, which this client does not use. */
const [LAST_VERSION_WITH_TASKS = ""] = SESSION_VERSIONS;
/** How often a task is polled when its server does not say so, in milliseconds. */
const USUAL_POLL_MS = 1_000;
/** The shortest and the longest time between two polls, whatever the server says, in milliseconds. */
const MIN_POLL_MS = 100;
const MAX_POLL_MS = 10_000;
/** How much longer than its call a task and its result should be kept, in milliseconds. */
const KEPT_MS = 60_000;
/** How long a server may take to cancel a task, in milliseconds. */
const CANCEL_TIMEOUT_MS = 10_000;
const MAX_TASK_ID_LENGTH = 1_024;
/** The length to which the text of a status is cut, in characters; it is masked and cut further before it is sent. */
const MAX_STATUS_LENGTH = 16_384;

export interface Task {
  readonly taskId: string;
  /** Any other word than those of MCP counts as `working`. */
  readonly status: string;
  readonly message: string | undefined;
  /** The time until the next poll, in milliseconds. */
  readonly pollMs: number;
}

export interface TaskOptions extends RequestLimits {
  /** The time that the server is told, in milliseconds; `timeoutMs` by default. */
  readonly taskMs?: number | undefined;
  /** Learns the id of the task, and the text of its status whenever it is polled. */
  readonly call: Pick<SessionCall, "task" | "note">;
}

/** What a task needs of its session. */
export interface TaskSession {
  /** Sends a request to the server; rejects with the reason of an aborted signal. */
  readonly request: (method: string, params: Result, limits: RequestLimits) => Promise<Result>;
  readonly log: Logger;
  /** Aborted when the session ends, with the error for its requests. */
  readonly over: AbortSignal;
}

/**
 * Calls a tool as a task; the result is unchecked. A call that ends early cancels its task.
 *
 * @param params those of `tools/call`
 * @throws {TaskError} when the server begins no task, or cancels it.
 */
export async function callAsTask(
  params: Result,
  { timeoutMs, taskMs = timeoutMs, signal: caller, call }: TaskOptions,
  { request, log, over }: TaskSession,
): Promise<Result> {
  using deadline = new Deadline(timeoutMs, {
    reason: () => new ServerTimeoutError(`Cannot complete "tools/call": no result in ${timeoutMs} ms`),
    signal: caller === undefined ? over : AbortSignal.any([caller, over]),
  });
  const limits = { timeoutMs, signal: deadline.signal };
  const task = { ttl: taskMs + KEPT_MS };
  const created = await request("tools/call", { ...params, task }, limits);
  const begun = readTask(created["task"]);
  if (begun === undefined) return requireContent(created);
  const { taskId } = begun;
  call.task = taskId;
  try {
    await untilEnd(begun, {
      call,
      signal: deadline.signal,
      poll: () => request("tasks/get", { taskId }, limits),
    });
    return await request("tasks/result", { taskId }, limits);
  } catch (error) {
    // An answer says that the task has ended, or is lost.
    const isAnswered = error instanceof ServerAnswerError || error instanceof TaskError;
    if (!isAnswered && !over.aborted) {
      request("tasks/cancel", { taskId }, { timeoutMs: CANCEL_TIMEOUT_MS }).catch((error) =>
        log.debug("cannot cancel a task of the MCP server", { error: describeError(error) })
      );
    }
    throw error;
  }
}

interface Polling extends Pick<TaskOptions, "call"> {
  readonly poll: () => Promise<Result>;
  readonly signal: AbortSignal;
}

/** Polls a task until it has a result, or questions, which come while the result is waited for. */
async function untilEnd(begun: Task, { call, poll, signal }: Polling): Promise<void> {
  for (let task = begun;;) {
    const { status, message } = task;
    if (message !== undefined) call.note(message);
    if (status === "completed" || status === "failed" || status === "input_required") return;
    if (status === "cancelled") {
      throw new TaskError({ reason: `the MCP server cancelled the task${because(message)}` });
    }
    await delay(task.pollMs, signal);
    const next = readTask(await poll());
    if (next === undefined) throw new TaskError({ reason: "the MCP server answered no state of the task" });
    task = next;
  }
}

/**
 * Whether a tool that demands a task is called as one. A server that does not offer tasks gets a plain call.
 *
 * @throws {TaskError} for a server of 2026-07-28 or later, which has no such tasks.
 */
export function hasTasks(
  { version, capabilities }: Pick<Introduction, "version" | "capabilities">,
): boolean {
  if (version > LAST_VERSION_WITH_TASKS) {
    throw new TaskError({
      reason:
        `it can only be called as a task of MCP ${LAST_VERSION_WITH_TASKS}, and its MCP server speaks ${version}`,
    });
  }
  const { tasks } = capabilities;
  const { requests } = isRecord(tasks) ? tasks : {};
  const { tools } = isRecord(requests) ? requests : {};
  return isRecord(tools) && tools["call"] !== undefined;
}

/** Reads the state of a task; `undefined` when it has another shape. */
export function readTask(value: unknown): Task | undefined {
  if (!isRecord(value)) return undefined;
  const { taskId, status, statusMessage, pollInterval } = value;
  if (typeof taskId !== "string" || taskId.length > MAX_TASK_ID_LENGTH) return undefined;
  if (typeof status !== "string") return undefined;
  const pollMs = typeof pollInterval === "number" && !Number.isNaN(pollInterval)
    ? Math.min(MAX_POLL_MS, Math.max(MIN_POLL_MS, pollInterval))
    : USUAL_POLL_MS;
  const message = typeof statusMessage === "string" && statusMessage !== ""
    ? shorten(statusMessage, MAX_STATUS_LENGTH)
    : undefined;
  return { taskId, status, message, pollMs };
}

/** A server may answer at once instead of beginning a task. */
function requireContent(result: Result): Result {
  if (Array.isArray(result["content"])) return result;
  throw new TaskError({ reason: "the MCP server answered neither a task nor a result" });
}

function because(message: string | undefined): string {
  return message === undefined ? "" : `: ${message}`;
}
