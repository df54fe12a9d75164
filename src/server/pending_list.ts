/** Which requests are in flight: a list that takes little time, and no memory, for those that have been answered. */
import type { PendingAnswer } from "./pending_answer.ts";

/**
 * The open requests of one connection, or those to it, in no order. Adding and removing one takes the same time however
 * many there are. A `Map` or `Set` would make a table anew for every few requests, and keep the former one reachable.
 */
export class PendingList {
  readonly #side: "askedAt" | "owedAt";
  readonly #requests: PendingAnswer[] = [];

  /** `side`: where a request keeps its place in this list. */
  constructor(side: "askedAt" | "owedAt") {
    this.#side = side;
  }

  add(request: PendingAnswer): void {
    request[this.#side] = this.#requests.push(request) - 1;
  }

  /** Removes a request that is in this list: the last one takes its place. */
  remove(request: PendingAnswer): void {
    const last = this.#requests.pop();
    if (last === undefined || last === request) return;
    const place = request[this.#side];
    this.#requests[place] = last;
    last[this.#side] = place;
  }

  /** All of them, as they are now. */
  snapshot(): readonly PendingAnswer[] {
    return [...this.#requests];
  }
}
