/** The Agent: what an AI application embeds to use the Computers of an office. */
import type { ServerAccess } from "../link/credentials.ts";
import type { OpenConnection } from "../link/connect.ts";
import { Link } from "../link/link.ts";
import { type Logger, silentLogger } from "../log.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import { SmcpError } from "../protocol/errors.ts";
import { LIST_PRESENCE_EVENT, LIST_ROOM_EVENT } from "../protocol/events.ts";
import { nameProblem } from "../protocol/names.ts";
import type { SessionInfo } from "../protocol/office.ts";
import { parseListPresenceRet, parseListRoomRet } from "../protocol/office_answers.ts";
import type { ComputerPresence } from "../protocol/presence.ts";
import { parseServerAddress } from "../protocol/server_address.ts";
import { AGENT_GRACE_MS } from "../protocol/call.ts";
import { assertProtocol, type ProtocolMinor } from "../protocol/version.ts";
import { DEFAULT_BLOB_TIMEOUT_MS, DEFAULT_MAX_BLOB_BYTES } from "./blobs.ts";
import { type CallParts, ProgressReaders } from "./calls.ts";
import { ComputerFacts, EXTENSION_TIMEOUT_MS } from "./computer_facts.ts";
import { Listeners, streamEvents, type Unsubscribe } from "./listeners.ts";
import { AGENT_NEWS, type AgentEvent, type AgentEventName, type AgentListener } from "./events.ts";
import { toLinkListener } from "./notifications.ts";
import { fetchView, Refresher, UpdateReader } from "./refresh.ts";
import type { OnQuestion } from "./questions.ts";
import { RemoteComputer } from "./remote_computer.ts";
import type { RemoteComputerOptions } from "./remote_options.ts";
import { isNotServed, type PresenceOptions, type RequestOptions, Requests } from "./requests.ts";

const DEFAULT_CONNECT_TIMEOUT_MS = 10_000;

/** Where an Agent connects, and as whom. */
export interface AgentOptions extends ServerAccess {
  /** The office to join: 1–128 visible characters. */
  readonly office: string;
  /** The Agent's name in the office: 1–128 visible characters. */
  readonly name: string;
  /**
   * The `MAJOR.MINOR` of the protocol to speak (`docs/protocol/versions.md`). Without it the Agent begins with `0.2`; when
   * the Server refuses that, or the office speaks another version, it reconnects once with the one that was named.
   */
  readonly protocolVersion?: ProtocolMinor | undefined;
  /** Receives the Agent's log lines; they are dropped by default. */
  readonly logger?: Logger | undefined;
  /**
   * Joins as an observer, without taking the Agent's seat (`docs/protocol/extensions.md#observers`). An observer
   * receives the office's events and may read tools, configuration, Desktop, Finder and resources; other requests are
   * refused with 403. A Server that does not support observers gives it the seat. `false` by default.
   */
  readonly observer?: boolean | undefined;
  /** Milliseconds to reach the Server and to join; 10,000 by default, `Infinity` to retry forever. */
  readonly timeoutMs?: number | undefined;
  /**
   * How long the Server may refuse the Agent after a lost connection, in milliseconds; 60,000 by default: the seat is taken,
   * also by that connection, a limit leaves no place, or what `credentials` gives is not valid any more.
   */
  readonly joinPatienceMs?: number | undefined;
  /**
   * How long the first join is retried while another Agent has the office's one seat or a limit of the Server leaves no
   * place, in milliseconds, besides `timeoutMs`; 0 by default, so that the first join is refused at once.
   */
  readonly seatPatienceMs?: number | undefined;
  /**
   * How much longer than a request's `timeoutMs` the Agent waits, in milliseconds, so that the Computer's own time-out
   * answer can arrive; 10,000 by default. With 0 it waits exactly `timeoutMs`.
   */
  readonly graceMs?: number | undefined;
  /** The most bytes to fetch for the large parts of one answer; 64 MiB by default. */
  readonly maxBlobBytes?: number | undefined;
  /** The time limit for fetching the large parts of one answer, in milliseconds; 300,000 by default. */
  readonly blobTimeoutMs?: number | undefined;
  /**
   * Answers the questions of all tool calls: what MCP servers ask during a call, and calls to confirm
   * (`docs/protocol/questions.md`). Without it, only calls with an `onQuestion` of their own have questions.
   */
  readonly onQuestion?: OnQuestion | undefined;
  /** Stops connecting and joining; `connect()` then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * A member of an office that uses its Computers. After a lost connection it reconnects and rejoins automatically:
 * requests in flight reject with a `ConnectionClosedError` and are not repeated, and new requests wait for the
 * connection.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { Agent } from "@a2c-smcp/sdk/agent";
 * import { SmcpServer } from "@a2c-smcp/sdk/server";
 *
 * await using server = await SmcpServer.listen({ port: 0 });
 * await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
 *
 * using _ = agent.on("desktopRefreshed", ({ computer, desktops }) => console.log(computer, desktops));
 * const members = await agent.listOffice();
 * assertEquals(members.map(({ name, role }) => ({ name, role })), [{ name: "ada", role: "agent" }]);
 * ```
 */
export class Agent implements AsyncDisposable {
  /** The Agent's name in the office. */
  readonly name: string;
  readonly #link: Link;
  readonly #requests: Requests;
  readonly #listeners: Listeners;
  readonly #refresher: Refresher;
  readonly #ending: AbortController;
  readonly #log: Logger;
  readonly #calls: CallParts;

