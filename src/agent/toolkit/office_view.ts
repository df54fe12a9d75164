/** What is known of an office: its Computers and their tools, kept by the events of its Agent. */
import { Backoff, delay } from "../../async/backoff.ts";
import { BoundedMap } from "../../async/bounded_collections.ts";
import { PatientLimiter } from "../../async/limiter.ts";
import { isRecord } from "../../json/json.ts";
import { type Logger, silentLogger } from "../../log.ts";
import { UPDATE_SKILLS_NOTIFICATION } from "../../protocol/events.ts";
import type { SMCPTool } from "../../protocol/tools.ts";
import { describeError } from "../../text/text.ts";
import { toBareLine, toSeenError, toSeenName } from "../../text/safe_text.ts";
import type { Unsubscribe } from "../listeners.ts";
import { type KnownOffice, lostProblem, type Office } from "./office.ts";
import { MAX_TOOL_NAME_LENGTH } from "./tool_names.ts";

const MAX_COMPUTERS = 1_000;
const MAX_TOOLS = 5_000;
/** The most lists of tools that are fetched at the same time, besides those of Computers that are late. */
const MAX_CONCURRENT_FETCHES = 8;
/** From when on a Computer that is asked for a list is late, in milliseconds. */
export const LATE_MS = 2_000;
/** The waits before a list of tools, or of the members of the office, that could not be fetched is fetched again. */
const RETRY = { firstMs: 1_000, maxMs: 60_000 };
/** How long Computers that a lost Server had may take to come back, in milliseconds: they wait up to 10 s to reconnect. */
const RETURN_MS = 15_000;
const NOT_BACK = "it has not come back yet since the connection to the Server was lost";

/** A Computer that is in the office, or was when the connection was lost. */
export interface KnownComputer {
  readonly name: string;
  /** Its tools as it last listed them; `undefined` before it has. */
  readonly tools: readonly SMCPTool[] | undefined;
  /** The id of the machine that has listed them, if it has one. */
  readonly machine?: string | undefined;
  /** Why it cannot be asked now, or its tools could not be listed the last time; `undefined` when they could. */
  readonly problem: string | undefined;
}

/**
 * What has changed: the `members` of the office, the `tools`, `windows`, `documents`, `resources` or `prompts` of a
 * Computer, or whether the office can be reached (`connection`). The member that has entered or left is a Computer.
 */
export type OfficeChange =
  | { readonly kind: "connection" }
  | {
    readonly kind: "members" | "tools" | "windows" | "documents" | "resources" | "prompts" | "skills";
    readonly computer: string;
  };

interface Entry extends KnownComputer {
  /** Whether it was in the office before the connection was lost, and has not come back yet. */
  readonly isAwaited: boolean;
  /** Whether it has left: it is kept while the Server says that it sleeps. */
  readonly hasLeft?: boolean | undefined;
  /** Counts the lists, so that an answer that was overtaken is dropped. */
  readonly version: number;
}

export interface OfficeViewOptions {
  readonly computers?: readonly string[] | undefined;
  /** Why there is no connection yet, in words for users; asked only while there is none. */
  readonly problem?: (() => string | undefined) | undefined;
  readonly logger?: Logger | undefined;
}

/**
 * The Computers of an office and their tools. What it knows stays while the connection is lost; `isConnected` then says
 * so. A Computer that leaves is forgotten, unless it fell asleep: then its tools stay, and their calls fail at once and say since when it
 * sleeps. One that the Server does not have after a loss of the connection may be late,
 * such as when the Server has restarted, and is forgotten when it does not come back soon.
 */
export class OfficeView implements Disposable {
  /** The office; `undefined` before {@linkcode follow}. */
  office: Office | undefined;
  readonly #wanted: ReadonlySet<string> | undefined;
  readonly #problem: () => string | undefined;
  readonly #log: Logger;
  readonly #computers = new Map<string, Entry>();
  readonly #listeners = new Set<(change: OfficeChange) => void>();
  readonly #limiter = new PatientLimiter(MAX_CONCURRENT_FETCHES, LATE_MS);
  readonly #retries = new Map<string, { readonly backoff: Backoff; isWaiting: boolean }>();
  /** Counts departures, so that those that come while the Server is asked about others are asked about next. */
  #departures = 0;
  #isAsking = false;
  /** When the Computers left that were forgotten. */
  readonly #gone = new BoundedMap<string, Date>(MAX_COMPUTERS);
  /** Ends the wait for Computers to come back. */
  #returning: ReturnType<typeof setTimeout> | undefined;
  /** Counts how often the members were asked for, so that only the last failure asks again. */
  #meetings = 0;
  readonly #meetAgain = new Backoff(RETRY);
  readonly #ending = new AbortController();
  readonly #subscriptions: Unsubscribe[] = [];

