/** A connection as the relay sees it: its identity, its membership, and the requests that are open from and to it. */
import { type Rate, TokenBucket } from "../../async/token_bucket.ts";
import type { BoundedLog } from "../../bounded_log.ts";
import type { Logger } from "../../log.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { badRequest, SmcpError } from "../../protocol/errors.ts";
import { CANCEL_TOOL_CALL_NOTIFICATION, CONNECTION_CLOSING_NOTIFICATION } from "../../protocol/events.ts";
import { type Farewell, toClosingNotification } from "../../protocol/farewell.ts";
import { approximateSizeBytes } from "../../json/measure.ts";
import { describeError, quoted } from "../../text/text.ts";
import type { Admitted, Identity } from "../admission/admission.ts";
import type { Credentials, Grant } from "../admission/provider.ts";
import { type Account, Holding } from "../engine/budget.ts";
import { RawRequest } from "../engine/raw.ts";
import { auditFields } from "../observe/logs.ts";
import type { Member } from "../offices/office.ts";
import type { Quotas } from "../admission/quotas.ts";
import {
  type Answer,
  type Load,
  PendingRequest,
  PendingRequests,
  type RelayedRequest,
  type RequestContext,
  type Sent,
  type Settlement,
  type Side,
  withComputer,
} from "./pending_requests.ts";
import { CONSTANTS } from "../options/constants.ts";

/**
 * What one connection may cause, as it waits for one receiver. It is less than the margin between refusing requests to a
 * slow receiver and closing its connection, so that one sender cannot cause the closing. About 1,900 notifications at once,
 * and 30 per second.
 */
const NOTIFYING: Rate = {
  burst: CONSTANTS.notifyingBytes.value,
  perSecond: CONSTANTS.notifyingBytesPerSecond.value,
};

export type Ack = (...answer: unknown[]) => void;

/** The operations on a Socket.IO socket. Sending throws a `RangeError` for a body that is nested too deep to be written. */
export interface Wire {
  readonly sid: string;
  /** Counts the messages of the connection that wait. */
  readonly account: Account;
  /** Sends an event without an ack; throws a 413 when the peer has too many unread bytes. */
  emit(event: string, body: unknown): void;
  /** Sends an event with an ack; throws a 413 when the peer has too many unread bytes. */
  ask(event: string, body: unknown, ack: Ack): Sent;
  /** Calls an ack; throws a 413 when the peer has too many unread bytes. */
  answer(ack: Ack, answer: Answer): void;
  /** Frees an ack that is no longer awaited. */
  forgetAck(ackId: number): void;
  enterRoom(officeId: string): void;
  leaveRoom(officeId: string): void;
  /** Tells the peer that it is disconnected: clients of Socket.IO do not come back by themselves. */
  close(): void;
  /** Ends the connection without a word: clients of Socket.IO come back by themselves. */
  drop(): void;
}

/** What all connections of a Server share. */
export interface ConnectionContext extends RequestContext {
  readonly createEventLog: (sid: string) => BoundedLog;
  /** The same for the errors of Computers that a connection is relayed. */
  readonly createErrorLog: (sid: string) => BoundedLog;
  readonly logger: Logger;
  readonly audit: BoundedLog;
}

export interface Target {
  readonly targetLoad: Load;
  tell(event: string, body: unknown): void;
  ask(request: RelayedRequest, context: AskContext): void;
}

interface AskContext {
  readonly body: unknown;
  readonly requester: Side;
  readonly onSettled: (settlement: Settlement) => void;
}

export interface RenewableCredentials {
  renew(sent: Pick<Credentials, "auth" | "headers">): Promise<void>;
}

const NO_LOAD = { requests: 0, bytes: 0 };

export class Connection implements Target {
  readonly sid: string;
  readonly account: Account;
  readonly identity: Identity;
  /** What it may do; everything if absent. */
  grant: Grant | undefined;
  credentials: RenewableCredentials | undefined;
  readonly quotas: Quotas | undefined;
  /** Its events that are not answered. */
  openRequests = 0;
  /** Its events that wait for a change of its membership; `undefined` while no change is under way. */
  held: HeldEvents | undefined;
  readonly #wire: Wire;
  readonly #shared: ConnectionContext;
  #log: BoundedLog | undefined;
  #relayedErrors: BoundedLog | undefined;
  #member: Member | undefined;
  #isEnded = false;
  #farewell: string | undefined;
  // Made when they are used: most of thousands of connections are idle.
  #sent: PendingRequests | undefined;
  #received: PendingRequests | undefined;
  #notifying: TokenBucket | undefined;

  constructor(wire: Wire, context: Admitted & { readonly shared: ConnectionContext }) {
    this.#wire = wire;
    this.#shared = context.shared;
    this.sid = wire.sid;
    this.account = wire.account;
    this.identity = context.identity;
    this.grant = context.permit.grant;
    this.quotas = context.quotas;
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
  get sent(): PendingRequests {
    return this.#sent ??= new PendingRequests("requesterIndex");
  }

  get #asTarget(): PendingRequests {
    return this.#received ??= new PendingRequests("targetIndex");
  }

  get targetLoad(): Load {
    return this.#asTarget.load;
  }

  /** A count of the requests to it, for statistics: unlike `targetLoad`, it allocates nothing for an idle connection. */
  get inFlight(): Readonly<Pick<Load, "requests" | "bytes">> {
    return this.#received?.load ?? NO_LOAD;
  }

  get isIdle(): boolean {
    return this.openRequests === 0 && this.inFlight.requests === 0;
  }

  get member(): Member | undefined {
    return this.#member;
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
    this.#wire.enterRoom(member.officeId);
  }