  private constructor(
    options: AgentOptions,
    parts: {
      readonly link: Link;
      readonly listeners: Listeners;
      readonly facts: ComputerFacts;
      readonly followed: ProgressReaders;
      readonly ending: AbortController;
      readonly isShared: boolean;
    },
  ) {
    const { name: agent, logger = silentLogger, graceMs = AGENT_GRACE_MS, onQuestion } = options;
    const { maxBlobBytes = DEFAULT_MAX_BLOB_BYTES, blobTimeoutMs = DEFAULT_BLOB_TIMEOUT_MS } = options;
    const { link, listeners, facts, followed, ending, isShared } = parts;
    this.name = agent;
    this.#link = link;
    this.#listeners = listeners;
    this.#ending = ending;
    this.#calls = { facts, followed, onQuestion, isShared };
    this.#log = logger;
    const machineOf = (computer: string) =>
      facts.machineOf(computer, () => this.#listPresence({ timeoutMs: EXTENSION_TIMEOUT_MS }));
    this.#requests = new Requests({ link, agent, graceMs, maxBlobBytes, blobTimeoutMs, logger, machineOf });
    const updates = new UpdateReader();
    this.#refresher = new Refresher(listeners, {
      fetch: ({ computer, view }) => fetchView(this.computer(computer), { view, updates }),
      listComputers: () => this.#listComputers(),
    }, { logger });
  }

  /**
   * Connects to the Server and joins the office.
   *
   * @throws {TypeError} `office` or `name` is not a valid name, `url` cannot be used, or this package does not speak
   *   `protocolVersion`.
   * @throws {ServerUnreachableError} after `timeoutMs`; at once when a retry cannot succeed (`isPermanent`).
   * @throws {AuthenticationError | ProtocolVersionError} at once: the Server refused the credentials or the version.
   * @throws {RequestTimeoutError} when the Server does not answer the join within the rest of `timeoutMs`.
   * @throws {JoinRefusedError} with the Server's reason, for example that the office already has an Agent; at once, or
   *   after `seatPatienceMs` when another attempt may succeed (`isPassing`).
   */
  static connect(options: AgentOptions): Promise<Agent> {
    return Agent.connectBy(options);
  }

