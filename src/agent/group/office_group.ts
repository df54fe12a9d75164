/** Several offices, of one or more Servers, used as one. */
import { settledWithin } from "../../async/abortable.ts";
import { isRecord } from "../../json/json.ts";
import { type Logger, silentLogger } from "../../log.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { SmcpError } from "../../protocol/errors.ts";
import type { SessionInfo } from "../../protocol/office.ts";
import type { ComputerPresence } from "../../protocol/presence.ts";
import { toSeenName } from "../../text/safe_text.ts";
import { Agent, type AgentOptions } from "../agent.ts";
import type { AgentEvent, AgentEventName, AgentEventOf, AgentListener, OfficeMember } from "../events.ts";
import { Listeners, type Unsubscribe } from "../listeners.ts";
import type { RemoteComputer } from "../remote_computer.ts";
import type { RemoteComputerOptions } from "../remote_options.ts";
import type { PresenceOptions, RequestOptions } from "../requests.ts";
import type { KnownOffice, Office } from "../toolkit/office.ts";
import { ComputerNames, type GivenComputerName } from "./computer_names.ts";
import { type GroupedOffice, GroupMember } from "./group_member.ts";
import { type JoinedOffice, type OfficeJoin, startJoin } from "./office_join.ts";

/** How long {@linkcode OfficeGroup.connect} waits for offices that are late, in milliseconds. */
const DEFAULT_PATIENCE_MS = 3_000;

/** An office to connect to, with what is its own. */
export interface OfficePlace extends Partial<Omit<AgentOptions, "office" | "signal">> {
  /** The office to join. */
  readonly office: string;
  /** The office in names such as `laptop@shop`; needed where two Servers have an office of the same name. */
  readonly label?: string | undefined;
}

/** What a group keeps of its Computers' names. */
export interface GroupOptions {
  /** Names that Computers had before, such as {@linkcode OfficeGroup.names} of an earlier run. */
  readonly names?: Iterable<GivenComputerName> | undefined;
  /** The Agent's name, as the group tells it; that of the first office by default. */
  readonly name?: string | undefined;
  /** How long the first list waits for offices that are late, in milliseconds; 2,000 by default. */
  readonly patienceMs?: number | undefined;
  /** Receives log lines; they are dropped by default. */
  readonly logger?: Logger | undefined;
}

/** Where a group connects: the options of each of its Agents, and the offices. */
export interface OfficeGroupOptions
  extends Omit<AgentOptions, "office" | "timeoutMs" | "seatPatienceMs">, Pick<GroupOptions, "names"> {
  /** The offices to join: names, or places that have a Server, a token or another option of their own. */
  readonly offices: readonly (string | OfficePlace)[];
  /** How long to wait for offices that are late, in milliseconds; 3,000 by default. They are joined later. */
  readonly patienceMs?: number | undefined;
}

/**
 * Makes a group of offices that are being joined, once each has been joined, or cannot be now or is late.
 *
 * @throws why the first of them cannot be joined, when none can, or with a {@linkcode TypeError}.
 */
export async function joinGroup<Member extends JoinedOffice>(
  joins: readonly OfficeJoin<Member>[],
  { patienceMs = DEFAULT_PATIENCE_MS, signal, ...options }: GroupOptions & {
    readonly signal?: AbortSignal | undefined;
  },
): Promise<OfficeGroup> {
  try {
    const group = new OfficeGroup(joins, { ...options, patienceMs });
    await settledWithin(Promise.all(joins.map(({ tried }) => tried)), patienceMs);
    signal?.throwIfAborted();
    const failures = joins.map(({ failure }) => failure()).filter((error) => error !== undefined);
    const wrong = failures.find((error) => error instanceof TypeError);
    if (wrong !== undefined || failures.length === joins.length) throw wrong ?? failures[0];
    return group;
  } catch (error) {
    await Promise.all(joins.map(({ close }) => close()));
    throw error;
  }
}

/** The events that the group tells itself, since they are about its offices. */
const OWN_EVENTS = ["enterOffice", "leaveOffice", "disconnected", "reconnected", "failed"] as const;

/**
 * Several offices as one `Office`, for toolkits and the gateway. Computers keep their names while they are unique among
 * the offices; where two offices have a Computer `laptop`, it is called `laptop@lab` or `laptop@shop`, and a name that a
 * Computer has once does not go to another one. An office that is lost, refuses the Agent or is full delays no other
 * one: `offices` says what it lacks, and it is tried again.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { OfficeGroup } from "@a2c-smcp/sdk/group";
 * import { SmcpServer } from "@a2c-smcp/sdk/server";
 *
 * await using server = await SmcpServer.listen({ port: 0 });
 * await using group = await OfficeGroup.connect({ url: server.url, name: "ada", offices: ["lab", "shop"] });
 *
 * assertEquals(group.offices, [{ office: "lab", problem: undefined }, { office: "shop", problem: undefined }]);
 * const members = await group.listOffice();
 * assertEquals(members.map(({ office_id }) => office_id), ["lab", "shop"]); // this Agent, in each of them
 * ```
 */
