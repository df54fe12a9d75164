/** One connection to a Server that several programs use as one Agent. */
import { isRecord } from "../../../json/json.ts";
import type { Connection, IncomingEvent } from "../../../link/connect.ts";
import { readJoinAck } from "../../../link/join.ts";
import { TOOL_CALL_EVENTS } from "../../../protocol/call.ts";
import {
  CANCEL_TOOL_CALL_EVENT,
  JOIN_OFFICE_EVENT,
  LEAVE_OFFICE_EVENT,
  SUBSCRIBE_RESOURCE_EVENT,
  UNSUBSCRIBE_RESOURCE_EVENT,
} from "../../../protocol/events.ts";
import { A2C_INPUT_REQUIRED } from "../../../protocol/questions.ts";

/** How long the end of a subscription that nobody needs may take, in milliseconds. */
const UNSUBSCRIBE_TIMEOUT_MS = 5_000;
/** The most calls of one program that are remembered because they have asked something. */
const MAX_ASKING = 256;

type Body = Readonly<Record<string, unknown>>;
type Ack = readonly unknown[];

export class SharedConnection {
  readonly server: Connection;
  readonly #shares = new Set<Share>();
  /** Who follows a resource of a Computer, by Computer, MCP server and URI. */
  readonly #followers = new Map<string, Set<Share>>();
  /** The join that was accepted, or is under way: further ones get its answer. */
  #join: Promise<Ack> | undefined;
  #name = "";

  constructor(server: Connection) {
    this.server = server;
  }

  /** The part of one program. */
  share(onEvent: (incoming: IncomingEvent) => void): Share {
    const share = new Share(this, onEvent);
    this.#shares.add(share);
    return share;
  }

  readonly onEvent = (incoming: IncomingEvent): void => {
    for (const share of [...this.#shares]) share.onEvent(incoming);
  };

  request(share: Share, { event, body, timeoutMs }: ShareRequest): Promise<Ack> {
    const fields = isRecord(body) ? body : {};
    switch (event) {
      case JOIN_OFFICE_EVENT:
        return this.#join ??= this.#joinNow(fields, timeoutMs);
      case LEAVE_OFFICE_EVENT:
        if (this.#shares.size > 1) return Promise.resolve([true, null]);
        this.#join = undefined;
        return this.server.request(event, body, timeoutMs);
      case SUBSCRIBE_RESOURCE_EVENT:
        this.#followersOf(fields).add(share);
        return this.server.request(event, body, timeoutMs);
      case UNSUBSCRIBE_RESOURCE_EVENT:
        if (this.#unfollow(keyOf(fields), share)) return this.server.request(event, body, timeoutMs);
        return Promise.resolve([{ req_id: fields["req_id"] }]);
      default:
        return this.server.request(event, body, timeoutMs);
    }
  }

  emit(event: string, body: unknown): void {
    // The Server knows the Agent by the name under which it has joined, whichever program calls.
    const sent = event === CANCEL_TOOL_CALL_EVENT && isRecord(body) ? { ...body, agent: this.#name } : body;
    this.server.emit(event, sent);
  }

  /** Ends what a program has begun that is gone. */
  end(share: Share, calls: Iterable<string>): void {
    if (!this.#shares.delete(share)) return;
    for (const req_id of calls) this.emit(CANCEL_TOOL_CALL_EVENT, { agent: this.#name, req_id });
    for (const key of [...this.#followers.keys()]) {
      if (this.#followers.get(key)?.has(share) === true && this.#unfollow(key, share)) this.#unsubscribe(key);
    }
  }

  async #joinNow(membership: Body, timeoutMs: number): Promise<Ack> {
    try {
      const ack = await this.server.request(JOIN_OFFICE_EVENT, membership, timeoutMs);
      if (readJoinAck(ack).accepted) this.#name = String(membership["name"]);
      else this.#join = undefined;
      return ack;
    } catch (error) {
      this.#join = undefined;
      throw error;
    }
  }

  #followersOf(subscription: Body): Set<Share> {
    const key = keyOf(subscription);
    const followers = this.#followers.get(key) ?? new Set();
    this.#followers.set(key, followers);
    return followers;
  }

  /** Whether nobody follows it any more. */
  #unfollow(key: string, share: Share): boolean {
    const followers = this.#followers.get(key);
    followers?.delete(share);
    if (followers !== undefined && followers.size > 0) return false;
    this.#followers.delete(key);
    return true;
  }

  #unsubscribe(key: string): void {
    const [computer, mcp_server, uri] = JSON.parse(key);
    const server = mcp_server === null ? {} : { mcp_server };
    const body = { agent: this.#name, req_id: crypto.randomUUID(), computer, uri, ...server };
    // The subscription may have ended by itself.
    this.server.request(UNSUBSCRIBE_RESOURCE_EVENT, body, UNSUBSCRIBE_TIMEOUT_MS).catch(() => undefined);
  }
}

export interface ShareRequest {
  readonly event: string;
  readonly body: unknown;
  readonly timeoutMs: number;
}

/** What one program uses of a shared connection. */
export class Share {
  readonly onEvent: (incoming: IncomingEvent) => void;
  readonly #connection: SharedConnection;
  /** The ids of its calls that run. */
  readonly #calls = new Set<string>();
  #open = 0;

  /** Use {@linkcode SharedConnection.share}. */
  constructor(connection: SharedConnection, onEvent: (incoming: IncomingEvent) => void) {
    this.#connection = connection;
    this.onEvent = onEvent;
  }

  /** Whether a request has no answer yet. */
  get isBusy(): boolean {
    return this.#open > 0;
  }

  async request(request: ShareRequest): Promise<Ack> {
    const { event, body } = request;
    const call = TOOL_CALL_EVENTS.has(event) && isRecord(body) ? String(body["req_id"]) : undefined;
    if (call !== undefined) this.#begin(call);
    this.#open++;
    try {
      const ack = await this.#connection.request(this, request);
      // A call that has asked something goes on by another request.
      if (call !== undefined && !asks(ack)) this.#calls.delete(call);
      return ack;
    } finally {
      this.#open--;
    }
  }

  emit(event: string, body: unknown): void {
    this.#connection.emit(event, body);
  }

  /** Cancels its calls and ends its subscriptions. */
  end(): void {
    this.#connection.end(this, this.#calls);
  }

  #begin(call: string): void {
    this.#calls.delete(call);
    this.#calls.add(call);
    const [oldest] = this.#calls;
    if (this.#calls.size > MAX_ASKING + this.#open && oldest !== undefined) this.#calls.delete(oldest);
  }
}

function asks([result]: Ack): boolean {
  const meta = isRecord(result) ? result["meta"] : undefined;
  return isRecord(meta) && A2C_INPUT_REQUIRED in meta;
}

function keyOf({ computer, mcp_server = null, uri }: Body): string {
  return JSON.stringify([computer, mcp_server, uri]);
}
