/**
 * The grants of a hub that runs: when they are used and how often, and what commands, which are other programs, do to them
 * meanwhile.
 */
import type { Logger } from "../log.ts";
import { describeError } from "../text/text.ts";
import type { Grant, Grants } from "./grants.ts";
import type { StateFile } from "./state_file.ts";

/** Between two looks at the state file, in milliseconds: a stream of a grant that was ended may last so long. */
const INTERVAL_MS = 2_000;

/** A grant since it was used first. */
interface Use {
  /** What it allowed then. */
  readonly facts: string;
  readonly ending: AbortController;
  usedAt: number;
  /** Since the last look. */
  calls: number;
  isNew: boolean;
}

export class GrantsInUse {
  readonly #grants: Grants;
  readonly #file: StateFile;
  readonly #audit: Logger;
  readonly #uses = new Map<string, Use>();
  /** What each grant allows, as far as this program knows. */
  readonly #known = new Map<string, string>();
  /** Changes when another program writes. */
  #version: unknown;
  #isFailing = false;
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(grants: Grants, { file, audit }: { readonly file: StateFile; readonly audit: Logger }) {
    this.#grants = grants;
    this.#file = file;
    this.#audit = audit;
    grants.onBegin = (grant) => this.#known.set(grant.id, factsOf(grant));
    grants.onEnd = (id) => this.#end(id);
    this.#compare();
    this.#timer = setInterval(() => this.#look(), INTERVAL_MS);
  }

  /** Counts a use; returns the signal that ends what the grant has opened. */
  use(grant: Grant): AbortSignal {
    const facts = factsOf(grant);
    const known = this.#uses.get(grant.id);
    const use = known?.facts === facts ? known : this.#begin(grant.id, { facts, earlier: known });
    use.usedAt = Date.now();
    use.isNew = true;
    return use.ending.signal;
  }

  countCall(id: string): void {
    const use = this.#uses.get(id);
    if (use !== undefined) use.calls++;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#look();
    for (const id of [...this.#uses.keys()]) this.#end(id);
  }

  #begin(id: string, { facts, earlier }: { readonly facts: string; readonly earlier: Use | undefined }): Use {
    const use = { facts, ending: new AbortController(), usedAt: 0, calls: earlier?.calls ?? 0, isNew: true };
    earlier?.ending.abort(ENDED);
    this.#uses.set(id, use);
    return use;
  }

  /** A file that cannot be used keeps nobody from anything here: each request finds that out by itself. */
  #look(): void {
    try {
      this.#file.transact(() => this.#write());
      this.#compare();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) {
        this.#audit.error("failed to use the hub's state file", { error: describeError(error) });
      }
      this.#isFailing = true;
    }
  }

  #write(): void {
    for (const [id, use] of this.#uses) {
      if (!use.isNew && use.calls === 0) continue;
      this.#grants.countUse(id, use);
      use.calls = 0;
      use.isNew = false;
    }
  }

  /** Writes what other programs have changed, and ends the streams of those grants. */
  #compare(): void {
    const version = this.#file.get("PRAGMA data_version")?.["data_version"];
    if (version === this.#version) return;
    this.#version = version;
    const listed = new Map(this.#grants.list().map((grant) => [grant.id, grant]));
    for (const [id, facts] of [...this.#known]) {
      const grant = listed.get(id);
      if (grant !== undefined && factsOf(grant) === facts) continue;
      const { client, rights, offices, computers } = grant ?? {};
      const what = grant === undefined
        ? "a grant was revoked by a command"
        : "a grant was changed by a command";
      this.#audit.warn(what, { grant: id, client, rights, offices, computers });
      this.#end(id);
    }
    for (const [id, grant] of listed) this.#known.set(id, factsOf(grant));
  }

  #end(id: string): void {
    this.#known.delete(id);
    this.#uses.get(id)?.ending.abort(ENDED);
    this.#uses.delete(id);
  }
}

const ENDED = new DOMException("The grant has ended or was changed", "AbortError");

function factsOf({ client, offices, computers, rights }: Grant): string {
  return JSON.stringify([client, offices, computers, rights]);
}
