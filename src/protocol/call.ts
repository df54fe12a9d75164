/** What every request carries, and what the Server looks at when it relays one. */

/** The base of every request of an Agent (`docs/protocol/data-structures.md#agentcalldata`). */
export interface AgentCallData {
  /** The Agent's name or id, as it calls itself. */
  agent: string;
  /** The request's id: what de-duplicates a call and what a cancel names. */
  req_id: string;
}

/** A request for one Computer of the caller's office: all that the Server reads of a `client:*` event. */
export interface ComputerCallData extends AgentCallData {
  /** The name of the Computer that shall answer. */
  computer: string;
  /** Seconds, above 0 and up to 86,400; 30 when absent. */
  timeout?: number;
}
