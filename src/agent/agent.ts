/** The Agent: what an AI application embeds to use the Computers of an office. */
import { Link, type LinkListener } from "../link/link.ts";
import { type Logger, silentLogger } from "../log.ts";
import type { IncomingEvent } from "../link/connect.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import { badRequest, readRequestId, SmcpError, toErrorAck } from "../protocol/errors.ts";
import { describeError } from "../text.ts";
import { LIST_ROOM_EVENT } from "../protocol/events.ts";
import { nameProblem } from "../protocol/names.ts";
import type { SessionInfo } from "../protocol/office.ts";
import { parseListRoomRet } from "../protocol/answers.ts";
import { parseServerAddress } from "../protocol/server_address.ts";
import { AGENT_GRACE_MS } from "../protocol/timeouts.ts";
import { DEFAULT_BLOB_TIMEOUT_MS, DEFAULT_MAX_BLOB_BYTES } from "./blobs.ts";
import { Listeners, streamEvents, type Unsubscribe } from "./listeners.ts";
import {
  AGENT_NEWS,
  type AgentEvent,
  type AgentEventName,
  type AgentListener,
  type ComputerViewName,
} from "./events.ts";
import { NOTIFICATION_PREFIX, readNotification } from "./notifications.ts";
import { Refresher, UpdateReader } from "./refresh.ts";
import { ComputerRequests } from "./computer_requests.ts";
import { RemoteComputer } from "./remote_computer.ts";
import { type RequestOptions, Requests } from "./requests.ts";

/** Time to reach the Server unless told otherwise. */
const DEFAULT_CONNECT_TIMEOUT_MS = 10_000;

/** Where an Agent connects, and as whom. */
export interface AgentOptions {
  /** The Server, such as `http://127.0.0.1:3000`; a path in it is the beginning of the Socket.IO path. */
  readonly url: string;
  /** The office to join: 1–128 visible characters. */
  readonly office: string;
  /** The Agent's name in the office: 1–128 visible characters. */
  readonly name: string;
  /** Sent as the field `token` of the Socket.IO `auth` object. */
  readonly token?: string | undefined;
  /** Further fields of the `auth` object. */
  readonly auth?: Readonly<Record<string, unknown>> | undefined;
  /** HTTP headers of the connection. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The Socket.IO path below the URL; `/socket.io/` by default. */
  readonly path?: string | undefined;
  /** Says nothing by default. */
  readonly logger?: Logger | undefined;
  /**
   * Join as an observer, without taking the Agent's seat: an observer receives the office's events and may read tools,
   * configuration, Desktop, Finder and resources; other requests are refused with 403. A Server without observers gives it
   * the seat.
   */
  readonly observer?: boolean | undefined;
  /** Milliseconds to reach the Server and to join; 10,000 by default, `Infinity` to try for ever. */
  readonly timeoutMs?: number | undefined;
  /**
   * Milliseconds that a taken seat is tried again after a lost connection, since it may be one's own ghost; 60,000 by
   * default. The first join is refused at once.
   */
  readonly joinPatienceMs?: number | undefined;
  /**
   * Milliseconds that the Agent waits longer than a request's own `timeoutMs`, for the answer that the request took too
   * long; 10,000 by default, 0 to wait no longer than `timeoutMs`.
   */
  readonly graceMs?: number | undefined;
  /** Bytes that may be fetched for the large parts of one answer; 64 MiB by default. */
  readonly maxBlobBytes?: number | undefined;
  /** Milliseconds that this may take; 300,000 by default. */
  readonly blobTimeoutMs?: number | undefined;
  /** Ends the connecting and joining. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * A member of an office that uses its Computers. Comes back by itself after a lost connection: requests made
 * meanwhile wait, requests in flight reject with a `ConnectionClosedError` and are not repeated.
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
  readonly #updates = new UpdateReader();
  readonly #blobBounds: { readonly maxBlobBytes: number; readonly blobTimeoutMs: number };

  private constructor(
    options: AgentOptions,
    parts: { readonly link: Link; readonly listeners: Listeners; readonly ending: AbortController },
  ) {
    const { name, logger = silentLogger, graceMs = AGENT_GRACE_MS } = options;
    this.name = name;
    this.#link = parts.link;
    this.#listeners = parts.listeners;
    this.#ending = parts.ending;
    this.#log = logger;
    const { maxBlobBytes = DEFAULT_MAX_BLOB_BYTES, blobTimeoutMs = DEFAULT_BLOB_TIMEOUT_MS } = options;
    this.#blobBounds = { maxBlobBytes, blobTimeoutMs };
    this.#requests = new Requests(parts.link, { agent: name, graceMs, logger });
    const source = { fetch: this.#fetchView.bind(this), listComputers: this.#listComputers.bind(this) };
    this.#refresher = new Refresher(parts.listeners, source, { logger });
  }

  /**
   * Connects to the Server and joins the office.
   *
   * @throws {TypeError} `office` or `name` is no name, or `url` cannot be used.
   * @throws {ServerUnreachableError} after `timeoutMs`; at once where another attempt is of no use (`isPermanent`).
   * @throws {AuthenticationError | ProtocolVersionError} at once.
   * @throws {RequestTimeoutError} when the join is not answered in what is left of `timeoutMs`.
   * @throws {JoinRefusedError} at once, in the Server's words: the office has an Agent, for instance.
   */
  static async connect(options: AgentOptions): Promise<Agent> {
    const { url, office, name, path, headers, joinPatienceMs, signal } = options;
    const { logger = silentLogger, timeoutMs = DEFAULT_CONNECT_TIMEOUT_MS } = options;
    assertUrl(url);
    assertName("office", office);
    assertName("name", name);
    const listeners = new Listeners(logger);
    const ending = new AbortController();
    const auth = toAuth(options);
    const startMs = performance.now();
    const link = await Link.open({ url, path, headers, auth, logger, joinPatienceMs }, {
      listener: toLinkListener(listeners, { logger, ending, office: () => link.membership?.office_id }),
      timeoutMs,
      signal,
    });
    try {
      const leftMs = Math.max(1, timeoutMs - (performance.now() - startMs));
      await link.join({ role: "agent", name, office_id: office }, { signal, timeoutMs: leftMs });
    } catch (error) {
      await link.close();
      throw error;
    }
    return new Agent(options, { link, listeners, ending });
  }

