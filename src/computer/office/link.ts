/** A Computer's place: the connection to a Server, and the office that is joined over it. */
import { settledWithin } from "../../async/abortable.ts";
import type { IncomingEvent } from "../../link/connect.ts";
import { Link, type LinkListener } from "../../link/link.ts";
import type { Logger } from "../../log.ts";
import { describeError } from "../../text.ts";
import { parseListRoomRet } from "../../protocol/answers.ts";
import { LIST_ROOM_EVENT } from "../../protocol/events.ts";
import { ConnectionClosedError } from "../../protocol/local_errors.ts";
import type { SessionInfo } from "../../protocol/office.ts";

/** How long the list of the office's members may take, in milliseconds. */
const LIST_TIMEOUT_MS = 15_000;

/** How long the answer to a leave is waited for before the connection is closed, in milliseconds. */
const FAREWELL_MS = 2_000;

/** Where and as whom a Computer connects. */
export interface ConnectOptions {
  /** The Server, `http://host:port`; a path in it is the beginning of the Socket.IO path. */
  readonly url: string;
  /** Sent as the auth field `token`. */
  readonly token?: string | undefined;
  /** The Socket.IO `auth` object. */
  readonly auth?: Readonly<Record<string, unknown>> | undefined;
  /** HTTP headers of the handshake. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The Socket.IO path below the URL; `/socket.io/` by default. */
  readonly path?: string | undefined;
  /** When to give up on a Server that is out of reach, in milliseconds; never by default. */
  readonly timeoutMs?: number | undefined;
  /** Gives up when aborted. */
  readonly signal?: AbortSignal | undefined;
  /** Called when the connection is gone for good, with the reason. */
  readonly onFailed?: ((error: Error) => void) | undefined;
}

/** What a Computer joins, and where. */
export interface JoinOptions extends ConnectOptions {
  /** The office to join. */
  readonly office: string;
  /** How long a name that is taken is tried again, in milliseconds; not at all by default. */
  readonly joinPatienceMs?: number | undefined;
}

/** Where a Computer is. */
export interface OfficeState {
  /** The Server, as it was given. */
  readonly url: string;
  /** Whether the connection is there at this moment; one that was lost comes back by itself. */
  readonly isConnected: boolean;
  /** The office that was joined, or is being returned to. */
  readonly office: string | undefined;
}

/** What a link needs of its Computer. */
export interface OfficeLinkContext {
  /** The Computer's name in the office. */
  readonly name: string;
  readonly log: Logger;
  readonly onEvent: (incoming: IncomingEvent) => void;
  /** The office was joined. */
  readonly onJoined: () => void;
  /** The office is left for good: by choice, or because the Server does not take this Computer back. */
  readonly onLeft: () => void;
  /** The connection is lost, and the office with it until that comes back. */
  readonly onLost: () => void;
  readonly onReturned: () => void;
}

/** At most one connection and one office at a time. */
export class OfficeLink {
  readonly #context: OfficeLinkContext;
  /** By it a Server knows this Computer again, whichever connection it comes over. */
  readonly #session = crypto.randomUUID();
  #link: Link | undefined;
  #url = "";
  #isBusy = false;
  /** Whether the Server has this Computer in its office at this moment. */
  #isPresent = false;
  readonly #closing = new AbortController();

  constructor(context: OfficeLinkContext) {
    this.#context = context;
  }

  /** Where the Computer is; `undefined` without a connection. */
  get state(): OfficeState | undefined {
    const link = this.#link;
    if (link === undefined) return undefined;
    return { url: this.#url, isConnected: link.isConnected, office: link.membership?.office_id };
  }

  /** Connects, leaving whatever Server there was before. */
  async connect(options: ConnectOptions): Promise<void> {
    await this.#alone(`Cannot connect to "${options.url}"`, () => this.#connect(options));
  }

  /** Joins an office, connecting first where there is no connection to that Server. */
  async join(options: JoinOptions): Promise<void> {
    const { office, signal, url, joinPatienceMs: patienceMs } = options;
    await this.#alone(`Cannot join office "${office}"`, async () => {
      const open = this.#url === url ? this.#link : undefined;
      const link = open ?? await this.#connect(options);
      try {
        const membership = { role: "computer", name: this.#context.name, office_id: office } as const;
        await link.join(membership, { signal, patienceMs });
        this.#isPresent = true;
        this.#context.onJoined();
      } catch (error) {
        if (open === undefined) await this.leave();
        throw error;
      }
    });
  }

