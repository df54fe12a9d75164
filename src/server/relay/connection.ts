/** A connection as the relay sees it: its identity, its membership, and the requests that are open from and to it. */
import { type Rate, TokenBucket } from "../../async/token_bucket.ts";
import type { BoundedLog } from "../../bounded_log.ts";
import type { LogFields, Logger } from "../../log.ts";
import { badRequest, SmcpError } from "../../protocol/errors.ts";
import {
  CANCEL_TOOL_CALL_NOTIFICATION,
  CONNECTION_CLOSING_NOTIFICATION,
  LIST_PRESENCE_EVENT,
  TOOL_CALL_EVENT,
} from "../../protocol/events.ts";
import { type Farewell, toClosingNotification } from "../../protocol/farewell.ts";
import { describeError, quoted } from "../../text/text.ts";
import type { Admitted, Identity } from "../admission/admission.ts";
import type { Credentials, Grant } from "../admission/provider.ts";
import type { Timeouts } from "../../async/timeouts.ts";
import { type Account, noMemory } from "../engine/budget.ts";
import type { EngineOutbox } from "../engine/outbox.ts";
import type { SessionState } from "../engine/session.ts";
import { type DeferredEvents, sizeOfBody } from "./deferred_events.ts";
import { auditFields } from "../observe/logs.ts";
import { AnswerTimes, secondsSince, ticksNow } from "../observe/meter.ts";
import type { Member } from "../offices/office.ts";
import type { Quotas } from "../admission/quotas.ts";
import {
  type Answer,
  LateCancels,
  OpenRequests,
  PendingRequest,
  type RelayedRequest,
  type Settlement,
  type Side,
  withDetails,
} from "./pending_requests.ts";
import { computerAsleep, computerNotFound, Presence, type PresenceSession } from "./presence.ts";
import { forgetAck, roomOf, setNextAckId } from "./socket_internals.ts";
import { CONSTANTS } from "../options/constants.ts";

/**
 * The bytes of notifications that one connection may cause in the queue of each receiver: about 1,900 notifications at once,
 * and 30 per second. A receiver whose queue grows gets no more requests, and later its connection is closed. The burst is
 * smaller than the bytes between these two limits, so that one sender alone cannot make a receiver lose its connection.
 */
const NOTIFYING: Rate = {
  burst: CONSTANTS.notifyingBytes.value,
  perSecond: CONSTANTS.notifyingBytesPerSecond.value,
};

/** The last answers of a Computer whose times are kept. */
const KEPT_ANSWERS = 64;

export type Ack = (...answer: unknown[]) => void;

/** The members of a Socket.IO socket that are used here. */
export interface SocketLike {
  readonly id: string;
  emit(event: string, ...args: unknown[]): unknown;
  join(room: string): unknown;
  leave(room: string): unknown;
  disconnect(close: boolean): unknown;
}

/** The members of the session under it. */
export interface SessionLike extends PresenceSession {
  /** Counts the messages of the connection that wait. */
  readonly account: Account;
  readonly outbox: Pick<EngineOutbox, "push">;
  readonly state: SessionState;
  close(reason: string): void;
}

/** What all connections of a Server share. */
export interface ConnectionContext {
  readonly timeouts: Timeouts;
  /** How long a member that lost its connection may take to ask again. */
  readonly returnMs: number;
  readonly createEventLog: (sid: string) => BoundedLog;
  /** The same for the errors of Computers that a connection is relayed. */
  readonly createErrorLog: (sid: string) => BoundedLog;
  readonly logger: Logger;
  readonly audit: BoundedLog;
  /** Those for which requests wait, until it is known whether they sleep. */
  readonly probed: Set<Connection>;
}

export interface Target {
  /** The name of the Computer. */
  readonly name: string;
  tell(event: string, body: unknown): void;
  ask(request: RelayedRequest, context: AskContext): void;
}