  constructor({ computers, problem = () => undefined, logger = silentLogger }: OfficeViewOptions = {}) {
    this.#wanted = computers && new Set(computers);
    this.#problem = problem;
    this.#log = logger;
  }

  get isConnected(): boolean {
    return this.office?.isConnected ?? false;
  }

  /** Why the office cannot be reached, in words for users; `undefined` while it can. */
  get problem(): string | undefined {
    if (this.isConnected) return undefined;
    const problem = this.#problem();
    if (problem !== undefined) return toBareLine(problem);
    if (this.office !== undefined) {
      const problems = problemsOf(this.office.offices ?? []);
      return problems.length > 0 ? problems.join("; ") : lostProblem(this.office);
    }
    return "the gateway is still connecting to the Server";
  }

  get computers(): KnownComputer[] {
    return [...this.#computers.values()]
      .map(({ name, tools, machine, problem, isAwaited }) => ({
        name,
        tools,
        machine,
        problem: isAwaited ? NOT_BACK : this.office?.problemOf?.(name) ?? problem,
      }))
      .sort((one, other) => one.name < other.name ? -1 : 1);
  }

  /** The only Computers that count; `undefined` when all do. */
  get wanted(): readonly string[] | undefined {
    return this.#wanted && [...this.#wanted];
  }

  /** When a Computer left that is not there any more, as far as is known. */
  goneSince(computer: string): Date | undefined {
    return this.#gone.get(computer);
  }

  has(computer: string): boolean {
    return this.#computers.has(computer);
  }

  /** Whether the Computer is known, and has not left, also not to sleep. */
  isThere(computer: string): boolean {
    const known = this.#computers.get(computer);
    return known !== undefined && known.hasLeft !== true;
  }

  isReachable(computer: string): boolean {
    return this.#computers.has(computer) && this.problemOf(computer) === undefined;
  }

  /** Why the Computer cannot be asked now, in words for users; `undefined` when it can, or is not known. */
  problemOf(computer: string): string | undefined {
    if (this.problem !== undefined) return this.problem;
    const known = this.#computers.get(computer);
    return known?.isAwaited === true ? NOT_BACK : known && this.office?.problemOf?.(computer);
  }

  /** The problems of those offices of a group that cannot be reached now, in words for users. */
  get officeProblems(): string[] {
    return problemsOf(this.office?.offices ?? []);
  }

  /** Calls `listener` after each change, until the view is disposed of or the returned function is called. */
  onChange(listener: (change: OfficeChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Watches an office from now on. Resolves when the tools of all its Computers have been listed or could not be: never
   * rejects, and goes on trying in the background.
   */
  async follow(office: Office): Promise<void> {
    this.office = office;
    this.#subscribe(office);
    await this.#meet(office);
  }

  [Symbol.dispose](): void {
    this.#ending.abort();
    clearTimeout(this.#returning);
    for (const unsubscribe of this.#subscriptions) unsubscribe();
    this.#listeners.clear();
  }

  #subscribe(office: Office): void {
    this.#subscriptions.push(
      office.on("enterOffice", ({ role, name }) => role === "computer" ? this.#enter(name) : undefined),
      office.on("leaveOffice", ({ role, name }) => {
        // A Server that shuts down says so first, and then loses the others one by one: they come back as this Agent does.
        if (role === "computer" && this.isConnected) this.#leave([name]);
      }),
      office.on("toolsRefreshed", ({ computer, tools }) => this.#setTools(computer, tools)),
      office.on("refreshFailed", ({ computer, view, error }) => {
        if (view === "tools") this.#retry(computer, error);
      }),
      office.on("updateDesktop", ({ computer }) => this.#tellOf(computer, "windows")),
      office.on("updateFinder", ({ computer }) => this.#tellOf(computer, "documents")),
      office.on("updateResources", ({ computer }) => this.#tellOf(computer, "resources")),
      office.on("updatePrompts", ({ computer }) => this.#tellOf(computer, "prompts")),
      office.on("notification", ({ event, body }) => {
        const computer = event === UPDATE_SKILLS_NOTIFICATION && isRecord(body)
          ? body["computer"]
          : undefined;
        if (typeof computer === "string") this.#tellOf(computer, "skills");
      }),
      office.on("disconnected", () => {
        // Another office of a group may still have Computers to wait for.
        if (!this.isConnected) clearTimeout(this.#returning);
        this.#tell({ kind: "connection" });
      }),
      office.on("failed", () => this.#tell({ kind: "connection" })),
      office.on("reconnected", () => this.#meet(office)),
    );
  }

  /** Learns who is in the office. The Agent itself fetches the tools of known Computers again after a reconnection. */
  async #meet(office: Office): Promise<void> {
    const { signal } = this.#ending;
    const meeting = ++this.#meetings;
    try {
      const present = await listComputers(office, signal);
      signal.throwIfAborted();
      this.#meetAgain.reset();
      this.#awaitAllBut(present);
      for (const name of present) this.#enter(name);
      this.#tell({ kind: "connection" });
      const unlisted = [...present].filter((name) => this.#computers.get(name)?.tools === undefined);
      await Promise.all(unlisted.map((name) => this.#fetchTools(name)));
    } catch (error) {
      if (signal.aborted) return;
      this.#log.warn("office not listed", { error: describeError(error) });
      delay(this.#meetAgain.next(), signal).then(
        // A lost connection comes back with a meeting of its own.
        () => this.#meetings === meeting && this.isConnected ? this.#meet(office) : undefined,
        () => undefined,
      );
    }
  }

  /** The Computers of a Server that has restarted come back one by one. */
  #awaitAllBut(present: ReadonlySet<string>): void {
    this.#leave([]);
    const awaited = [...this.#computers.values()]
      .filter(({ name, hasLeft }) => hasLeft !== true && !present.has(name));
    for (const known of awaited) this.#computers.set(known.name, { ...known, isAwaited: true });
    clearTimeout(this.#returning);
    if (awaited.length === 0) return;
    this.#returning = setTimeout(() => {
      const late = [...this.#computers.values()].filter(({ isAwaited }) => isAwaited);
      this.#leave(late.map(({ name }) => name));
    }, RETURN_MS);
  }

  #enter(name: string): void {
    const known = this.#computers.get(name);
    const isThere = known !== undefined && !known.isAwaited && known.hasLeft !== true;
    if (this.#wanted?.has(name) === false || isThere) return;
    if (known === undefined && this.#computers.size >= MAX_COMPUTERS) {
      this.#log.warn("computer left out: too many in the office", { computer: name, limit: MAX_COMPUTERS });
      return;
    }
    const { tools, machine, version = 0 } = known ?? {};
    this.#computers.set(name, { name, tools, machine, problem: undefined, isAwaited: false, version });
    this.#gone.delete(name);
    this.#tell({ kind: "members", computer: name });
    // One that slept may have come back under another name.
    this.#leave([]);
  }

  /** Forgets these Computers, and those that have left before, unless the Server says that they sleep. Never rejects. */
  #leave(names: readonly string[]): void {
    for (const name of names) {
      const known = this.#computers.get(name);
      if (known !== undefined) this.#computers.set(name, { ...known, isAwaited: false, hasLeft: true });
    }
    this.#departures++;
    if (!this.#isAsking) void this.#forgetLeft();
  }

  /** Asks once for all that leave meanwhile. Never rejects. */
  async #forgetLeft(): Promise<void> {
    const { signal } = this.#ending;
    let departures: number;
    this.#isAsking = true;
    do {
      departures = this.#departures;
      const left = [...this.#computers.values()].filter(({ hasLeft }) => hasLeft === true);
      if (left.length === 0) break;
      // A Server that does not know the request may not answer it.
      const asked = { probe: false, signal: AbortSignal.any([signal, AbortSignal.timeout(LATE_MS)]) };
      const asking = this.office?.listPresence?.(asked).catch(() => undefined);
      const told = asking && await asking;
      const asleep = new Set(told?.flatMap((each) => each.asleep_since === undefined ? [] : [each.computer]));
      for (const { name } of left) {
        if (asleep.has(name) || this.#computers.get(name)?.hasLeft !== true) continue;
        this.#retries.delete(name);
        this.#computers.delete(name);
        this.#gone.set(name, new Date());
        this.#tell({ kind: "members", computer: name });
      }
    } while (departures !== this.#departures && !signal.aborted);
    this.#isAsking = false;
  }

  /** Never rejects. */
  async #fetchTools(name: string): Promise<void> {
    const { office } = this;
    const { signal } = this.#ending;
    const version = this.#computers.get(name)?.version;
    // The Agent lists the tools of a Computer that comes back.
    if (office === undefined || version === undefined || !this.isReachable(name)) return;
    try {
      const tools = await this.#limiter.run(() => office.computer(name).getTools({ signal }), signal);
      if (this.#computers.get(name)?.version === version) this.#setTools(name, tools);
    } catch (error) {
      if (!signal.aborted && this.#computers.get(name)?.version === version) this.#retry(name, error);
    }
  }

  #setTools(name: string, tools: readonly SMCPTool[]): void {
    const known = this.#computers.get(name);
    if (known === undefined) return;
    if (tools.length > MAX_TOOLS) {
      this.#log.warn("tools left out: too many", { computer: name, count: tools.length, limit: MAX_TOOLS });
    }
    const named = tools.filter(({ name }) => name.length <= MAX_TOOL_NAME_LENGTH);
    if (named.length < tools.length) {
      this.#log.warn("tools left out: their names are too long", {
        computer: name,
        count: tools.length - named.length,
        limit: MAX_TOOL_NAME_LENGTH,
      });
    }
    const kept = named.slice(0, MAX_TOOLS);
    const machine = this.office?.machineOf?.(name);
    const version = known.version + 1;
    this.#computers.set(name, { ...known, tools: kept, machine, problem: undefined, version });
    this.#retries.delete(name);
    this.#tell({ kind: "tools", computer: name });
  }

  #retry(name: string, error: unknown): void {
    const known = this.#computers.get(name);
    if (known === undefined) return;
    this.#computers.set(name, { ...known, problem: toSeenError(error) });
    this.#tell({ kind: "tools", computer: name });
    const retry = this.#retries.get(name) ?? { backoff: new Backoff(RETRY), isWaiting: false };
    this.#retries.set(name, retry);
    if (retry.isWaiting) return;
    retry.isWaiting = true;
    delay(retry.backoff.next(), this.#ending.signal).then(
      () => {
        retry.isWaiting = false;
        // Whoever has listed its tools meanwhile, or has left, is not tried again.
        return this.#retries.get(name) === retry ? this.#fetchTools(name) : undefined;
      },
      () => undefined,
    );
  }

  #tellOf(
    computer: string,
    kind: "windows" | "documents" | "resources" | "prompts" | "skills",
  ): void {
    if (this.#computers.has(computer)) this.#tell({ kind, computer });
  }

  #tell(change: OfficeChange): void {
    for (const listener of [...this.#listeners]) listener(change);
  }
}

function problemsOf(offices: readonly KnownOffice[]): string[] {
  return offices.flatMap(({ office, problem }) =>
    problem === undefined ? [] : [`office ${toSeenName(office)}: ${toBareLine(problem)}`]
  );
}

/** The names of the Computers in an office. Who enters or leaves while the Server answers is newer than its answer. */
async function listComputers(office: Office, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const isThere = new Map<string, boolean>();
  using _entering = office.on("enterOffice", ({ role, name }) => {
    if (role === "computer") isThere.set(name, true);
  });
  using _leaving = office.on("leaveOffice", ({ role, name }) => {
    if (role === "computer") isThere.set(name, false);
  });
  const members = await office.listOffice({ signal });
  const listed = members.filter(({ role }) => role === "computer").map(({ name }) => name);
  const entered = [...isThere.keys()];
  return new Set([...listed, ...entered].filter((name) => isThere.get(name) ?? true));
}