  /** Ends its membership in any office: it receives no more notifications, requests to it fail, and its own requests are cancelled. */
  exit(): void {
    const member = this.#member;
    if (member === undefined) return;
    this.#member = undefined;
    this.#wire.leaveRoom(member.officeId);
    const error = computerNotFound(member.name, "left while the request was in flight");
    for (const pending of this.#received?.snapshot() ?? []) pending.fail(error);
    for (const pending of this.#sent?.snapshot() ?? []) pending.drop();
  }

  end(): void {
    this.#isEnded = true;
    this.exit();
    this.#log?.close();
    this.#relayedErrors?.close();
  }

  tell(event: string, body: unknown): void {
    try {
      this.#wire.emit(event, body);
    } catch (error) {
      throw this.#toSendError(event, error);
    }
  }

  /**
   * Sends an event and calls `onSettled` once, with its ack as it came, or with an {@linkcode SmcpError}: 408 after
   * `timeoutMs`, 404 when this connection leaves or is lost, 400 when the body is nested too deep, 413 when this
   * connection has too many unread bytes.
   */
  ask(request: RelayedRequest, { body, requester, onSettled }: AskContext): void {
    const pending = this.#await(request, { requester, onSettled });
    try {
      const { ackId, bytes } = this.#wire.ask(request.event, body, pending.ack);
      pending.ackId = ackId;
      pending.count(bytes);
    } catch (error) {
      pending.fail(this.#toSendError(request.event, error));
    }
  }

  /** A separate method, so that its closure does not keep the body in memory. */
  #await(request: RelayedRequest, { requester, onSettled }: Omit<AskContext, "body">): PendingRequest {
    const pending: PendingRequest = new PendingRequest({
      request,
      sides: [this.#asTarget, requester],
      context: this.#shared,
      onSettled: (settlement) => {
        if (settlement.kind !== "answered") this.#abandon(pending, settlement.kind);
        onSettled(settlement);
      },
    });
    return pending;
  }

  #abandon({ ackId, request: { agent, reqId: req_id } }: PendingRequest, how: "failed" | "dropped"): void {
    if (ackId !== undefined) this.#wire.forgetAck(ackId);
    if (how === "dropped") this.#tellIfPossible(CANCEL_TOOL_CALL_NOTIFICATION, { agent, req_id });
  }

  /** Fails the requests to it, and its own, also those to Computers of other processes. */
  failRequests(toError: (request: RelayedRequest) => SmcpError): void {
    for (const requests of [this.#received, this.#sent]) {
      for (const pending of requests?.snapshot() ?? []) pending.fail(toError(pending.request));
    }
  }

  /** Answers an event. Throws like {@linkcode Wire.answer}. */
  answer(ack: Ack, answer: Answer): void {
    this.#wire.answer(ack, answer);
  }

  /** Tells the peer why its connection ends and whether it may come back, then closes the connection. Never throws. */
  dismiss(farewell: Farewell): void {
    const { code, message: reason } = farewell;
    const { name, officeId: office, principal = this.identity.principal } = this.#member ?? {};
    const fields = { sid: this.sid, code, reason, name, office, principal };
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
    this.#wire.close();
  }

  /** Closes the connection as the network would, so that peers of every implementation come back. */
  drop(): void {
    this.#wire.drop();
  }

  /** The peer may have too many unread bytes. */
  #tellIfPossible(event: string, body: unknown): void {
    try {
      this.tell(event, body);
    } catch (error) {
      const fields = { sid: this.sid, event, error: describeError(error) };
      this.#shared.logger.debug("failed to notify a connection", fields);
    }
  }

  #toSendError(event: string, cause: unknown): unknown {
    if (cause instanceof SmcpError) return withComputer(cause, this.#member?.name);
    return cause instanceof RangeError ? nestedTooDeep(event) : cause;
  }
}

/** The same error whether no such Computer exists, it is in another office, or it has just left. */
export function computerNotFound(name: string, state = "not found"): SmcpError {
  return new SmcpError(ErrorCode.NOT_FOUND, `Computer with name '${quoted(name)}' ${state}`, {
    details: { computer_name: name },
  });
}

export function nestedTooDeep(event: string): SmcpError {
  return badRequest("body", `Cannot relay "${quoted(event)}": its body is nested too deep`);
}

export interface Incoming {
  readonly event: string;
  /** Its arguments; the last one is a function when the sender asked for an ack. */
  readonly args: readonly unknown[];
}

/** What waits for the end of a change, in the order in which it came. */
export class HeldEvents {
  readonly #waiting: (() => void)[] = [];
  readonly #counted: Holding;

  /** @param account Counts what waits: a change may last as long as Redis takes for it. */
  constructor(account: Account) {
    this.#counted = new Holding(account);
  }

  /** Adds an event; `false` when too many wait, or there is no memory for it. Below the limit, any size fits. */
  take({ args: [body] }: Incoming, handle: () => void): boolean {
    const { maxHeldEvents, maxHeldBytes } = CONSTANTS;
    if (this.#waiting.length >= maxHeldEvents.value || this.#counted.bytes >= maxHeldBytes.value) {
      return false;
    }
    return this.hold(body instanceof RawRequest ? body.size : approximateSizeBytes(body), handle);
  }

  /** Calls `handle` after the change; `false` when there is no memory for what it handles. */
  hold(bytes: number, handle: () => void): boolean {
    if (!this.#counted.hasRoom(this.#counted.bytes + bytes)) return false;
    this.#counted.change(bytes);
    this.after(handle);
    return true;
  }

  /** The same for what needs no memory. */
  after(handle: () => void): void {
    this.#waiting.push(handle);
  }

  get released(): Promise<void> {
    return new Promise((resolve) => this.after(resolve));
  }

  release(): void {
    this.#counted.hold(0);
    for (const handle of this.#waiting.splice(0)) handle();
  }
}