interface AskContext {
  readonly body: unknown;
  /** The requests of the sender, in which it counts. */
  readonly sides: readonly Side[];
  /** When it arrived, by `ticksNow()`; now by default. */
  readonly startedAt?: number;
  readonly onSettled: (settlement: Settlement) => void;
}

export interface RenewableCredentials {
  renew(sent: Pick<Credentials, "auth" | "headers">): Promise<void>;
}

export class Connection implements Target {
  readonly sid: string;
  readonly account: Account;
  readonly identity: Identity;
  /** What it may do; everything if absent. */
  grant: Grant | undefined;
  credentials: RenewableCredentials | undefined;
  readonly quotas: Quotas;
  /** Its events that are not answered. */
  openRequests = 0;
  /** Its events that wait for a change of its membership; `undefined` while no change is under way. */
  deferred: DeferredEvents | undefined;
  readonly #socket: SocketLike;
  readonly #session: SessionLike;
  readonly #shared: ConnectionContext;
  #nextAckId = 0;
  #log: BoundedLog | undefined;
  #relayedErrors: BoundedLog | undefined;
  #member: Member | undefined;
  #isEnded = false;
  #farewell: string | undefined;
  // Made when they are used: most of thousands of connections are idle.
  #sent: OpenRequests | undefined;
  #received: OpenRequests | undefined;
  #lateCancels: LateCancels | undefined;
  #answerTimes: AnswerTimes | undefined;
  #notifying: TokenBucket | undefined;
  #presence: Presence | undefined;

  constructor(socket: SocketLike, session: SessionLike, { shared, identity, permit, quotas }: Admitted & {
    readonly shared: ConnectionContext;
  }) {
    this.#socket = socket;
    this.#session = session;
    this.#shared = shared;
    this.sid = socket.id;
    this.account = session.account;
    this.identity = identity;
    this.grant = permit.grant;
    this.quotas = quotas;
  }

  get log(): BoundedLog {
    return this.#log ??= this.#shared.createEventLog(this.sid);
  }

  get relayedErrors(): BoundedLog {
    return this.#relayedErrors ??= this.#shared.createErrorLog(this.sid);
  }

  get notifying(): TokenBucket {
    return this.#notifying ??= new TokenBucket(NOTIFYING);
  }

  /** The requests that it has sent, also to Computers of other processes. */
  get sent(): OpenRequests {
    return this.#sent ??= new OpenRequests();
  }

  /** A count of the requests to it. */
  get inFlight(): { readonly requests: number; readonly bytes: number } {
    return { requests: this.#received?.size ?? 0, bytes: this.#received?.bytes ?? 0 };
  }

  /** How long it took to answer; `undefined` before its first answer. */
  get answerTimes(): AnswerTimes | undefined {
    return this.#answerTimes;
  }

  /** Whether it has no request in flight, in either direction. A join or a leave, which may wait for Redis, is none. */
  get isIdle(): boolean {
    return (this.#sent?.size ?? 0) + (this.#received?.size ?? 0) === 0;
  }

  get member(): Member | undefined {
    return this.#member;
  }

  get name(): string {
    return this.#member?.name ?? "";
  }

  get presence(): Presence {
    return this.#presence ??= new Presence({
      session: this.#session,
      timeouts: this.#shared.timeouts,
      isAwaited: () => this.inFlight.requests > 0,
      onLost: () => this.#failSent(),
      onWaiting: (isWaiting) => this.#shared.probed[isWaiting ? "add" : "delete"](this),
    });
  }

  get state(): SessionState {
    return this.#session.state;
  }

