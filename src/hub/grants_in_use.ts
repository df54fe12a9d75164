/**
 * The grants of a hub that runs: when they are used and how often, and what commands, which are other programs, do to them
 * meanwhile; and the end of those that have expired.
 */
import { describeError } from "../text/text.ts";
import type { HubAudit } from "./audit.ts";
import type { Clients } from "./clients.ts";
import { forgetCommands, readCommands } from "./commands.ts";
import type { Grant, Grants } from "./grants.ts";
import type { StateFile } from "./state_file.ts";

/** Between two looks at the state file, in milliseconds: a stream of a grant that was ended may last so long. */
const INTERVAL_MS = 2_000;

/** A grant as far as this program knows it. */
interface Known {
  readonly facts: string;
  readonly offices: readonly string[];
  /** Ends what it has opened. */
  readonly ending: AbortController;
  /** Since the last look: the last use, and how many calls. */
  usedAt: number;
  calls: number;
}

interface GrantsInUseParts {
  readonly file: StateFile;
  readonly grants: Grants;
  readonly clients: Clients;
  readonly audit: HubAudit;
  readonly onEnd: GrantEndListener;
}

/** Called for each office that a grant is for no more, with the id of the grant. */
export type GrantEndListener = (
  office: string,
  end: {
    readonly client: string;
    /** Whether no other grant is for this office. */
    readonly isLast: boolean;
  },
) => void;

export class GrantsInUse {
  readonly #parts: GrantsInUseParts;
  readonly #known = new Map<string, Known>();
  /** Changes when another program writes. */
  #version: unknown;
  /** The line of a command that was told last. */
  #lastCommand = 0;
  #isFailing = false;
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(parts: GrantsInUseParts) {
    const { grants } = parts;
    this.#parts = parts;
    grants.onBegin = (grant) => void this.#learn(grant);
    grants.onEnd = (id) => this.#end(id);
    this.#look();
    this.#timer = setInterval(() => this.#look(), INTERVAL_MS);
  }

  /** Counts a use; returns the signal that ends what the grant has opened, `undefined` for one that has ended meanwhile. */
  use(grant: Grant): AbortSignal | undefined {
    this.#compare();
    const known = this.#known.get(grant.id);
    if (known === undefined) return undefined;
    known.usedAt = Date.now();
    return known.ending.signal;
  }

  countCall(id: string): void {
    const known = this.#known.get(id);
    if (known !== undefined) known.calls++;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#look();
    for (const { ending } of this.#known.values()) ending.abort(ENDED);
    this.#known.clear();
  }

  /** A file that cannot be used keeps nobody from anything here: each request finds that out by itself. */
  #look(): void {
    try {
      const { file, grants, clients, audit } = this.#parts;
      // First, since a full disk refuses what is written.
      this.#compare();
      const used = [...this.#known].filter(([, { usedAt, calls }]) => usedAt > 0 || calls > 0);
      file.transact(() => {
        for (const [id, known] of used) grants.countUse(id, known);
      });
      // Last, so that the next look writes what has failed.
      for (const [, known] of used) known.usedAt = known.calls = 0;
      for (const grant of grants.prune()) audit.log.info("a grant has expired", { grant });
      clients.prune();
      forgetCommands(file, this.#lastCommand);
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) {
        this.#parts.audit.log.error("failed to use the hub's state file", { error: describeError(error) });
      }
      this.#isFailing = true;
    }
  }

  /** Writes what other programs have changed, and ends the streams of those grants. */
  #compare(): void {
    const version = this.#parts.file.get("PRAGMA data_version")?.["data_version"];
    if (version === this.#version) return;
    for (const { id, message, fields } of readCommands(this.#parts.file, this.#lastCommand)) {
      this.#lastCommand = id;
      this.#parts.audit.log.warn(message, fields);
    }
    const listed = new Map(this.#parts.grants.list().map((grant) => [grant.id, grant]));
    // First, so that an office whose only grant was replaced has one all the time.
    for (const grant of listed.values()) if (!this.#known.has(grant.id)) this.#learn(grant);
    for (const [id, { facts }] of [...this.#known]) {
      const grant = listed.get(id);
      if (grant !== undefined && factsOf(grant) === facts) continue;
      this.#end(id, grant);
    }
    // Last, so that the next look does what has failed.
    this.#version = version;
  }

  #learn(grant: Grant): Known {
    const { offices } = grant;
    const known = { facts: factsOf(grant), offices, ending: new AbortController(), usedAt: 0, calls: 0 };
    this.#known.set(grant.id, known);
    return known;
  }

  /** @param changed The grant as it goes on. */
  #end(id: string, changed?: Grant): void {
    const known = this.#known.get(id);
    if (known === undefined) return;
    this.#known.delete(id);
    known.ending.abort(ENDED);
    if (changed !== undefined) {
      const { usedAt, calls } = known;
      Object.assign(this.#learn(changed), { usedAt, calls });
    }
    const left = new Set(this.#known.values().flatMap(({ offices }) => offices));
    for (const office of known.offices) {
      if (changed?.offices.includes(office)) continue;
      this.#parts.onEnd(office, { client: id, isLast: !left.has(office) });
    }
  }
}

const ENDED = new DOMException("The grant has ended or was changed", "AbortError");

function factsOf({ client, offices, computers, rights }: Grant): string {
  return JSON.stringify([client, offices, computers, rights]);
}
