/** When grants are used, how often, and whether those that are in use still stand. */
import type { Grant, Grants } from "./grants.ts";

/** Between two looks at the state file, in milliseconds: a stream of a grant that was ended may last so long. */
const INTERVAL_MS = 2_000;

/** A grant that was used. */
interface Use {
  /** What it allowed when it was used first. */
  readonly facts: string;
  readonly ending: AbortController;
  usedAt: number;
  /** Since the last look. */
  calls: number;
  isNew: boolean;
}

export class Uses {
  readonly #grants: Grants;
  readonly #uses = new Map<string, Use>();
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(grants: Grants) {
    this.#grants = grants;
    this.#timer = setInterval(() => this.#look(), INTERVAL_MS);
  }

  /** Counts a use; returns the signal that ends what the grant has opened. */
  use(grant: Grant): AbortSignal {
    const facts = factsOf(grant);
    const known = this.#uses.get(grant.id);
    if (known !== undefined && known.facts !== facts) end(known);
    const use = known?.facts === facts
      ? known
      : { facts, ending: new AbortController(), usedAt: 0, calls: known?.calls ?? 0, isNew: true };
    use.usedAt = Date.now();
    use.isNew = true;
    this.#uses.set(grant.id, use);
    return use.ending.signal;
  }

  countCall(id: string): void {
    const use = this.#uses.get(id);
    if (use !== undefined) use.calls++;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#look();
    for (const use of this.#uses.values()) end(use);
    this.#uses.clear();
  }

  #look(): void {
    for (const [id, use] of this.#uses) {
      const grant = this.#grants.find(id);
      if (grant === undefined || factsOf(grant) !== use.facts) {
        this.#uses.delete(id);
        end(use);
      }
      if (grant === undefined || !use.isNew && use.calls === 0) continue;
      this.#grants.countUse(id, use);
      use.calls = 0;
      use.isNew = false;
    }
  }
}

function factsOf({ offices, computers, rights }: Grant): string {
  return JSON.stringify([offices, computers, rights]);
}

function end({ ending }: Use): void {
  ending.abort(new DOMException("The grant has ended or was changed", "AbortError"));
}
