/** An office as gateway and toolkits see it. */
import { toBareLine } from "../../text/safe_text.ts";
import type { SessionInfo } from "../../protocol/office.ts";
import type { ComputerPresence } from "../../protocol/presence.ts";
import type { AgentEventName, AgentListener } from "../events.ts";
import type { Unsubscribe } from "../listeners.ts";
import type { RemoteComputer } from "../remote_computer.ts";
import type { RemoteComputerOptions } from "../remote_options.ts";
import type { PresenceOptions, RequestOptions } from "../requests.ts";

/** One of several offices, as a group of them tells it. */
export interface KnownOffice {
  /** The office, as names such as `laptop@shop` tell it. */
  readonly office: string;
  /** Why it cannot be reached now, in words for users; `undefined` while it can. */
  readonly problem: string | undefined;
}

/** An office as its Agent sees it. An `Agent` is one, and so is an `OfficeGroup`. */
export interface Office {
  /** The Agent's name in the office. */
  readonly name: string;
  /** The office's id; `undefined` after the Agent has left it. */
  readonly office: string | undefined;
  /** The offices of a group; absent for a single one. */
  readonly offices?: readonly KnownOffice[];
  /** `false` while the Agent reconnects. */
  readonly isConnected: boolean;
  /** Why its connection has not come back at the last attempt. */
  readonly problem?: Error | undefined;
  /** Aborted when the Agent is closed or has failed. */
  readonly ended?: AbortSignal;
  /** The Computer of this name; sends no request. */
  computer(name: string, options?: RemoteComputerOptions): RemoteComputer;
  /** In a group: why this Computer's office cannot be reached now; `undefined` while it can. */
  problemOf?(computer: string): string | undefined;
  /** In a group: the office of this Computer. */
  officeOf?(computer: string): string | undefined;
  /** The id of the machine that has this name, as far as it is known. */
  machineOf?(computer: string): string | undefined;
  /** Tells of each Computer whether a call would work now; `undefined` when the Server does not tell. */
  listPresence?(options?: PresenceOptions): Promise<ComputerPresence[] | undefined>;
  /** Lists the members of the office. */
  listOffice(options?: RequestOptions): Promise<SessionInfo[]>;
  /** Calls `listener` with each event of one name. */
  on<Name extends AgentEventName>(type: Name, listener: AgentListener<Name>): Unsubscribe;
}

/** Why an office that was reached cannot be reached now, in words for users. */
export function lostProblem({ problem }: Office): string {
  const lost = "the connection to the Server is lost, and comes back";
  return problem === undefined
    ? `${lost} by itself`
    : `${lost} when the Server can be reached and admits this program; the last attempt: ${
      toBareLine(problem.message)
    }`;
}
