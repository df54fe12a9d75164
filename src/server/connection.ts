/** One connection as the event handlers see it: its identity, its membership, and the requests it sent and received. */
import { ErrorCode } from "../protocol/error_codes.ts";
import { badRequest, SmcpError } from "../protocol/errors.ts";
import { describeError } from "../text.ts";
import type { Identity } from "./admission/admission.ts";
import type { Logger } from "../log.ts";
import { CANCEL_TOOL_CALL_NOTIFICATION } from "../protocol/events.ts";
import type { BoundedLog } from "./bounded_log.ts";
import type { TimingWheel } from "./timing_wheel.ts";
import { MAX_NOTIFYING, quoted } from "./limits.ts";
import { Load, type OfficeLoads, Pace } from "./load.ts";
import type { Member } from "./offices.ts";
import {
  type Answer,
  PendingAnswer,
  PendingList,
  type Question,
  type Sent,
  type Settlement,
} from "./pending.ts";

/** Answers an event with its ack's arguments. */
export type Ack = (...answer: unknown[]) => void;

/** What a connection needs of Socket.IO. All that sends throws a `RangeError` for what is nested too deep to be written. */
export interface Wire {
  readonly sid: string;
  /** Sends an event that asks for no answer; throws a 413 when too much waits for the peer. */
  emit(event: string, body: unknown): void;
  /** Sends an event that asks for an answer; throws a 413 when too much waits for the peer. */
  ask(event: string, body: unknown, ack: Ack): Sent;
  /** Answers; throws a 413 when too much waits for the peer. */
  answer(ack: Ack, answer: readonly unknown[]): void;
  /** Drops an ack that nobody waits for any longer. */
  forgetAck(ackId: number): void;
  enterRoom(officeId: string): void;
  leaveRoom(officeId: string): void;
  close(): void;
}

/** What all connections of a Server share. */
export interface Surroundings {
  readonly timeouts: TimingWheel;
  readonly officeLoads: OfficeLoads;
  /** The part of the observers in them. */
  readonly observerLoads: OfficeLoads;
  /** Makes the log of a connection. */
  readonly createEventLog: (sid: string) => BoundedLog;
  readonly logger: Logger;
}

/** An open, authenticated connection. */
export class Connection {
  readonly sid: string;
  readonly identity: Identity;
  /** How many of its events are not answered yet. */
  openRequests = 0;
  /** Its requests to Computers that are in flight. */
  readonly asked = new Load();
  /** Requests to it that are in flight. */
  readonly owed = new Load();
  /** What it makes the Server tell its office. */
  readonly notifying = new Pace(MAX_NOTIFYING);
  /** Logs errors of this connection's events. */
  readonly log: BoundedLog;
  readonly #wire: Wire;
  readonly #shared: Surroundings;
  #member: Member | undefined;
  #isEnded = false;
  /** Its requests to Computers. */
  readonly #asked = new PendingList("askedAt");
  /** Requests to it. */
  readonly #owed = new PendingList("owedAt");

  constructor(wire: Wire, context: { readonly identity: Identity; readonly shared: Surroundings }) {
    this.#wire = wire;
    this.#shared = context.shared;
    this.sid = wire.sid;
    this.identity = context.identity;
    this.log = context.shared.createEventLog(wire.sid);
  }

  /** Its membership; `undefined` while it is in no office. */
  get member(): Member | undefined {
    return this.#member;
  }

  /** Whether the connection is gone. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Makes it receive the office's notifications. */
  enter(member: Member): void {
    this.#member = member;
    this.#wire.enterRoom(member.officeId);
  }

