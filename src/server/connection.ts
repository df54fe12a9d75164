/** One connection as the event handlers see it: who it is, where it is a member, and what it still owes. */
import { ErrorCode } from "../protocol/error_codes.ts";
import { badRequest, SmcpError } from "../protocol/errors.ts";
import type { Deadlines } from "./deadlines.ts";
import type { Member } from "./office_store.ts";
import { quoted } from "./limits.ts";
import { type Answer, PendingAnswer, type Question } from "./pending_answer.ts";
import type { Wire } from "./wire.ts";

/** What is known of a connection from its handshake. */
export interface Identity {
  readonly principal: string;
  readonly session: string | undefined;
  readonly version: string | undefined;
}

/** An open, authenticated connection. */
export class Connection {
  readonly sid: string;
  readonly identity: Identity;
  /** How many of its own requests are not answered yet. */
  openRequests = 0;
  readonly #wire: Wire;
  readonly #deadlines: Deadlines;
  #member: Member | undefined;
  #turn: Promise<void> = Promise.resolve();
  /** What it was asked and has not answered. */
  readonly #pending = new Set<PendingAnswer>();
  readonly #onSettled = (pending: PendingAnswer, isAnswered: boolean): void => {
    this.#pending.delete(pending);
    if (!isAnswered) this.#wire.forgetAck(pending.ack);
  };

  constructor(wire: Wire, context: { readonly identity: Identity; readonly deadlines: Deadlines }) {
    this.#wire = wire;
    this.#deadlines = context.deadlines;
    this.sid = wire.sid;
    this.identity = context.identity;
  }

  /** What it is a member of, as this Server knows. */
  get member(): Member | undefined {
    return this.#member;
  }

  /** Handles a connection's events one after the other, so that a join is done before what follows it. */
  takeTurn(work: () => Promise<void>): void {
    this.#turn = this.#turn.then(work);
  }

  /** Makes it hear the office's notifications. */
  enter(member: Member): void {
    this.#member = member;
    this.#wire.enterRoom(member.officeId);
  }

  /** Makes it hear them no more, and fails at once whatever it has not answered. */
  exit(): void {
    const member = this.#member;
    if (member === undefined) return;
    this.#member = undefined;
    this.#wire.leaveRoom(member.officeId);
    const error = computerNotFound(member.name, "left while the request was in flight");
    for (const pending of [...this.#pending]) pending.fail(error);
  }

  /** Sends an event that asks for no answer. */
  tell(event: string, body: unknown): void {
    this.#emit(event, body);
  }

  /**
   * Sends an event and resolves to its ack, untouched.
   *
   * @throws {SmcpError} 408 after `timeoutMs`, 404 when the connection leaves or is lost, 400 when it cannot be sent.
   */
  ask(question: Question): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const pending = new PendingAnswer({
        question,
        deadlines: this.#deadlines,
        onSettled: this.#onSettled,
        resolve,
        reject,
      });
      this.#pending.add(pending);
      try {
        this.#emit(question.event, question.body, pending.ack);
      } catch (error) {
        pending.fail(error);
      }
    });
  }

  /** Ends the connection. */
  close(): void {
    this.#wire.close();
  }

  #emit(event: string, body: unknown, ack?: (...answer: unknown[]) => void): void {
    try {
      this.#wire.emit(event, body, ack);
    } catch (cause) {
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
