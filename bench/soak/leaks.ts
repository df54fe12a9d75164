/** Finds processes that should have ended. */
import { type MarkedProcess, markedProcesses } from "./proc.ts";
import { hasProcess, type Slot, type Slots, tagOf } from "./scenery.ts";

/** The state of each MCP server, from the Computer. */
export type States = Readonly<Record<string, { readonly status: string }>>;

/** Checks the processes of a run; a process that is unexpected in two checks in a row is a leak. */
export class ProcessWatch {
  readonly #run: string;
  #suspects = new Map<number, MarkedProcess>();
  readonly #reported = new Set<number>();

  constructor(run: string) {
    this.#run = run;
  }

  /**
   * Returns the processes that were unexpected in this and in the previous check.
   *
   * @param states The state of each server of the Computer by name.
   */
  findLeaks(slots: Slots, states: States): MarkedProcess[] {
    const odd = oddProcesses(markedProcesses(this.#run), slots.filter((slot) => isStarted(slot, states)));
    const leaks = odd.filter(({ pid }) => this.#suspects.has(pid) && !this.#reported.has(pid));
    this.#suspects = new Map(odd.map((process) => [process.pid, process]));
    for (const { pid } of leaks) this.#reported.add(pid);
    return leaks;
  }

  /** All processes of the run: the Computer, the MCP servers, and their child processes. */
  all(): MarkedProcess[] {
    return markedProcesses(this.#run);
  }

  /** The processes of MCP servers. */
  ofServers(): MarkedProcess[] {
    return this.all().filter(({ tag }) => tag !== undefined);
  }
}

function isStarted({ name }: Slot, states: States): boolean {
  const status = states[name]?.status;
  return status === "starting" || status === "running" || status === "retrying";
}

/** Processes of an earlier generation or of no server, and all but the newest process of each server. */
function oddProcesses(processes: readonly MarkedProcess[], slots: Slots): MarkedProcess[] {
  const wanted = new Set(slots.filter(hasProcess).map(tagOf));
  const ofServers = processes.filter(({ tag }) => tag !== undefined);
  const youngest = new Map<string, number>();
  for (const { tag = "", isServer, pid } of ofServers) {
    if (isServer) youngest.set(tag, Math.max(pid, youngest.get(tag) ?? 0));
  }
  return ofServers.filter(({ tag = "", isServer, pid }) =>
    !wanted.has(tag) || isServer && pid !== youngest.get(tag)
  );
}
