/** Reads the ack of a join or a leave (`docs/protocol/calls-and-offices.md#joining-an-office`). */
import { ErrorCode } from "../protocol/error_codes.ts";
import { fromErrorAck } from "../protocol/errors.ts";

/** What a Server said to a join or a leave. */
export type JoinAnswer =
  | { readonly accepted: true }
  | { readonly accepted: false; readonly reason: string; readonly isTaken: boolean };

/**
 * Reads the ack of `server:join_office` and `server:leave_office`: `(true, null)`, `(false, "reason")`, and a later
 * draft's empty ack or `{ code, message }`.
 */
export function readJoinAck(answer: readonly unknown[]): JoinAnswer {
  const [first, second] = answer;
  if (first === false) return refused(typeof second === "string" ? second : "no reason given");
  const error = fromErrorAck(first);
  return error === undefined ? { accepted: true } : refused(error.message, error.code);
}

/**
 * Refusals because of a taken name or seat, whose holder may be this member's own lost connection; and those of a Server of
 * several processes that cannot decide now.
 */
const TAKEN = /already (has an agent|exists|registered)|agent already in|lost touch .* try again$/i;

function refused(reason: string, code?: number): JoinAnswer {
  return { accepted: false, reason, isTaken: code === ErrorCode.ROOM_FULL || TAKEN.test(reason) };
}
