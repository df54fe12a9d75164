/** Joins an office, however long it takes. */
import { Backoff, delay } from "../../async/backoff.ts";
import type { Logger } from "../../log.ts";
import { ConnectionClosedError, JoinRefusedError } from "../../link/errors.ts";
import { describeError } from "../../text/text.ts";
import type { Office } from "../toolkit/office.ts";
import type { GroupedOffice } from "./group_member.ts";

/** The waits before an office that could not be joined is joined again, in milliseconds. */
const JOIN_AGAIN = { firstMs: 1_000, maxMs: 10_000 };

/** An office that is being joined. */
export interface OfficeJoin<Member extends JoinedOffice> extends GroupedOffice {
  readonly agent: Promise<Member>;
  readonly tried: Promise<void>;
  readonly problem: () => string | undefined;
  /** Why the office cannot be joined, also not later; `undefined` when it can, or may. */
  readonly failure: () => Error | undefined;
  /** Gives the join up, and closes the Agent. May be called twice. */
  readonly close: () => Promise<void>;
}

/** The Agent in an office, which ends when it is closed. */
export interface JoinedOffice extends Office {
  close(): Promise<void>;
}

export interface OfficeJoinOptions {
  readonly label: string;
  readonly signal?: AbortSignal | undefined;
  readonly logger: Logger;
  /**
   * Why the office is not joined yet, in words for users; `undefined` when it is not tried again. By default, an office that
   * refuses the Agent is tried again.
   */
  readonly explain?: ((error: unknown, signal: AbortSignal) => Promise<string | undefined>) | undefined;
}

/** Begins to join an office, and goes on trying until it is closed, or the signal is aborted. */
export function startJoin<Member extends JoinedOffice>(
  connect: (signal: AbortSignal) => Promise<Member>,
  { label, signal: stop, logger, explain = explainRefusal }: OfficeJoinOptions,
): OfficeJoin<Member> {
  const closing = new AbortController();
  const signal = AbortSignal.any([closing.signal, ...(stop === undefined ? [] : [stop])]);
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
          logger.warn("office not joined yet; trying again", {
            office: label,
            problem: describeError(error),
          });
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
  const close = async () => {
    closing.abort();
    const joined = await agent.catch(() => undefined);
    await joined?.close();
  };
  return {
    label,
    agent,
    signal,
    problem: () => problem,
    tried: tried.promise,
    failure: () => failure,
    close,
  };
}

function explainRefusal(error: unknown): Promise<string | undefined> {
  return Promise.resolve(error instanceof JoinRefusedError ? describeError(error) : undefined);
}
