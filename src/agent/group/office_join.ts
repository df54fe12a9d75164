/** Joins an office of a group, however long it takes. */
import type { Logger } from "../../log.ts";
import { ConnectionClosedError } from "../../protocol/local_errors.ts";
import { joinPatiently } from "../patient_join.ts";
import type { Office } from "../toolkit/office_view.ts";
import type { GroupedOffice } from "./group_member.ts";

/** An office that is being joined. */
export interface OfficeJoin<Member extends Office> extends GroupedOffice {
  readonly agent: Promise<Member>;
  readonly tried: Promise<void>;
  readonly problem: () => string | undefined;
  /** Why the office cannot be joined, also not later; `undefined` when it can, or may. */
  readonly failure: () => Error | undefined;
}

/** Begins to join an office. One that refuses the Agent is tried again until the signal is aborted. */
export function startJoin<Member extends Office>(
  connect: (signal: AbortSignal) => Promise<Member>,
  { label, signal, logger }: {
    readonly label: string;
    readonly signal: AbortSignal;
    readonly logger: Logger;
  },
): OfficeJoin<Member> {
  const tried = Promise.withResolvers<void>();
  let problem: string | undefined;
  let failure: Error | undefined;
  const onRefused = (refusal: string) => {
    problem = refusal;
    tried.resolve();
  };
  const agent = joinPatiently(connect, { signal, onRefused, logger });
  void agent
    .then(() => undefined, (error: unknown) => {
      failure = error instanceof Error ? error : new ConnectionClosedError(String(error));
    })
    .finally(() => tried.resolve());
  return { label, agent, problem: () => problem, tried: tried.promise, failure: () => failure };
}