  /** Tells the office something; dropped while the Server has this Computer in no office. */
  emit(event: string, body: unknown): void {
    if (this.#isPresent) this.#link?.emit(event, body);
  }

  /** Everybody in the office (`server:list_room`). */
  async members(): Promise<readonly SessionInfo[]> {
    const office_id = this.#link?.membership?.office_id;
    if (this.#link === undefined || office_id === undefined) return [];
    const request = { agent: this.#context.name, req_id: crypto.randomUUID(), office_id };
    const [answer] = await this.#link.request(LIST_ROOM_EVENT, request, { timeoutMs: LIST_TIMEOUT_MS });
    return parseListRoomRet(answer).sessions;
  }

  /** Leaves the office and, unless told otherwise, disconnects. Idempotent. */
  async leave({ stayConnected = false }: { readonly stayConnected?: boolean } = {}): Promise<void> {
    const link = this.#link;
    this.#isPresent = false;
    this.#context.onLeft();
    if (!stayConnected) this.#link = undefined;
    const leaving = link?.leave().catch((error) =>
      this.#context.log.debug("cannot tell the Server that this Computer leaves", {
        error: describeError(error),
      })
    );
    // The end of the connection is a leave, too, whether the Server has answered or not.
    await (stayConnected || leaving === undefined ? leaving : settledWithin(leaving, FAREWELL_MS));
    // What the Agent asked before the Server had heard of it
    this.#context.onLeft();
    if (!stayConnected) await link?.close();
  }

  /** Leaves for good. Idempotent. */
  async close(): Promise<void> {
    this.#closing.abort(new ConnectionClosedError("Cannot connect: the Computer was closed"));
    await this.leave();
  }

  async #connect(options: ConnectOptions): Promise<Link> {
    await this.leave();
    const { url, token, auth, headers, path, timeoutMs, signal } = options;
    const closing = this.#closing.signal;
    const listener = this.#listener((error) => {
      if (this.#link === link) this.#link = undefined;
      this.#isPresent = false;
      this.#context.onLeft();
      if (options.onFailed === undefined) {
        this.#context.log.error("connection failed for good", { error: error.message });
      } else options.onFailed(error);
    });
    const link: Link = await Link.open(
      {
        url,
        path,
        headers,
        auth: { session: this.#session, ...(token === undefined ? auth : { token, ...auth }) },
        logger: this.#context.log,
      },
      {
        listener,
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
        signal: signal === undefined ? closing : AbortSignal.any([signal, closing]),
      },
    );
    this.#url = url;
    this.#link = link;
    if (!closing.aborted) return link;
    await this.leave();
    throw closing.reason;
  }

  /** One change at a time, and none away from an office that was not left. */
  async #alone(what: string, change: () => Promise<unknown>): Promise<void> {
    const office = this.#link?.membership?.office_id;
    if (this.#closing.signal.aborted) throw new TypeError(`${what}: closed`);
    if (this.#isBusy) throw new TypeError(`${what}: another connect or join goes on`);
    if (office !== undefined) throw new TypeError(`${what}: leave office "${office}" first`);
    this.#isBusy = true;
    try {
      await change();
    } finally {
      this.#isBusy = false;
    }
  }

  #listener(onFailed: (error: Error) => void): LinkListener {
    const { onEvent, onLost, onReturned } = this.#context;
    return {
      onEvent,
      onLost: () => {
        this.#isPresent = false;
        onLost();
      },
      onReturned: () => {
        this.#isPresent = this.#link?.membership !== undefined;
        onReturned();
      },
      onFailed,
    };
  }
}
