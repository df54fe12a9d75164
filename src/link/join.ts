/** Joining and leaving an office (`docs/protocol/calls-and-offices.md#joining-an-office`). */
import { abortable } from "../async/abortable.ts";
import { delay } from "../async/backoff.ts";
import type { Logger } from "../log.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import { fromErrorAck } from "../protocol/errors.ts";
import { JOIN_OFFICE_EVENT, LEAVE_OFFICE_EVENT } from "../protocol/events.ts";
import { JoinRefusedError, LeaveRefusedError } from "../protocol/local_errors.ts";
import type { EnterOfficeReq } from "../protocol/office.ts";
import { parseRefusalText } from "../protocol/refusal_text.ts";
import type { Connection } from "./connect.ts";
import { rejoinBackoff, type RetryOptions } from "./retry.ts";

/** Time for the answer to a join or leave. */
const ANSWER_TIMEOUT_MS = 15_000;

/** Why a join is retried, and until when. */
const OCCUPIED = { state: "name or seat is taken", end: "until it is free" };
const FULL = { state: "a limit of the Server leaves no place", end: "until there is one" };
const AWAY = { state: "the Server cannot take the member now", end: "until it can" };

/** How a join is tried. */
export interface JoinAttempt {
  readonly signal: AbortSignal;
  /** How long it is retried while the name or seat is taken. */
  readonly patienceMs: number;
  readonly retry: RetryOptions;
  readonly log: Logger;
}

/** Joins on a connection, and retries with back-off while the name or seat is taken, or a limit leaves no place. */
export async function requestJoin(
  connection: Connection,
  membership: EnterOfficeReq,
  { signal, patienceMs, retry, log }: JoinAttempt,
): Promise<void> {
  const { office_id, name } = membership;
  const deadlineMs = performance.now() + patienceMs;
  const backoff = rejoinBackoff(retry);
  let isKnown = false;
  while (true) {
    const ack = connection.request(JOIN_OFFICE_EVENT, membership, ANSWER_TIMEOUT_MS);
    const answer = readJoinAck(await abortable(ack, signal));
    if (answer.accepted) return;
    const waitMs = Math.round(backoff.next());
    if (!answer.mayRetry || performance.now() + waitMs > deadlineMs) {
      const message = `Cannot join office "${office_id}" as "${name}": ${answer.reason}`;
      throw new JoinRefusedError(message, { serverCode: answer.code });
    }
    const fields = { office: office_id, name, reason: answer.reason };
    const { state, end } = stateOf(answer.code);
    // One warning: the name may be taken for hours.
    if (isKnown) log.debug(`${state}, retrying`, fields);
    else log.warn(`${state}, retrying ${patienceMs === Infinity ? end : `for ${patienceMs} ms`}`, fields);
    isKnown = true;
    await delay(waitMs, signal);
  }
}

function stateOf(code: number | undefined): typeof OCCUPIED {
  if (code === ErrorCode.UNAVAILABLE) return AWAY;
  return code === ErrorCode.TOO_MANY_REQUESTS ? FULL : OCCUPIED;
}

/** Leaves the office on a connection. */
export async function leaveOffice(connection: Connection, membership: EnterOfficeReq): Promise<void> {
  const { office_id } = membership;
  const answer = readJoinAck(await connection.request(LEAVE_OFFICE_EVENT, { office_id }, ANSWER_TIMEOUT_MS));
  if (!answer.accepted) throw new LeaveRefusedError(`Cannot leave office "${office_id}": ${answer.reason}`);
}

/** What a Server said to a join or a leave. */
export type JoinAnswer =
  | { readonly accepted: true }
  | {
    readonly accepted: false;
    readonly reason: string;
    /** The code of the protocol, if the Server gave one. */
    readonly code: number | undefined;
    /** Whether a later attempt may succeed. */
    readonly mayRetry: boolean;
  };

/**
 * Reads the ack of `server:join_office` and `server:leave_office`: `(true, null)`, `(false, "reason")`, and a later
 * draft's empty ack or `{ code, message }`.
 */
export function readJoinAck(answer: readonly unknown[]): JoinAnswer {
  const [first, second] = answer;
  if (first === false) {
    return refused(parseRefusalText(typeof second === "string" ? second : "no reason given"));
  }
  const error = fromErrorAck(first);
  return error === undefined ? { accepted: true } : refused({ reason: error.message, code: error.code });
}

/** Refusals because of a taken name or seat, whose holder may be this member's own lost connection. */
const TAKEN = /already (has an agent|exists|registered)|agent already in/i;

/** Refusals that may end by themselves: the seat is taken, a limit is reached, the Server is out of touch. */
const PASSING: ReadonlySet<number> = new Set([
  ErrorCode.ROOM_FULL,
  ErrorCode.TOO_MANY_REQUESTS,
  ErrorCode.UNAVAILABLE,
]);

function refused(
  { reason, code }: { readonly reason: string; readonly code: number | undefined },
): JoinAnswer {
  const mayRetry = code !== undefined && PASSING.has(code) || TAKEN.test(reason);
  return { accepted: false, reason, code, mayRetry };
}
