/** One request of an Agent that a Computer has not answered yet. */
import { ErrorCode } from "../protocol/error_codes.ts";
import { SmcpError } from "../protocol/errors.ts";
import type { Deadline, Deadlines, Scheduled } from "./deadlines.ts";
import { quoted } from "./limits.ts";

/** The arguments of an ack. */
export type Answer = readonly unknown[];

/** A request on its way to a Computer, without its body: that is sent and forgotten. */
export interface Question {
  readonly event: string;
  readonly reqId: string;
  /** The name of the Agent that asks. */
  readonly agent: string;
  /** The Computer's name. */
  readonly computer: string;
  readonly officeId: string;
  /** Whether an observer asks. */
  readonly isObserving: boolean;
  readonly timeoutMs: number;
}

/** A request as Socket.IO sent it. */
export interface Sent {
  readonly bytes: number;
  /** The id under which Socket.IO keeps the ack. */
  readonly ackId: number;
}

/** How a request ended; `dropped` when whoever asked has left. Unless it was answered, Socket.IO still keeps the ack. */
export type Outcome = "answered" | "failed" | "dropped";

interface Open {
  readonly question: Question;
  readonly deadlines: Deadlines;
  /** Called once. */
  readonly onSettled: (outcome: Outcome) => void;
  readonly resolve: (answer: Answer | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Settles once: by the ack, by its deadline, by a failure, or by the end of whoever asked. From then on it holds nothing:
 * a `Map` or `Set` that grows and shrinks leaves tables behind that still point at former entries, and a request that such
 * an entry leads to would outlive its answer by far. (Measured: a tenth of the relay's whole cost.)
 */
export class PendingAnswer implements Deadline {
  /** What Socket.IO calls with the answer. */
  readonly ack = (...answer: unknown[]): void => {
    const open = this.#settle();
    open?.onSettled("answered");
    // The parser puts that there in place of an answer that it did not read.
    if (answer[0] instanceof SmcpError) open?.reject(answer[0]);
    else open?.resolve(answer);
  };
  readonly question: Question;
  /** `undefined` until the request was sent. */
  sent: Sent | undefined;
  /** Its places in the lists of the connection that asks, and of the one that is asked. */
  askedAt = 0;
  owedAt = 0;
  #open: Open | undefined;
  readonly #scheduled: Scheduled;

  constructor(open: Open) {
    this.#open = open;
    this.question = open.question;
    this.#scheduled = open.deadlines.add(this, open.question.timeoutMs);
  }

  fail(error: unknown): void {
    const open = this.#settle();
    open?.onSettled("failed");
    open?.reject(error);
  }

  /** Ends it without an answer, because the sender of the request has left. */
  drop(): void {
    const open = this.#settle();
    open?.onSettled("dropped");
    open?.resolve(undefined);
  }

  /** Implements {@linkcode Deadline}. */
  expire(): void {
    this.fail(timeoutOf(this.question));
  }

  #settle(): Open | undefined {
    const open = this.#open;
    this.#open = undefined;
    open?.deadlines.lift(this.#scheduled);
    return open;
  }
}

function timeoutOf({ event, computer, timeoutMs }: Question): SmcpError {
  return new SmcpError(
    ErrorCode.TIMEOUT,
    `Computer with name '${quoted(computer)}' did not answer "${quoted(event)}" in ${timeoutMs} ms`,
    { details: { computer_name: computer } },
  );
}
