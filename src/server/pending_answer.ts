/** One request that a connection was asked and has not answered. */
import { ErrorCode } from "../protocol/error_codes.ts";
import { SmcpError } from "../protocol/errors.ts";
import type { Deadline, Deadlines } from "./deadlines.ts";
import { quoted } from "./limits.ts";

/** The arguments of an ack. */
export type Answer = readonly unknown[];

/** A request on its way to a Computer. */
export interface Question {
  readonly event: string;
  readonly body: unknown;
  /** The Computer's name. */
  readonly computer: string;
  readonly timeoutMs: number;
}

interface Open {
  readonly question: Question;
  readonly deadlines: Deadlines;
  /** Told whether Socket.IO called the ack; if not, it still keeps it. */
  readonly onSettled: (pending: PendingAnswer, isAnswered: boolean) => void;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Settles once: by the ack, by its deadline, or by a failure. From then on it holds nothing: a `Map` or `Set` that grows
 * and shrinks leaves tables behind that still point at former entries, and a request that such an entry leads to would
 * outlive its answer by far. (Measured: a tenth of the relay's whole cost.)
 */
export class PendingAnswer implements Deadline {
  /** What Socket.IO calls with the answer. */
  readonly ack = (...answer: unknown[]): void => {
    const open = this.#settle();
    open?.onSettled(this, true);
    open?.resolve(answer);
  };
  #open: Open | undefined;
  readonly #tick: number;

  constructor(open: Open) {
    this.#open = open;
    this.#tick = open.deadlines.add(this, open.question.timeoutMs);
  }

  fail(error: unknown): void {
    const open = this.#settle();
    open?.onSettled(this, false);
    open?.reject(error);
  }

  /** Implements {@linkcode Deadline}. */
  expire(): void {
    if (this.#open !== undefined) this.fail(timeoutOf(this.#open.question));
  }

  #settle(): Open | undefined {
    const open = this.#open;
    this.#open = undefined;
    open?.deadlines.lift(this, this.#tick);
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