  /** The office that the Agent is in, or is trying to return to; `undefined` after {@linkcode leave}. */
  get office(): string | undefined {
    return this.#link.membership?.office_id;
  }

  /** Whether requests go out at once; `false` while the Agent is trying to come back. */
  get isConnected(): boolean {
    return this.#link.isConnected;
  }

  /** The Computer of that name, whether it is in the office by now or not. */
  computer(name: string): RemoteComputer {
    const options = { requests: this.#requests, logger: this.#log, ...this.#blobBounds };
    return new RemoteComputer(new ComputerRequests(name, options));
  }

  /** Everybody in the office, this Agent included (`server:list_room`). */
  async listOffice(options: RequestOptions = {}): Promise<SessionInfo[]> {
    const office = this.office;
    if (office === undefined) {
      throw new SmcpError(ErrorCode.NOT_IN_ROOM, `Cannot list the office of "${this.name}": it is in none`);
    }
    const request = { event: LIST_ROOM_EVENT, body: { office_id: office } };
    return (await this.#requests.send(request, { ...options, parse: parseListRoomRet })).sessions;
  }

  /**
   * Sends any other request, of a newer peer for instance, and resolves to its answer as it came (`undefined` when
   * the ack carries nothing). `agent`, `req_id` and, with `timeoutMs`, `timeout` are added to the body.
   *
   * @param body With `computer`, for a `client:*` event.
   */
  request(
    event: string,
    body: Readonly<Record<string, unknown>> = {},
    options: RequestOptions = {},
  ): Promise<unknown> {
    return this.#requests.send({ event, body }, { ...options, parse: (answer) => answer });
  }

  /**
   * Calls `listener` with each event of one name; {@linkcode AgentEvents} lists them. A listener for `toolsRefreshed`,
   * `configRefreshed`, `desktopRefreshed` or `finderRefreshed` makes the Agent fetch that view after each change, and one
   * for `resourcesUpdated` makes it ask what changed.
   *
   * @return A function that ends the subscription; also a `Disposable`.
   */
  on<Name extends AgentEventName>(type: Name, listener: AgentListener<Name>): Unsubscribe {
    return this.#listeners.on(type, listener);
  }

  /**
   * The Agent's events one after the other, from the call on, until the signal is aborted, the loop is left, or the
   * Agent is closed or has failed. A reader that falls 1,000 events behind loses the oldest.
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
      onDrop: ({ type }) => this.#log.warn("event dropped: its reader is too slow", { event: type }),
    });
  }

  /**
   * Joins another office after {@linkcode leave}.
   *
   * @throws {JoinRefusedError} in the Server's words.
   */
  async join(office: string, options: Pick<RequestOptions, "signal"> = {}): Promise<void> {
    assertName("office", office);
    await this.#link.join({ role: "agent", name: this.name, office_id: office }, options);
  }

  /** Leaves the office and stays connected. */
  leave(options: Pick<RequestOptions, "signal"> = {}): Promise<void> {
    return this.#link.leave(options);
  }

  /** Leaves and disconnects for good. Requests in flight reject with a `ConnectionClosedError`. Idempotent. */
  async close(): Promise<void> {
    this.#refresher.stop();
    this.#ending.abort();
    await this.#link.close();
  }

  /** Closes at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #listComputers(): Promise<string[]> {
    const members = await this.listOffice();
    return members.filter(({ role }) => role === "computer").map(({ name }) => name);
  }

  async #fetchView(
    { computer, view }: {
      readonly computer: string;
      readonly view: ComputerViewName;
    },
  ): Promise<AgentEvent | undefined> {
    const remote = this.computer(computer);
    switch (view) {
      case "tools":
        return { type: "toolsRefreshed", computer, tools: await remote.getTools() };
      case "config":
        return { type: "configRefreshed", computer, config: await remote.getConfig() };
      case "desktop":
        return { type: "desktopRefreshed", computer, desktops: await remote.getDesktop() };
      case "finder":
        return { type: "finderRefreshed", computer, ...await remote.getFinder() };
      case "resources":
        return await this.#updates.fetch(remote);
    }
  }
}

function toAuth({ token, auth, observer = false }: AgentOptions): Readonly<Record<string, unknown>> {
  return {
    ...(token === undefined ? {} : { token }),
    ...(observer ? { observer: true } : {}),
    ...auth,
  };
}

/** A caller in JavaScript may leave an option out. */
function assertUrl(url: unknown): void {
  if (typeof url !== "string") throw new TypeError(`Cannot connect to "${url}": url must be a string`);
  parseServerAddress(url);
}

function assertName(field: "office" | "name", value: unknown): void {
  const problem = typeof value === "string" ? nameProblem(value) : "must be a string";
  if (problem !== undefined) throw new TypeError(`Cannot use ${field} "${value}": it ${problem}`);
}

/** Turns what the link tells into the Agent's events. */
function toLinkListener(
  listeners: Listeners,
  context: {
    readonly logger: Logger;
    readonly ending: AbortController;
    readonly office: () => string | undefined;
  },
): LinkListener {
  const { logger, ending, office } = context;
  return {
    onEvent: (incoming) => receive(incoming, { listeners, logger }),
    onLost: (reason) => listeners.tell({ type: "disconnected", reason }),
    onReturned: () => listeners.tell({ type: "reconnected", office: office() }),
    onFailed: (error) => {
      logger.error("connection failed for good", { error: error.message });
      listeners.tell({ type: "failed", error });
      ending.abort();
    },
  };
}

function receive(
  { event, body, reply }: IncomingEvent,
  { listeners, logger }: { readonly listeners: Listeners; readonly logger: Logger },
): void {
  if (!event.startsWith(NOTIFICATION_PREFIX)) {
    logger.warn("unexpected event", { event });
    const refusal = badRequest("event", `Cannot serve "${event}": an Agent serves no requests`);
    reply?.(toErrorAck(refusal, { event, reqId: readRequestId(body) }));
    return;
  }
  try {
    listeners.tell(readNotification(event, body));
  } catch (error) {
    logger.warn("notification dropped", { event, error: describeError(error) });
  }
}