  /** Whether its member is in this process. */
  get isInner(): boolean {
    return this.state.transport === "memory";
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** The code of the first farewell that the peer was told. */
  get farewell(): string | undefined {
    return this.#farewell;
  }

  /** Starts its membership, and ends the former one: it receives the notifications of the office. */
  enter(member: Member): void {
    this.exit();
    this.#member = member;
    // Synchronous with the in-memory adapter of Socket.IO.
    this.#socket.join(roomOf(member.officeId));
  }

  /** Ends its membership: it receives no more notifications, requests to it fail, its own are cancelled; later, if it may return. */
  exit({ mayReturn = false } = {}): void {
    const member = this.#member;
    if (member === undefined) return;
    this.#member = undefined;
    this.#socket.leave(roomOf(member.officeId));
    for (const pending of [...this.#received ?? []]) {
      const mayHaveRun = pending.ackId !== undefined;
      pending.fail(computerNotFound(member.name, "left while the request was in flight", { mayHaveRun }));
    }
    for (const pending of [...this.#sent ?? []]) pending.drop({ mayReturn });
    this.#lateCancels?.clear();
  }

  end(how?: { readonly mayReturn: boolean }): void {
    this.#isEnded = true;
    this.exit(how);
    this.#presence?.close();
    this.#log?.close();
    this.#relayedErrors?.close();
  }

  /**
   * Sends an event without an ack, unless the member sleeps. Throws a 413 when the peer has too many unread bytes, a 400 for a
   * body that is too deep.
   */
  tell(event: string, body: unknown): void {
    if (this.presence.isFresh) return this.#tell(event, body);
    const bytes = sizeOfBody(body);
    const act = () => {
      if (this.presence.asleepSince === undefined) this.#tellIfPossible(event, body);
    };
    if (!this.presence.whenKnown(bytes, act)) throw noMemory(bytes);
  }

  /** Sends a notification to it again, behind the requests that wait: it was sent ahead of them. */
  repeat(event: string, body: unknown): void {
    this.presence.whenKnown(0, () => this.#tellIfPossible(event, body));
  }

  #tell(event: string, body: unknown): void {
    this.#send(event, () => this.#socket.emit(event, body));
  }

  /**
   * Sends an event and calls `onSettled` once, with its ack as it came, or with an {@linkcode SmcpError}: 408 after
   * `timeoutMs`, 404 when this connection leaves, is lost or sleeps, 400 when the body is nested too deep, 413 when this
   * connection has too many unread bytes. A request for its presence is answered here.
   */
  ask(request: RelayedRequest, { body, ...context }: AskContext): void {
    const pending = this.#await(request, context);
    const isAboutPresence = request.event === LIST_PRESENCE_EVENT;
    if (this.presence.isFresh && !isAboutPresence) return this.#askNow(pending, body);
    const bytes = sizeOfBody(body);
    pending.onSent(bytes);
    const act = () => {
      const { asleepSince, lastRead } = this.presence;
      if (!pending.isOpen) return;
      if (isAboutPresence) {
        pending.ack({ asleep_since: asleepSince?.toISOString(), last_read: lastRead.toISOString() });
      } else if (asleepSince === undefined) this.#askNow(pending, body);
      else pending.fail(computerAsleep(this.name, asleepSince));
    };
    const isKept = this.presence.whenKnown(bytes, act, { mayTrust: !isAboutPresence });
    if (!isKept) pending.fail(noMemory(bytes));
  }

  #askNow(pending: PendingRequest, body: unknown): void {
    const { event } = pending.request;
    this.presence.watch();
    const ackId = pending.ackId = this.#nextAckId++;
    setNextAckId(this.#socket, ackId);
    try {
      pending.onSent(this.#send(event, () => this.#socket.emit(event, body, pending.ack)));
    } catch (error) {
      pending.fail(error);
    }
  }

  /** A separate method, so that its closure does not keep the body in memory. */
  #await(
    request: RelayedRequest,
    { sides, startedAt = ticksNow(), onSettled }: Omit<AskContext, "body">,
  ): PendingRequest {
    const received = this.#received ??= new OpenRequests();
    const pending: PendingRequest = new PendingRequest(request, {
      sides: [received, ...sides],
      timeouts: this.#shared.timeouts,
      onSettled: (settlement) => {
        if (settlement.kind !== "answered") this.#abandon(pending, settlement);
        else if (request.event === TOOL_CALL_EVENT) {
          (this.#answerTimes ??= new AnswerTimes(KEPT_ANSWERS)).add(secondsSince(startedAt));
        }
        onSettled(settlement);
      },
    });
    return pending;
  }

  /** Cancels what was sent, if nobody waits for it any more: a member that sleeps reads both when it wakes. */
  #abandon({ ackId, request }: PendingRequest, how: Settlement): void {
    if (ackId === undefined) return;
    forgetAck(this.#socket, ackId);
    if (how.kind === "failed" && how.isGivenUp !== true) return;
    const { agent, reqId: req_id } = request;
    const cancel = () => {
      // The call may have come again, by a sender that has returned.
      if (this.#received?.hasCall(request)) return;
      this.#tellIfPossible(CANCEL_TOOL_CALL_NOTIFICATION, { agent, req_id });
    };
    if (how.kind !== "dropped" || !how.mayReturn) return cancel();
    (this.#lateCancels ??= new LateCancels(this.#shared)).add(cancel);
  }

  /** Fails the requests that were sent to it, which sleeps. */
  #failSent(): void {
    const { asleepSince = new Date() } = this.presence;
    for (const pending of [...this.#received ?? []]) {
      if (pending.ackId === undefined) continue;
      pending.giveUp(computerAsleep(this.name, asleepSince, { mayHaveRun: true }));
    }
  }

  /** Fails the requests to it, and its own, also those to Computers of other processes. */
  failRequests(toError: (request: RelayedRequest) => SmcpError): void {
    for (const requests of [this.#received, this.#sent]) {
      for (const pending of [...requests ?? []]) pending.fail(toError(pending.request));
    }
  }

  /** Answers an event. Throws a 413 when the peer has too many unread bytes. */
  answer(ack: Ack, answer: Answer): void {
    this.#session.outbox.push(() => ack(...answer));
  }

  /** Tells the peer why its connection ends and whether it may come back, then closes the connection. Never throws. */
  dismiss(farewell: Farewell, actor?: LogFields): void {
    const { code, message: reason } = farewell;
    const { name, officeId: office, principal = this.identity.principal } = this.#member ?? {};
    const fields = { sid: this.sid, code, reason, name, office, principal, ...actor };
    this.#shared.audit.write("info", "dismissed a connection", auditFields("dismiss", fields));
    this.announce(farewell);
    this.close();
  }

  /** Tells the peer why its connection will end and whether it may come back. Never throws. */
  announce(farewell: Farewell): void {
    this.#farewell ??= farewell.code;
    this.#tellIfPossible(CONNECTION_CLOSING_NOTIFICATION, toClosingNotification(farewell));
  }

  /** Closes the connection for good: of other implementations, few come back by themselves. */
  close(): void {
    this.#socket.disconnect(true);
  }

  /** Closes the connection as the network would, so that peers of every implementation come back. */
  drop(): void {
    this.#session.close("forced server close");
  }

  /** The peer may have too many unread bytes. */
  #tellIfPossible(event: string, body: unknown): void {
    try {
      this.#tell(event, body);
    } catch (error) {
      const fields = { sid: this.sid, event, error: describeError(error) };
      this.#shared.logger.debug("failed to notify a connection", fields);
    }
  }

  /** Sends an event by `send`, and returns the bytes that it takes. */
  #send(event: string, send: () => void): number {
    try {
      return this.#session.outbox.push(send);
    } catch (cause) {
      // An Agent may have requests to several.
      if (cause instanceof SmcpError) throw withDetails(cause, { computer_name: this.#member?.name });
      throw cause instanceof RangeError ? nestedTooDeep(event) : cause;
    }
  }
}

export function nestedTooDeep(event: string): SmcpError {
  return badRequest("body", `Cannot relay "${quoted(event)}": its body is nested too deep`);
}
