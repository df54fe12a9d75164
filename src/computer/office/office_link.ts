/** The connection of a Computer to a Server, its membership in an office, and what it announces there. */
import { settledWithin } from "../../async/abortable.ts";
import { Throttle } from "../../async/throttle.ts";
import type { IncomingEvent } from "../../link/connect.ts";
import type { ServerAccess } from "../../link/credentials.ts";
import type { Link, LinkListener } from "../../link/link.ts";
import type { Logger } from "../../log.ts";
import { describeError } from "../../text/text.ts";
import { parseListRoomRet } from "../../protocol/office_answers.ts";
import {
  LIST_ROOM_EVENT,
  UPDATE_CONFIG_EVENT,
  UPDATE_DESKTOP_EVENT,
  UPDATE_FINDER_EVENT,
  UPDATE_PROMPTS_EVENT,
  UPDATE_RESOURCES_EVENT,
  UPDATE_SKILLS_EVENT,
  UPDATE_TOOL_LIST_EVENT,
} from "../../protocol/events.ts";
import { ConnectionClosedError } from "../../link/errors.ts";
import type { SessionInfo } from "../../protocol/office.ts";
import type { ProtocolMinor } from "../../protocol/version.ts";

const LIST_TIMEOUT_MS = 15_000;

/** How long the answer to a leave is waited for before the connection is closed, in milliseconds. */
const FAREWELL_MS = 2_000;

/** How to connect to a Server. */
export interface ConnectOptions extends ServerAccess {
  /** How long to retry an unreachable Server, in milliseconds; forever by default. */
  readonly timeoutMs?: number | undefined;
  /** Aborts the attempt. */
  readonly signal?: AbortSignal | undefined;
  /** Called when the connection has failed permanently. */
  readonly onFailed?: ((error: Error) => void) | undefined;
}

/** How to join an office. */
export interface JoinOptions extends ConnectOptions {
  /** The office to join. */
  readonly office: string;
  /** How long to retry while the name is taken or a limit of the Server leaves no place, in milliseconds; no retry by default. */
  readonly joinPatienceMs?: number | undefined;
}

/** The connection and office of a Computer. */
export interface ConnectionState {
  /** The URL of the Server, as it was given. */
  readonly url: string;
  /** Whether the connection is open now. A lost connection is restored automatically. */
  readonly isConnected: boolean;
  /** The office that was joined, or that is being rejoined. */
  readonly office: string | undefined;
  /** The Agent of the office, as the Server states it; `undefined` without one, or before the Server has said so. */
  readonly agent: string | undefined;
  /** Since when the connection is open or lost, and the office is joined. */
  readonly since: Date;
}

export interface OfficeLinkContext {
  readonly name: string;
  readonly protocolVersion: ProtocolMinor;
  /** Called when the {@linkcode OfficeLink.state} is another one; ignored by default. */
  readonly onChange?: (() => void) | undefined;
  /** Opens who hears of the office; called once, before the first connection. */
  readonly listen: () => Promise<OfficeListener>;
  readonly log: Logger;
}

/** Who hears of what happens in the office. */
export interface OfficeListener {
  readonly onEvent: (incoming: IncomingEvent) => void;
  readonly onJoined: () => void;
  /** The office was left, or the Server has refused to let this Computer rejoin. */
  readonly onLeft: () => void;
  /** The connection was lost; the office is rejoined when it is restored. */
  readonly onLost: () => void;
  readonly onReturned: () => void;
}

const NOBODY: OfficeListener = { onEvent() {}, onJoined() {}, onLeft() {}, onLost() {}, onReturned() {} };

/** Holds at most one connection and one office. */
export class OfficeLink {
  readonly #context: OfficeLinkContext;
  /** Lets a Server recognize this Computer on another connection. */
  readonly #session = crypto.randomUUID();
  readonly #announcer: Announcer;
  #listener: OfficeListener = NOBODY;
  #link: Link | undefined;
  #url = "";
  #since = new Date();
  #isBusy = false;
  #isPresent = false;
  readonly #closing = new AbortController();

  constructor(context: OfficeLinkContext) {
    this.#context = context;
    this.#announcer = new Announcer((event) => this.emit(event, { computer: context.name }));
  }

  /** Tells the office that a view of this Computer has changed. */
  announce(kind: UpdateKind): void {
    this.#announcer.announce(kind);
  }

  /** The connection and office; `undefined` without a connection. */
  get state(): Omit<ConnectionState, "agent"> | undefined {
    const link = this.#link;
    if (link === undefined) return undefined;
    const { isConnected, membership } = link;
    return { url: this.#url, isConnected, office: membership?.office_id, since: this.#since };
  }

  /** See `Link.isAwake`. */
  get isAwake(): Promise<boolean> | undefined {
    return this.#link?.isAwake;
  }

  async connect(options: ConnectOptions): Promise<void> {
    await this.#alone(`Cannot connect to "${options.url}"`, () => this.#connect(options));
  }

  /** Joins an office; connects first if there is no connection to that Server. */
  async join(options: JoinOptions): Promise<void> {
    const { office, signal, url, joinPatienceMs: patienceMs } = options;
    await this.#alone(`Cannot join office "${office}"`, async () => {
      const open = this.#url === url ? this.#link : undefined;
      const link = open ?? await this.#connect(options);
      try {
        const membership = { role: "computer", name: this.#context.name, office_id: office } as const;
        await link.join(membership, { signal, patienceMs });
        this.#isPresent = true;
        this.#changed();
        this.#listener.onJoined();
      } catch (error) {
        if (open === undefined) await this.leave();
        throw error;
      }
    });
  }