  /** Ends its membership: it receives no more notifications, requests to it fail at once, and its own are cancelled. */
  exit(): void {
    const member = this.#member;
    if (member === undefined) return;
    this.#member = undefined;
    this.#wire.leaveRoom(member.officeId);
    const error = computerNotFound(member.name, "left while the request was in flight");
    for (const pending of this.#owed.snapshot()) pending.fail(error);
    for (const pending of this.#asked.snapshot()) pending.drop();
  }

  /** Ends its membership for good, because the connection is gone. */
  end(): void {
    this.#isEnded = true;
    this.exit();
    this.log.close();
  }

  /** Sends an event that asks for no answer. */
  tell(event: string, body: unknown): void {
    this.#send(event, () => this.#wire.emit(event, body));
  }

  /**
   * Sends an event and calls `onSettled` once, with its ack as it came, or with an {@linkcode SmcpError}: 408 after
   * `timeoutMs`, 404 when this connection leaves or is lost, 400 when the event cannot be sent, 413 when too much waits
   * for this connection.
   */
  ask(question: Question, request: {
    readonly body: unknown;
    readonly asker: Connection;
    readonly onSettled: (settlement: Settlement) => void;
  }): void {
    const { timeouts, officeLoads, observerLoads } = this.#shared;
    const { event, officeId, isObserving } = question;
    const { body, asker } = request;
    const onSettled = (settlement: Settlement) => {
      this.#forget(pending, { asker, outcome: settlement.kind });
      request.onSettled(settlement);
    };
    const pending = new PendingAnswer({ question, timeouts, onSettled });
    this.#owed.add(pending);
    asker.#asked.add(pending);
    try {
      const sent = this.#send(event, () => this.#wire.ask(event, body, pending.ack));
      pending.sent = sent;
      this.owed.add(sent.bytes);
      asker.asked.add(sent.bytes);
      officeLoads.add(officeId, sent.bytes);
      if (isObserving) observerLoads.add(officeId, sent.bytes);
    } catch (error) {
      pending.fail(error);
    }
  }

  /** Answers an event. Throws an {@linkcode SmcpError} when the answer cannot be sent. */
  answer(ack: (...answer: unknown[]) => void, answer: Answer): void {
    this.#wire.answer(ack, answer);
  }

  /** Ends the connection. */
  close(): void {
    this.#wire.close();
  }

  /** Forgets a request to it that has ended. */
  #forget(
    pending: PendingAnswer,
    { asker, outcome }: { readonly asker: Connection; readonly outcome: Settlement["kind"] },
  ): void {
    this.#owed.remove(pending);
    asker.#asked.remove(pending);
    const { sent, question } = pending;
    if (sent !== undefined) {
      this.owed.remove(sent.bytes);
      asker.asked.remove(sent.bytes);
      this.#shared.officeLoads.remove(question.officeId, sent.bytes);
      if (question.isObserving) this.#shared.observerLoads.remove(question.officeId, sent.bytes);
      if (outcome !== "answered") this.#wire.forgetAck(sent.ackId);
    }
    if (outcome === "dropped") this.#tellCancelled({ agent: question.agent, req_id: question.reqId });
  }

  #tellCancelled(body: { readonly agent: string; readonly req_id: string }): void {
    try {
      this.tell(CANCEL_TOOL_CALL_NOTIFICATION, body);
    } catch (error) {
      this.#shared.logger.debug("failed to tell a Computer that a request was cancelled", {
        req_id: quoted(body.req_id),
        error: describeError(error),
      });
    }
  }

  /** Adds the name of the Computer that does not read: an Agent may have requests to several. */
  #named(cause: SmcpError): SmcpError {
    const { code, message, details } = cause;
    return new SmcpError(code, message, {
      cause,
      details: { ...details, computer_name: this.#member?.name },
    });
  }

  #send<T>(event: string, send: () => T): T {
    try {
      return send();
    } catch (cause) {
      if (cause instanceof SmcpError) throw this.#named(cause);
      if (!(cause instanceof RangeError)) throw cause;
      throw badRequest("body", `Cannot relay "${quoted(event)}": its body is nested too deep`);
    }
  }
}

/** The same answer whether no such Computer exists, it is in another office, or it has just gone. */
export function computerNotFound(name: string, state = "not found"): SmcpError {
  return new SmcpError(ErrorCode.NOT_FOUND, `Computer with name '${quoted(name)}' ${state}`, {
    details: { computer_name: name },
  });
}
