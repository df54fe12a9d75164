/** What gateway and toolkits need of an Agent. */
import type { RequestOptions } from "../requests.ts";
import type { AgentEventName, AgentListener } from "../events.ts";
import type { Unsubscribe } from "../listeners.ts";
import type { RemoteComputer } from "../remote_computer.ts";
import type { SessionInfo } from "../../protocol/office.ts";

/** An office as its Agent sees it. An `Agent` is one. */
export interface Office {
  /** The Agent's name in the office. */
  readonly name: string;
  /** The office's id; `undefined` after the Agent has left it. */
  readonly office: string | undefined;
  /** `false` while the Agent reconnects. */
  readonly isConnected: boolean;
  /** Aborted when the Agent is closed or has failed. */
  readonly ended?: AbortSignal;
  /** The Computer of this name; sends no request. */
  computer(name: string): RemoteComputer;
  /** Lists the members of the office. */
  listOffice(options?: RequestOptions): Promise<SessionInfo[]>;
  /** Calls `listener` with each event of one name. */
  on<Name extends AgentEventName>(type: Name, listener: AgentListener<Name>): Unsubscribe;
}