  /**
   * Like {@linkcode connect}, over connections that `open` opens. `isShared`: other programs may use them as this Agent.
   *
   * @internal
   */
  static async connectBy(
    options: AgentOptions,
    { open, isShared = false }: { readonly open?: OpenConnection | undefined; readonly isShared?: boolean } =
      {},
  ): Promise<Agent> {
    const { url, office, name, protocolVersion, logger = silentLogger, signal } = options;
    const { joinPatienceMs: returnPatienceMs, seatPatienceMs: patienceMs = 0 } = options;
    const { timeoutMs = DEFAULT_CONNECT_TIMEOUT_MS } = options;
    assertUrl(url);
    if (protocolVersion !== undefined) assertProtocol(protocolVersion);
    assertName("office", office);
    assertName("name", name);
    const listeners = new Listeners(logger);
    const facts = new ComputerFacts(listeners);
    const followed = new ProgressReaders(listeners, { facts, logger });
    const ending = new AbortController();
    const startMs = performance.now();
    const place = {
      ...options,
      open,
      auth: toAuth(options),
      returnPatienceMs,
      mayChangeProtocol: protocolVersion === undefined,
    };
    const link = await Link.open(place, {
      listener: toLinkListener(listeners, {
        followed,
        logger,
        ending,
        office: () => link.membership?.office_id,
      }),
      timeoutMs,
      signal,
    });
    try {
      const leftMs = Math.max(1, timeoutMs - (performance.now() - startMs));
      const patience = { signal, patienceMs, timeoutMs: leftMs + patienceMs };
      await link.join({ role: "agent", name, office_id: office }, patience);
    } catch (error) {
      await link.close();
      throw error;
    }
    return new Agent(options, { link, listeners, facts, followed, ending, isShared });
  }

  /** The office that the Agent is in or is rejoining; `undefined` after {@linkcode leave}. */
  get office(): string | undefined {
    return this.#link.membership?.office_id;
  }

  /** The `MAJOR.MINOR` of the protocol that the Agent speaks: that of its office. */
  get protocolVersion(): ProtocolMinor {
    return this.#link.protocolVersion;
  }

  /** Whether requests are sent at once; `false` while the Agent reconnects. */
  get isConnected(): boolean {
    return this.#link.isConnected;
  }

  /** Why the connection has not come back at the last attempt; `undefined` while it is there. */
  get problem(): Error | undefined {
    return this.#link.problem;
  }

  /** Aborted when the Agent is closed or has failed. */
  get ended(): AbortSignal {
    return this.#ending.signal;
  }

