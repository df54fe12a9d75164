/** One office of a group: its Agent, from before it has joined, and who was in it when it was seen last. */
import { abortable, settledWithin } from "../../async/abortable.ts";
import { Backoff, delay } from "../../async/backoff.ts";
import type { Logger } from "../../log.ts";
import { ConnectionClosedError } from "../../link/errors.ts";
import type { SessionInfo } from "../../protocol/office.ts";
import { describeError } from "../../text/text.ts";
import type { AgentEventName, AgentEventOf, AgentListener, OfficeMember } from "../events.ts";
import type { Unsubscribe } from "../listeners.ts";
import type { RequestOptions } from "../requests.ts";
import { lostProblem, type Office } from "../toolkit/office.ts";

/** How long the list of all offices waits for one, in milliseconds; the first list, unless it is told otherwise. */
const PATIENCE_MS = 2_000;
/** The waits before an office that did not list its members in time is asked again. */
const LIST_AGAIN = { firstMs: 1_000, maxMs: 60_000 };
/** The most members of one office that are remembered. */
const MAX_MEMBERS = 2_000;

/** An office for a group. */
export interface GroupedOffice {
  /** The office in names such as `laptop@shop`: by default its id; another word where two Servers have the same id. */
  readonly label: string;
  /** Its Agent; or a promise, while it is still joining. */
  readonly agent: Office | Promise<Office>;
  /** Why the Agent has not joined yet, in words for users; asked only while it has not. */
  readonly problem?: (() => string | undefined) | undefined;
  /** Resolves when the first attempt to join has ended, so that the first list of all offices waits for it. */
  readonly tried?: Promise<void> | undefined;
  /** Aborted when its program gives the join up: that is no failure to log. */
  readonly signal?: AbortSignal | undefined;
  /** Called when the group is closed; by default its Agent stays the caller's. */
  readonly close?: (() => Promise<void>) | undefined;
}

/** What a group hears of one of its offices. */
export interface MemberListener {
  readonly onEntered: (member: OfficeMember) => void;
  readonly onLeft: (member: OfficeMember) => void;
  readonly onLost: (event: AgentEventOf<"disconnected">) => void;
  /** It has joined, has come back, or has listed its members after all. */
  readonly onReached: () => void;
  /** It does not come back. */
  readonly onFailed: (error: Error) => void;
}

type State = "joining" | "joined" | "failed";

export class GroupMember {
  readonly label: string;
  readonly #listener: MemberListener;
  readonly #problem: () => string | undefined;
  readonly #log: Logger;
  readonly #ending = new AbortController();
  readonly #again = new Backoff(LIST_AGAIN);
  readonly #subscriptions: Unsubscribe[] = [];
  /** What is subscribed as soon as the Agent has joined. */
  readonly #waiting = new Set<(office: Office) => void>();
  /** Who is in the office, or was when it was seen last. */
  readonly #members = new Map<string, SessionInfo>();
  #office: Office | undefined;
  #failure: string | undefined;
  #tried: Promise<unknown> | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #end: () => Promise<void>;
  /** What the first lists wait for; nobody waits twice for an office that is late. */
  #firstWait: Promise<unknown> | undefined;
  readonly #firstPatienceMs: number;
  /** Until when the first lists wait, by `performance.now()`. */
  #firstEndMs: number | undefined;
  #isListed = false;
  #isListingAgain = false;