  /** Sends an event to the office; dropped while this Computer is not a member. */
  emit(event: string, body: unknown): void {
    if (this.#isPresent) this.#link?.emit(event, body);
  }

  async members(): Promise<readonly SessionInfo[]> {
    const office_id = this.#link?.membership?.office_id;
    if (this.#link === undefined || office_id === undefined) return [];
    const request = { agent: this.#context.name, req_id: crypto.randomUUID(), office_id };
    const [answer] = await this.#link.request(LIST_ROOM_EVENT, request, { timeoutMs: LIST_TIMEOUT_MS });
    return parseListRoomRet(answer).sessions;
  }

  /** Leaves the office and, by default, disconnects. Idempotent. */
  async leave({ stayConnected = false }: { readonly stayConnected?: boolean } = {}): Promise<void> {
    const link = this.#link;
    this.#isPresent = false;
    this.#listener.onLeft();
    if (!stayConnected) this.#link = undefined;
    const leaving = link?.leave().catch((error) =>
      this.#context.log.debug("cannot leave the office", {
        error: describeError(error),
      })
    );
    // Closing the connection also leaves the office, so a missing answer does no harm.
    await (stayConnected || leaving === undefined ? leaving : settledWithin(leaving, FAREWELL_MS));
    // Requests that arrived before the Server processed the leave are ended here.
    this.#listener.onLeft();
    if (link !== undefined) this.#changed();
    if (!stayConnected) await link?.close();
  }

  /** Leaves and refuses further connections. Idempotent. */
  async close(): Promise<void> {
    this.#announcer.close();
    this.#closing.abort(new ConnectionClosedError("Cannot connect: the Computer was closed"));
    await this.leave();
  }

  async #connect(options: ConnectOptions): Promise<Link> {
    await this.leave();
    const { token, auth, timeoutMs, signal, onFailed, ...access } = options;
    if (this.#listener === NOBODY) this.#listener = await this.#context.listen();
    const closing = this.#closing.signal;
    const listener = this.#linkListener((error) => {
      if (this.#link === link) this.#link = undefined;
      this.#isPresent = false;
      this.#listener.onLeft();
      this.#changed();
      if (onFailed !== undefined) return onFailed(error);
      this.#context.log.error("connection failed permanently", { error: error.message });
    });
    const { Link } = await import("../../link/link.ts");
    const link: Link = await Link.open(
      {
        ...access,
        protocolVersion: this.#context.protocolVersion,
        auth: { session: this.#session, ...(token === undefined ? auth : { token, ...auth }) },
        logger: this.#context.log,
      },
      {
        listener,
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
        signal: signal === undefined ? closing : AbortSignal.any([signal, closing]),
      },
    );
    this.#url = access.url;
    this.#link = link;
    this.#changed();
    if (!closing.aborted) return link;
    await this.leave();
    throw closing.reason;
  }

  #changed(): void {
    this.#since = new Date();
    this.#context.onChange?.();
  }

  /** Runs one connect or join at a time, and only while no office is joined. */
  async #alone(what: string, change: () => Promise<unknown>): Promise<void> {
    const office = this.#link?.membership?.office_id;
    if (this.#closing.signal.aborted) throw new TypeError(`${what}: closed`);
    if (this.#isBusy) throw new TypeError(`${what}: another connect or join is running`);
    if (office !== undefined) throw new TypeError(`${what}: leave office "${office}" first`);
    this.#isBusy = true;
    try {
      await change();
    } finally {
      this.#isBusy = false;
    }
  }

  #linkListener(onFailed: (error: Error) => void): LinkListener {
    const { onEvent, onLost, onReturned } = this.#listener;
    return {
      onEvent,
      onLost: () => {
        this.#isPresent = false;
        this.#changed();
        onLost();
      },
      onReturned: () => {
        this.#isPresent = this.#link?.membership !== undefined;
        this.#announcer.announceAll();
        this.#changed();
        onReturned();
      },
      onFailed,
    };
  }
}

const UPDATE_INTERVAL_MS = 50;

/** A view of a Computer that an Agent has. */
export type UpdateKind = "config" | "tools" | "desktop" | "finder" | "resources" | "prompts" | "skills";

/** The views that no Agent is given while the Computer is paused. */
export const GIVEN_VIEWS: ReadonlySet<UpdateKind> = new Set(
  ["desktop", "finder", "resources", "prompts", "skills"],
);

const UPDATE_EVENTS: Readonly<Record<UpdateKind, string>> = {
  config: UPDATE_CONFIG_EVENT,
  tools: UPDATE_TOOL_LIST_EVENT,
  desktop: UPDATE_DESKTOP_EVENT,
  finder: UPDATE_FINDER_EVENT,
  resources: UPDATE_RESOURCES_EVENT,
  prompts: UPDATE_PROMPTS_EVENT,
  skills: UPDATE_SKILLS_EVENT,
};

/** Sends `server:update_*` events. Changes of one kind in quick succession become one event; the last is never lost. */
export class Announcer {
  readonly #throttles = new Map<string, Throttle>();

  constructor(emit: (event: string) => void) {
    for (const [kind, event] of Object.entries(UPDATE_EVENTS)) {
      this.#throttles.set(kind, new Throttle(() => emit(event), UPDATE_INTERVAL_MS));
    }
  }

  announce(kind: UpdateKind): void {
    this.#throttles.get(kind)?.request();
  }

  /** All but skills, which not every Computer has. */
  announceAll(): void {
    for (const [kind, throttle] of this.#throttles) if (kind !== "skills") throttle.request();
  }

  close(): void {
    for (const throttle of this.#throttles.values()) throttle.close();
  }
}