export class OfficeGroup implements Office, AsyncDisposable {
  /** The Agent's name. */
  readonly name: string;
  readonly #members: readonly GroupMember[];
  readonly #names: ComputerNames;
  readonly #listeners: Listeners;
  readonly #ending = new AbortController();

  /**
   * Makes a group of Agents, which stay the caller's. {@linkcode OfficeGroup.connect} connects them, too.
   *
   * @throws {TypeError} there is no office, or two have the same label.
   */
  constructor(offices: readonly GroupedOffice[], options: GroupOptions = {}) {
    const { names, logger = silentLogger, patienceMs } = options;
    const labels = offices.map(({ label }) => label);
    const twice = labels.find((label, index) => labels.indexOf(label) < index);
    if (labels.length === 0) throw new TypeError("Cannot make a group of offices: there is none");
    if (twice !== undefined) {
      throw new TypeError(`Cannot use office "${twice}" twice: give one of them another "label"`);
    }
    this.#names = new ComputerNames(labels, names);
    this.#listeners = new Listeners(logger);
    this.#members = offices.map((office) =>
      new GroupMember(office, { ...this.#partsFor(office.label, logger), patienceMs })
    );
    this.name = options.name ?? this.#members.find(({ office }) => office !== undefined)?.office?.name ?? "";
  }

  /**
   * Joins the offices. Resolves when each has been joined, or has refused the Agent or is late: those are tried again in
   * the background, however long it takes.
   *
   * @throws {TypeError} an office, a name or a URL cannot be used.
   * @throws what `Agent.connect()` throws, when no office can be joined, also not later.
   */
  static async connect(options: OfficeGroupOptions): Promise<OfficeGroup> {
    const { offices, patienceMs = DEFAULT_PATIENCE_MS, logger = silentLogger, signal } = options;
    const joins = offices.map((place) => {
      const own = typeof place === "string" ? { office: place } : place;
      const all = { timeoutMs: Infinity, joinPatienceMs: Infinity, ...options, ...own };
      const connect = (ending: AbortSignal) => Agent.connect({ ...all, signal: ending });
      return startJoin(connect, { label: own.label ?? own.office, signal, logger });
    });
    return await joinGroup(joins, { ...options, patienceMs });
  }

  /** The labels of all offices, with a comma between them. */
  get office(): string {
    return this.#members.map(({ label }) => label).join(", ");
  }

  /** The offices, each with what it lacks. */
  get offices(): KnownOffice[] {
    return this.#members.map(({ label, problem }) => ({ office: label, problem }));
  }

  /** The names that Computers have been given, to be passed as `names` to the next group. */
  get names(): GivenComputerName[] {
    return this.#names.given;
  }

  /** Whether any of the offices can be reached. */
  get isConnected(): boolean {
    return this.#members.some(({ isConnected }) => isConnected);
  }

  /** Aborted when the group is closed, or none of its offices comes back. */
  get ended(): AbortSignal {
    return this.#ending.signal;
  }

  /**
   * The Computer of this name: `laptop`, or `laptop@shop`. Sends no request.
   *
   * @throws {SmcpError} 404 when no office has had a Computer of this name.
   */
  computer(name: string, options: RemoteComputerOptions = {}): RemoteComputer {
    const place = this.#names.placeOf(name);
    const office = place && this.#memberOf(place.office)?.office;
    if (place !== undefined && office !== undefined) {
      return office.computer(place.computer, { as: name, ...options });
    }
    const why = this.problemOf(name) ?? "no office of the group has it";
    throw new SmcpError(ErrorCode.NOT_FOUND, `Cannot find Computer ${toSeenName(name)}: ${why}`);
  }

  /** Why the office of this Computer cannot be reached now; `undefined` while it can. */
  problemOf(computer: string): string | undefined {
    const member = this.#memberOf(this.officeOf(computer));
    return member?.problem === undefined
      ? undefined
      : `office ${toSeenName(member.label)} cannot be reached: ${member.problem}`;
  }

  /** The office of this Computer; `undefined` for a name that no Computer has. */
  officeOf(computer: string): string | undefined {
    return this.#names.placeOf(computer)?.office;
  }

  /** The id of the machine of this Computer, as far as it is known. */
  machineOf(computer: string): string | undefined {
    const place = this.#names.placeOf(computer);
    return place && this.#memberOf(place.office)?.office?.machineOf?.(place.computer);
  }

  /** Tells of the Computers of all offices whose Servers tell it, as `Agent.listPresence()` does. */
  async listPresence(options: PresenceOptions = {}): Promise<ComputerPresence[]> {
    // Computers that are there from the start are named together.
    await this.listOffice(options);
    const lists = await Promise.all(this.#members.map(async ({ label, office }) => {
      const computers = await office?.listPresence?.(options).catch(() => undefined) ?? [];
      return computers.map((each) => ({ ...each, computer: this.#nameOf(label, each.computer) }));
    }));
    return lists.flat();
  }

  /**
   * Lists the members of all offices, Computers by their names in the group. One that does not answer in two seconds, or
   * cannot be reached, has those that it had before. Rejects only with the reason of `options.signal`.
   */
  async listOffice(options: RequestOptions = {}): Promise<SessionInfo[]> {
    const lists = await Promise.all(this.#members.map(async (member) => {
      return { office: member.label, sessions: await member.list(options) };
    }));
    const computers = lists.flatMap(({ office, sessions }) =>
      sessions.filter(({ role }) => role === "computer").map(({ name }) => ({ office, computer: name }))
    );
    this.#assign(computers);
    return lists.flatMap(({ office, sessions }) =>
      sessions.map((session) =>
        session.role === "computer" ? { ...session, name: this.#nameOf(office, session.name) } : session
      )
    );
  }

  /** Calls `listener` with each event of one name, of every office; Computers have their names in the group. */
  on<Name extends AgentEventName>(type: Name, listener: AgentListener<Name>): Unsubscribe {
    if (OWN_EVENTS.some((own) => own === type)) return this.#listeners.on(type, listener);
    const subscriptions = this.#members.map((member) =>
      member.on(type, (event) => listener(this.#renamed(member.label, event)))
    );
    const unsubscribe = () => subscriptions.forEach((each) => each());
    return Object.assign(unsubscribe, { [Symbol.dispose]: unsubscribe });
  }

  /** Closes the Agents that the group has connected, and leaves others alone. Idempotent. */
  async close(): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#members.map((member) => member.close()));
  }

  /** Calls {@linkcode OfficeGroup.close} at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #partsFor(office: string, logger: Logger): ConstructorParameters<typeof GroupMember>[1] {
    const tell = (event: AgentEvent) => this.#listeners.tell(event);
    const known = ({ role, name }: OfficeMember) => {
      return { office, role, name: role === "computer" ? this.#nameOf(office, name) : name };
    };
    const listener = {
      onEntered: (member: OfficeMember) => tell({ type: "enterOffice", ...known(member) }),
      onLeft: (member: OfficeMember) => tell({ type: "leaveOffice", ...known(member) }),
      onLost: (event: AgentEventOf<"disconnected">) => tell(event),
      onReached: () => tell({ type: "reconnected", office }),
      onFailed: (error: Error) => this.#onFailed(error),
    };
    return { listener, logger };
  }

  #onFailed(error: Error): void {
    const isAny = this.#members.some(({ state }) => state !== "failed");
    if (isAny) return this.#listeners.tell({ type: "disconnected", reason: error.message });
    this.#listeners.tell({ type: "failed", error });
    this.#ending.abort(error);
  }

  #memberOf(office: string | undefined): GroupMember | undefined {
    return this.#members.find(({ label }) => label === office);
  }

  #nameOf(office: string, computer: string): string {
    const place = { office, computer };
    this.#assign([place]);
    return this.#names.nameOf(place) ?? this.#names.longNameOf(place);
  }

  #assign(places: readonly { readonly office: string; readonly computer: string }[]): void {
    this.#names.assign(places, ({ office, computer }) => this.#memberOf(office)?.has(computer) ?? false);
  }

  #renamed<Name extends AgentEventName>(office: string, event: AgentEventOf<Name>): AgentEventOf<Name> {
    const computer: unknown = "computer" in event ? event.computer : undefined;
    if (typeof computer === "string") return { ...event, computer: this.#nameOf(office, computer) };
    // A notification that the Agent does not know, such as that of changed skills, names its Computer in its body.
    const body: unknown = "body" in event ? event.body : undefined;
    if (!isRecord(body) || typeof body["computer"] !== "string") return event;
    return { ...event, body: { ...body, computer: this.#nameOf(office, body["computer"]) } };
  }
}