  constructor(
    { label, agent, problem = () => undefined, tried, signal, close = () => Promise.resolve() }:
      GroupedOffice,
    { listener, logger, patienceMs = PATIENCE_MS }: {
      readonly listener: MemberListener;
      readonly logger: Logger;
      /** How long the first lists wait for the office to be joined and listed, in milliseconds. */
      readonly patienceMs?: number | undefined;
    },
  ) {
    this.label = label;
    this.#listener = listener;
    this.#problem = problem;
    this.#log = logger;
    this.#firstPatienceMs = patienceMs;
    this.#signal = signal;
    this.#end = close;
    if (!(agent instanceof Promise)) {
      this.#follow(agent);
      return;
    }
    const joined = agent.then((office) => this.#onJoined(office), (error: unknown) => this.#onFailed(error));
    this.#tried = Promise.race([joined, ...(tried === undefined ? [] : [tried])]);
  }

  /** The Agent; `undefined` before it has joined. */
  get office(): Office | undefined {
    return this.#office;
  }

  get isConnected(): boolean {
    return this.#failure === undefined && (this.#office?.isConnected ?? false);
  }

  get state(): State {
    if (this.#failure !== undefined) return "failed";
    return this.#office === undefined ? "joining" : "joined";
  }

  /** Why the office cannot be reached now, in words for users. */
  get problem(): string | undefined {
    if (this.isConnected) return undefined;
    if (this.#failure !== undefined) return this.#failure;
    if (this.#office !== undefined) return lostProblem(this.#office);
    return this.#problem() ?? "not joined yet";
  }

  has(computer: string): boolean {
    return this.#members.has(keyOf({ role: "computer", name: computer }));
  }

  /** The members; of an office that does not answer soon, those that it had. Rejects only with the signal's reason. */
  async list(options: RequestOptions): Promise<SessionInfo[]> {
    this.#firstEndMs ??= performance.now() + this.#firstPatienceMs;
    if (this.#tried !== undefined) {
      this.#firstWait ??= settledWithin(this.#tried, this.#firstPatienceMs);
      await abortable(this.#firstWait, options.signal);
    }
    if (this.#office !== undefined && this.isConnected) {
      const listing = this.#ask(this.#office, options);
      const firstMs = this.#isListed ? 0 : this.#firstEndMs - performance.now();
      const patienceMs = Math.max(PATIENCE_MS, firstMs);
      const isListed = await settledWithin(abortable(listing, options.signal), patienceMs);
      if (isListed !== true) this.#listAgain(listing);
    }
    return [...this.#members.values()];
  }

  on<Name extends AgentEventName>(type: Name, listener: AgentListener<Name>): Unsubscribe {
    let current: Unsubscribe | undefined;
    const subscribe = (office: Office) => void (current = office.on(type, listener));
    if (this.#office === undefined) this.#waiting.add(subscribe);
    else subscribe(this.#office);
    const unsubscribe = () => {
      this.#waiting.delete(subscribe);
      current?.();
    };
    return Object.assign(unsubscribe, { [Symbol.dispose]: unsubscribe });
  }

  close(): Promise<void> {
    this.#ending.abort();
    this.#waiting.clear();
    for (const unsubscribe of this.#subscriptions) unsubscribe();
    return this.#end();
  }

  #onJoined(office: Office): void {
    if (this.#ending.signal.aborted) return;
    this.#follow(office);
    for (const subscribe of this.#waiting) subscribe(office);
    this.#waiting.clear();
    this.#listener.onReached();
  }

  #follow(office: Office): void {
    this.#office = office;
    this.#subscriptions.push(
      office.on("enterOffice", (member) => this.#onEntered(member)),
      office.on("leaveOffice", (member) => this.#onLeft(member)),
      office.on("disconnected", (event) => this.#listener.onLost(event)),
      office.on("reconnected", () => this.#listener.onReached()),
      office.on("failed", ({ error }) => this.#onFailed(error)),
    );
  }

  #onEntered(member: OfficeMember): void {
    if (this.#members.size < MAX_MEMBERS) this.#members.set(keyOf(member), toSession(member));
    this.#listener.onEntered(member);
  }

  #onLeft(member: OfficeMember): void {
    // A Server that shuts down says so first, and then loses the others one by one: they come back as this Agent does.
    if (!this.isConnected) return;
    this.#members.delete(keyOf(member));
    this.#listener.onLeft(member);
  }

  #onFailed(error: unknown): void {
    if (this.#ending.signal.aborted || this.#failure !== undefined) return;
    this.#failure = describeError(error);
    if (this.#signal?.aborted !== true) {
      this.#log.error("office of the group cannot be reached", { office: this.label, error: this.#failure });
    }
    const computers = [...this.#members.values()].filter(({ role }) => role === "computer");
    this.#members.clear();
    for (const { name } of computers) {
      this.#listener.onLeft({ office: this.label, role: "computer", name });
    }
    this.#listener.onFailed(error instanceof Error ? error : new ConnectionClosedError(this.#failure));
  }

  /** Learns who is in the office; whether it has. Who enters or leaves meanwhile is newer than the answer. Never rejects. */
  async #ask(office: Office, options: RequestOptions): Promise<boolean> {
    const entered = new Map<string, SessionInfo>();
    const left = new Set<string>();
    using _entering = office.on("enterOffice", (member) => {
      left.delete(keyOf(member));
      entered.set(keyOf(member), toSession(member));
    });
    using _leaving = office.on("leaveOffice", (member) => {
      entered.delete(keyOf(member));
      left.add(keyOf(member));
    });
    try {
      const members = await office.listOffice(options);
      if (this.#ending.signal.aborted || this.#failure !== undefined) return true;
      this.#members.clear();
      for (const member of members.slice(0, MAX_MEMBERS)) {
        if (!left.has(keyOf(member))) this.#members.set(keyOf(member), member);
      }
      for (const [key, member] of entered) this.#members.set(key, member);
      this.#again.reset();
      this.#isListed = true;
      return true;
    } catch (error) {
      if (options.signal?.aborted === true) return true;
      this.#log.warn("office of the group not listed", { office: this.label, error: describeError(error) });
      return false;
    }
  }

  /** Tells the group when an office that was late has answered, and asks one that has failed again. */
  #listAgain(listing: Promise<boolean>): void {
    if (this.#isListingAgain) return;
    this.#isListingAgain = true;
    const { signal } = this.#ending;
    void listing
      .then(async (isListed) => {
        while (!isListed) {
          await delay(this.#again.next(), signal);
          // A lost connection comes back with a list of its own.
          if (this.#office === undefined || !this.isConnected) return;
          isListed = await this.#ask(this.#office, { signal });
        }
        this.#isListingAgain = false;
        this.#listener.onReached();
      })
      .catch(() => undefined)
      .finally(() => this.#isListingAgain = false);
  }
}

function keyOf({ role, name }: Pick<OfficeMember, "role" | "name">): string {
  return JSON.stringify([role, name]);
}

/** A member that was told and not listed: the id of its connection is not known. */
function toSession({ office, role, name }: OfficeMember): SessionInfo {
  return { sid: "", office_id: office, role, name };
}
