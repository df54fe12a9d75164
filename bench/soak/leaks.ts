/** Which processes should not be there any more. */
import { type MarkedProcess, markedProcesses } from "./proc.ts";
import { hasProcess, type Slot, type Slots, tagOf } from "./scenery.ts";

/** The state of each server as the Computer tells it. */
export type States = Readonly<Record<string, { readonly status: string }>>;

/** Looks at the processes of a run now and then; what is odd twice in a row is a leak. */
export class ProcessWatch {
  readonly #run: string;
  #suspects = new Map<number, MarkedProcess>();
  readonly #reported = new Set<number>();

  constructor(run: string) {
    this.#run = run;
  }

  /**
   * The processes that nobody asks for, now and when this was called last.
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

  /** All processes of the run, whoever started them: the Computer, its guard, the servers, and what those started. */
  all(): MarkedProcess[] {
    return markedProcesses(this.#run);
  }

  /** Those of MCP servers alone. */
  ofServers(): MarkedProcess[] {
    return this.all().filter(({ tag }) => tag !== undefined);
  }
}

function isStarted({ name }: Slot, states: States): boolean {
  const status = states[name]?.status;
  return status === "starting" || status === "running" || status === "retrying";
}

/** Those of a former generation or of no server, and all but the youngest process of one server. */
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