  /** The Computer of this name. Sends no request; the Computer need not be in the office yet. */
  computer(name: string, options: RemoteComputerOptions = {}): RemoteComputer {
    return new RemoteComputer(this.#requests.to(name, options), this.#calls);
  }

  /**
   * Lists the members of the office, this Agent included (`server:list_room`).
   *
   * @throws {SmcpError} 4103 after {@linkcode leave}.
   */
  async listOffice(options: RequestOptions = {}): Promise<SessionInfo[]> {
    const asked = { ...options, parse: parseListRoomRet };
    return (await this.#requests.ask(LIST_ROOM_EVENT, { office_id: this.#requireOffice() }, asked)).sessions;
  }

  /**
   * Tells of each Computer whether a call would work now (`server:list_presence`,
   * `docs/protocol/extensions.md#presence`): silent ones are sent a ping, for which the Server waits 2.5 seconds. Computers
   * that fell asleep are listed for a day after their connections have ended.
   *
   * @return `undefined` when the Server does not know the request: then nothing is known.
   */
  async listPresence(options: PresenceOptions = {}): Promise<ComputerPresence[] | undefined> {
    try {
      return await this.#listPresence({ probe: true, ...options });
    } catch (error) {
      if (isNotServed(error)) return undefined;
      throw error;
    }
  }

  /** The id of the machine that has this name, as far as it is known without a request. */
  machineOf(computer: string): string | undefined {
    return this.#calls.facts.of(computer).machine?.id;
  }

  /**
   * Sends a request that has no method here, such as one of a newer protocol version, and resolves to its answer
   * unchanged; `undefined` for an empty ack. Adds `agent`, `req_id` and, with `timeoutMs`, `timeout` to the body.
   *
   * @param body A `client:*` event needs the member `computer`.
   */
  request(
    event: string,
    body: Readonly<Record<string, unknown>> = {},
    options: RequestOptions = {},
  ): Promise<unknown> {
    return this.#requests.ask(event, body, { ...options, parse: (answer) => answer });
  }

  /**
   * Calls `listener` with each event of one name; {@linkcode AgentEvents} lists them. While `toolsRefreshed`,
   * `configRefreshed`, `desktopRefreshed` or `finderRefreshed` has a listener, the Agent fetches that view after each
   * change. While `resourcesUpdated` has one, it requests the updates.
   *
   * @return A function that removes the listener; also a `Disposable`.
   */
  on<Name extends AgentEventName>(type: Name, listener: AgentListener<Name>): Unsubscribe {
    return this.#listeners.on(type, listener);
  }

  /**
   * Yields the Agent's events in order, from this call on. Ends when the signal is aborted, the loop is left, or the
   * Agent is closed or has failed. At most 1,000 events wait for a slow reader; the oldest are dropped.
   *
   * @param options `types`: which events; by default all but `…Refreshed`, `resourcesUpdated` and `refreshFailed`.
   */
  events(
    options: { readonly types?: readonly AgentEventName[]; readonly signal?: AbortSignal } = {},
  ): AsyncIterableIterator<AgentEvent> {
    const { types = AGENT_NEWS, signal } = options;
    const ending = this.#ending.signal;
    return streamEvents(this.#listeners, {
      types,
      signal: signal === undefined ? ending : AbortSignal.any([ending, signal]),
      onDrop: ({ type }) => this.#log.warn("event dropped: the reader is too slow", { event: type }),
    });
  }

  /**
   * Joins another office after {@linkcode leave}.
   *
   * @throws {JoinRefusedError} with the Server's reason.
   * @throws {TypeError} `office` is not a valid name.
   */
  async join(office: string, options: Pick<RequestOptions, "signal"> = {}): Promise<void> {
    assertName("office", office);
    await this.#link.join({ role: "agent", name: this.name, office_id: office }, options);
  }

  /**
   * Leaves the office; the connection stays open, and subscriptions to resources end.
   *
   * @throws {LeaveRefusedError} with the Server's reason.
   */
  leave(options: Pick<RequestOptions, "signal"> = {}): Promise<void> {
    this.#calls.facts.clear();
    return this.#link.leave(options);
  }

  /**
   * Leaves the office and disconnects. Requests in flight reject with a `ConnectionClosedError`, and later ones with one
   * whose `isPermanent` is true. Idempotent.
   */
  async close(): Promise<void> {
    this.#refresher.stop();
    this.#ending.abort();
    await this.#link.close("Agent");
  }

  /** Calls {@linkcode Agent.close} at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #listPresence({ probe, ...options }: PresenceOptions) {
    const asked = { ...options, parse: parseListPresenceRet, isFailureLogged: true };
    const body = { office_id: this.#requireOffice(), probe };
    return (await this.#requests.ask(LIST_PRESENCE_EVENT, body, asked)).computers;
  }

  #requireOffice(): string {
    if (this.office !== undefined) return this.office;
    throw new SmcpError(
      ErrorCode.NOT_IN_ROOM,
      `Cannot list the office of Agent "${this.name}": it is not in an office`,
    );
  }

  async #listComputers(): Promise<string[]> {
    const members = await this.listOffice();
    return members.filter(({ role }) => role === "computer").map(({ name }) => name);
  }
}

function toAuth({ token, auth, observer = false }: AgentOptions): Readonly<Record<string, unknown>> {
  return {
    ...(token === undefined ? {} : { token }),
    ...(observer ? { observer: true } : {}),
    ...auth,
  };
}

/** JavaScript callers can omit a required option. */
function assertUrl(url: unknown): void {
  if (typeof url !== "string") throw new TypeError(`Cannot connect to "${url}": url must be a string`);
  parseServerAddress(url);
}

function assertName(field: "office" | "name", value: unknown): void {
  const problem = typeof value === "string" ? nameProblem(value) : "must be a string";
  if (problem !== undefined) throw new TypeError(`Cannot use ${field} "${value}": it ${problem}`);
}
