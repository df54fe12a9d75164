/** The members that all requests of an Agent have. */
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
