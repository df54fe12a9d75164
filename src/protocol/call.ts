/** What all requests of an Agent have: who asks and for whom, an id, and a time limit. */
import { ASK_TOOL_CALL_EVENT, TOOL_CALL_EVENT } from "./events.ts";

/** The requests that call a tool. */
export const TOOL_CALL_EVENTS: ReadonlySet<string> = new Set([TOOL_CALL_EVENT, ASK_TOOL_CALL_EVENT]);

/** The base of every request of an Agent (`docs/protocol/data-structures.md#agentcalldata`). */
export interface AgentCallData {
  /** The name of the Agent, as the Agent states it. */
  agent: string;
  /** The id of the request. Identifies repeated calls, and the call that a cancel ends. */
  req_id: string;
}

/** The base of most answers to requests of an Agent. */
export interface AgentCallAnswer {
  /** The id of the request. */
  req_id?: string;
}

/** A request to one Computer of the Agent's office: the members of a `client:*` event that the Server reads. */
export interface ComputerCallData extends AgentCallData {
  /** The name of the Computer. */
  computer: string;
  /** Seconds, above 0 and up to 86,400; 30 when absent. */
  timeout?: number;
}

/** The time limit of a relayed request without `timeout`, in seconds. */
export const DEFAULT_TIMEOUT_SECONDS = 30;
/** The highest `timeout` of a request, in seconds: one day. */
export const MAX_TIMEOUT_SECONDS = 86_400;
/**
 * How much longer than `timeout` the Server waits for the Computer, in milliseconds. Each side waits longer than the next
 * one, so that the most precise answer arrives.
 */
export const SERVER_GRACE_MS = 5_000;
/** How much longer than `timeout` the Agent waits for the Server, in milliseconds. */
export const AGENT_GRACE_MS = 10_000;

/**
 * How long the tool calls of an Agent that lost its connection go on, in milliseconds: it may come back, and ask again for
 * their results.
 */
export const AGENT_RETURN_MS = 20_000;

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

/** The longest name of a client, in characters. */
export const MAX_CLIENT_LENGTH = 64;

/** Characters that cannot be seen, and those that change the direction of text. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu;

/** `NAME/CLIENT`; the Agent's name alone when nothing of the client's name can be seen. */
export function toRequester(agent: string, client: string | undefined): string {
  const seen = [...(client ?? "").slice(0, 4 * MAX_CLIENT_LENGTH).replace(UNSEEN, " ").trim()];
  return seen.length === 0 ? agent : `${agent}/${seen.slice(0, MAX_CLIENT_LENGTH).join("").trimEnd()}`;
}

/** The client that a request says it is for; `undefined` when it is not of the form `NAME/CLIENT` for this Agent. */
export function clientNamedIn(claimed: string, agent: string | undefined): string | undefined {
  if (agent === undefined || !claimed.startsWith(`${agent}/`)) return undefined;
  return claimed.slice(agent.length + 1) || undefined;
}
