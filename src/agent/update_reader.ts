/** Asking Computers which resources changed, each from where its last answer ended. */
import type { ResourceUpdate } from "../protocol/resource_updates.ts";
import { isNotServed } from "./computer_requests.ts";
import type { AgentEvent } from "./events.ts";
import type { RemoteComputer } from "./remote_computer.ts";

/** The Computers whose cursors are remembered; of another one all is read that it remembers. */
const MAX_CURSORS = 1_000;
/** How many answers are read for one event. */
const MAX_ANSWERS = 20;
/** How long one answer is waited for: some foreign Computers leave unknown events unanswered. */
const TIMEOUT_MS = 5_000;

/** Reads updates. */
export class UpdateReader {
  readonly #cursors = new Map<string, string>();

  /**
   * What changed on a Computer since the last time; `undefined` for nothing, and where the Computer does not tell.
   * Where an answer fails, those before it are given: the Computer tells them once.
   */
  async fetch(remote: RemoteComputer): Promise<AgentEvent | undefined> {
    const updates: ResourceUpdate[] = [];
    try {
      for (let answers = 0; answers < MAX_ANSWERS; answers++) {
        const cursor = this.#cursors.get(remote.name);
        const answer = await remote.getResourceUpdates({ cursor, timeoutMs: TIMEOUT_MS });
        updates.push(...answer.updates);
        this.#remember(remote.name, answer.cursor);
        if (!answer.hasMore) break;
      }
    } catch (error) {
      if (updates.length === 0 && !isNotServed(error)) throw error;
    }
    return updates.length === 0 ? undefined : { type: "resourcesUpdated", computer: remote.name, updates };
  }

  #remember(computer: string, cursor: string): void {
    this.#cursors.delete(computer);
    this.#cursors.set(computer, cursor);
    const [oldest = computer] = this.#cursors.keys();
    if (this.#cursors.size > MAX_CURSORS) this.#cursors.delete(oldest);
  }
}
