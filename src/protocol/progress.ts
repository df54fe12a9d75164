/** The progress of tool calls (`docs/protocol/progress.md`). */
import type { AgentCallAnswer, ComputerCallData } from "./call.ts";
import type { UpdateComputerConfigReq } from "./office.ts";

/** How far a tool call has come. */
export interface CallProgress {
  /** Grows with each report. */
  progress: number;
  /** The value of `progress` at the end, where the MCP server knows it. */
  total?: number;
  /** What the tool is doing, in the words of the MCP server; at most 1,000 characters. */
  message?: string;
}

/** `client:follow_call`: asks to be told of the progress of a tool call, and for its latest progress. */
export interface FollowCallReq extends ComputerCallData {
  /** The `req_id` of the tool call, which may be sent after this request. */
  call: string;
  /**
   * Seconds, above 0 and up to 86,400: the call ends when it has made no progress for that long, and at the latest after
   * its own `timeout`. Only counts when the call has not begun.
   */
  idle_timeout?: number;
}

/** The answer to `client:follow_call`. */
export interface FollowCallRet extends AgentCallAnswer {
  /** The latest progress of the call; absent before the first. */
  progress?: CallProgress;
}

/** `server:update_progress` and `notify:update_progress`: a call that is followed has made progress. */
export interface UpdateProgressReq extends UpdateComputerConfigReq {
  /** The id of the tool call. */
  req_id: string;
  /** Grows with each update of a call. */
  progress: number;
  /** The value of `progress` at the end, where the MCP server knows it. */
  total?: number;
  /** Whether there is a message, which only `client:follow_call` answers. */
  has_message?: boolean;
}
