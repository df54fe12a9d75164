/** Joins an office, however long it takes. */
import { Backoff, delay } from "../../async/backoff.ts";
import type { Logger } from "../../log.ts";
import { ConnectionClosedError, JoinRefusedError } from "../../link/errors.ts";
import { describeError } from "../../text/text.ts";
import type { Office } from "../toolkit/office_view.ts";
import type { GroupedOffice } from "./group_member.ts";

/** The waits before an office that could not be joined is joined again, in milliseconds. */
const JOIN_AGAIN = { firstMs: 1_000, maxMs: 10_000 };

/** An office that is being joined. */
export interface OfficeJoin<Member extends Office> extends GroupedOffice {
  readonly agent: Promise<Member>;
  readonly tried: Promise<void>;
  readonly problem: () => string | undefined;
  /** Why the office cannot be joined, also not later; `undefined` when it can, or may. */
  readonly failure: () => Error | undefined;
}

export interface OfficeJoinOptions {
  readonly label: string;
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /**
   * Why the office is not joined yet, in words for users; `undefined` when it is not tried again. By default, an office that
   * refuses the Agent is tried again.
   */
  readonly explain?: ((error: unknown, signal: AbortSignal) => Promise<string | undefined>) | undefined;
}

/** Begins to join an office, and goes on trying until the signal is aborted. */
export function startJoin<Member extends Office>(
  connect: (signal: AbortSignal) => Promise<Member>,
  { label, signal, logger, explain = explainRefusal }: OfficeJoinOptions,
): OfficeJoin<Member> {
  const tried = Promise.withResolvers<void>();
  let problem: string | undefined;
  let failure: Error | undefined;
  const join = async (): Promise<Member> => {
    const backoff = new Backoff(JOIN_AGAIN);
    while (true) {
      try {
        const member = await connect(signal);
        if (problem !== undefined) logger.info("office joined", { office: label });
        problem = undefined;
        return member;
      } catch (error) {
        const why = signal.aborted ? undefined : await explain(error, signal);
        if (why === undefined) throw error;
        if (problem === undefined) {
          logger.warn("office not joined yet; trying again", { office: label, problem: why });
        }
        problem = why;
        tried.resolve();
        await delay(backoff.next(), signal);
      }
    }
  };
  const agent = join();
  void agent
    .then(() => undefined, (error: unknown) => {
      failure = error instanceof Error ? error : new ConnectionClosedError(String(error));
    })
    .finally(() => tried.resolve());
  return { label, agent, signal, problem: () => problem, tried: tried.promise, failure: () => failure };
}

function explainRefusal(error: unknown): Promise<string | undefined> {
  return Promise.resolve(error instanceof JoinRefusedError ? describeError(error) : undefined);
}
