/** Joining and leaving an office (`docs/protocol/calls-and-offices.md#joining-an-office`). */
import { abortable } from "../async/abortable.ts";
import { delay } from "../async/backoff.ts";
import type { Logger } from "../log.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import { fromErrorAck } from "../protocol/errors.ts";
import { JOIN_OFFICE_EVENT, LEAVE_OFFICE_EVENT, LIST_ROOM_EVENT } from "../protocol/events.ts";
import { JoinRefusedError, LeaveRefusedError, useProtocol } from "./errors.ts";
import type { EnterOfficeReq } from "../protocol/office.ts";
import { parseRefusalText, parseVersionRefusalText } from "../protocol/refusal_text.ts";
import type { Connection } from "./connect.ts";
import { rejoinBackoff, type RetryOptions } from "./retry.ts";
import { noticeSleep, onWake } from "./wake.ts";

const ANSWER_TIMEOUT_MS = 15_000;
/** How long the Server may take to answer after a sleep, before the connection counts as lost, in milliseconds. */
const WAKE_TIMEOUT_MS = 1_000;

/** How a Server begins the text of a refusal that any event may get, such as too many requests. */
const CANNOT_HANDLE_JOIN = `Cannot handle "${JOIN_OFFICE_EVENT}"`;
const CANNOT_HANDLE_LEAVE = `Cannot handle "${LEAVE_OFFICE_EVENT}"`;

/** Why a join is retried, and until when. */
const OCCUPIED = { state: "name or seat is taken", end: "until it is free" };
const FULL = { state: "a limit of the Server leaves no place", end: "until there is one" };
const AWAY = { state: "the Server cannot take the member now", end: "until it can" };

/** How a link joins. */
export interface JoinOptions {
  /** When the join fails with a time-out, in milliseconds; never by default. */
  readonly timeoutMs?: number | undefined;
  /** How long a join is retried while the name or seat is taken, in milliseconds; 0 by default. */
  readonly patienceMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface JoinAttempt {
  readonly signal: AbortSignal;
  /** How long it is retried while the name or seat is taken. */
  readonly patienceMs: number;
  /** Called with the reason of each refusal after which it is tried again. */
  readonly onRefused?: ((refusal: JoinRefusedError) => void) | undefined;
  readonly retry: RetryOptions;
  readonly log: Logger;
}

/** Joins on a connection, and retries with back-off while the name or seat is taken, or a limit leaves no place. */
export async function requestJoin(
  connection: Connection,
  membership: EnterOfficeReq,
  { signal, patienceMs, onRefused, retry, log }: JoinAttempt,
): Promise<void> {
  const { office_id, name } = membership;
  const deadlineMs = performance.now() + patienceMs;
  const backoff = rejoinBackoff(retry);
  let isKnown = false;
  while (true) {
    const ack = connection.request(JOIN_OFFICE_EVENT, membership, ANSWER_TIMEOUT_MS);
    const answer = readJoinAck(await abortable(ack, signal), [cannotJoin(office_id), CANNOT_HANDLE_JOIN]);
    if (answer.accepted) return;
    const leftMs = deadlineMs - performance.now();
    const { code, isPassing } = answer;
    const why = `${cannotJoin(office_id)} as "${name}": ${answer.reason}`;
    if (!isPassing || leftMs <= 0) {
      const officeProtocol = parseVersionRefusalText(answer.reason);
      const [own] = /\d+\.\d+$/.exec(answer.reason) ?? [];
      const isWaiting = isPassing && patienceMs > 0 && membership.role === "agent";
      const remedy = officeProtocol === undefined
        ? isWaiting ? "; to wait longer for it, add --patience 2m" : ""
        : `; ${
          useProtocol(officeProtocol)
        }, or restart the other members with --protocol ${own}: an office speaks ` +
          "the version of its first member";
      throw new JoinRefusedError(why + remedy, { serverCode: code, officeProtocol, isPassing });
    }
    onRefused?.(new JoinRefusedError(why, { serverCode: code, isPassing }));
    const fields = { office: office_id, name, reason: answer.reason };
    const { state, end } = stateOf(code);
    // One warning: the name may be taken for hours.
    if (isKnown) log.debug(`${state}, retrying`, fields);
    else log.warn(`${state}, retrying ${patienceMs === Infinity ? end : `for ${patienceMs} ms`}`, fields);
    isKnown = true;
    // The last attempt is at the end of the patience.
    await delay(Math.round(Math.min(backoff.next(), leftMs)), signal);
  }
}

function stateOf(code: number | undefined): typeof OCCUPIED {
  if (code === ErrorCode.UNAVAILABLE) return AWAY;
  return code === ErrorCode.TOO_MANY_REQUESTS ? FULL : OCCUPIED;
}

function cannotJoin(office: string): string {
  return `Cannot join office "${office}"`;
}

/** Checks after each sleep whether the Server still answers a member; closes a connection that has ended without a sign. */
export class SleepCheck implements Disposable {
  readonly #member: () => readonly [Connection | undefined, EnterOfficeReq | undefined];
  readonly #watch: Disposable;
  #latest: { readonly connection: Connection; readonly isAwake: Promise<boolean> } | undefined;

  /** @param member The present connection, and the membership. */
  constructor(member: () => readonly [Connection | undefined, EnterOfficeReq | undefined]) {
    this.#member = member;
    this.#watch = onWake(() => this.#check(...member()));
  }

  /**
   * Resolves when all is read that the Server sent on the present connection during the last sleep, such as the cancel of a
   * request: to `false` when the connection has ended. `undefined` when there is nothing to wait for.
   */
  get isAwake(): Promise<boolean> | undefined {
    noticeSleep();
    const [connection] = this.#member();
    return connection === this.#latest?.connection ? this.#latest?.isAwake : undefined;
  }

  /** Whether this connection is being checked, or was found dead. */
  concerns(connection: Connection): boolean {
    return connection === this.#latest?.connection;
  }

  #check(connection: Connection | undefined, membership: EnterOfficeReq | undefined): void {
    if (connection === undefined || membership === undefined) return;
    const { name: agent, office_id } = membership;
    const body = { agent, req_id: crypto.randomUUID(), office_id };
    const answer = connection.request(LIST_ROOM_EVENT, body, WAKE_TIMEOUT_MS);
    const isAwake = answer.then(() => true, () => false).then((isAwake) => {
      if (!isAwake) void connection.close();
      else if (this.#latest === check) this.#latest = undefined;
      return isAwake;
    });
    const check = this.#latest = { connection, isAwake };
  }

  [Symbol.dispose](): void {
    this.#watch[Symbol.dispose]();
  }
}

export async function leaveOffice(connection: Connection, membership: EnterOfficeReq): Promise<void> {
  const { office_id } = membership;
  const intent = `Cannot leave office "${office_id}"`;
  const ack = await connection.request(LEAVE_OFFICE_EVENT, { office_id }, ANSWER_TIMEOUT_MS);
  const answer = readJoinAck(ack, [intent, CANNOT_HANDLE_LEAVE]);
  if (!answer.accepted) throw new LeaveRefusedError(`${intent}: ${answer.reason}`);
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
    readonly isPassing: boolean;
  };

/**
 * Reads the ack of `server:join_office` and `server:leave_office`: `(true, null)`, `(false, "reason")`, and a later
 * draft's empty ack or `{ code, message }`.
 *
 * @param intents Beginnings such as `Cannot join office "lab"` that the reason is read without: the caller says it.
 */
export function readJoinAck(answer: readonly unknown[], intents: readonly string[] = []): JoinAnswer {
  const [first, second] = answer;
  if (first === false) {
    return refused(parseRefusalText(typeof second === "string" ? second : "no reason given"), intents);
  }
  const error = fromErrorAck(first);
  if (error === undefined) return { accepted: true };
  return refused({ reason: error.message, code: error.code }, intents);
}

/** Refusals because of a taken name or seat, whose holder may be this member's own lost connection. */
const TAKEN = /already (has an agent|exists|registered)|agent already in/i;

/** Refusals that may end by themselves: the seat is taken, a limit is reached, the Server cannot take members now. */
const PASSING: ReadonlySet<number> = new Set([
  ErrorCode.ROOM_FULL,
  ErrorCode.TOO_MANY_REQUESTS,
  ErrorCode.UNAVAILABLE,
]);

function refused(
  { reason, code }: { readonly reason: string; readonly code: number | undefined },
  intents: readonly string[],
): JoinAnswer {
  const isPassing = code !== undefined && PASSING.has(code) || TAKEN.test(reason);
  const said = intents.find((intent) => reason.startsWith(`${intent}: `));
  return {
    accepted: false,
    reason: said === undefined ? reason : reason.slice(said.length + 2),
    code,
    isPassing,
  };
}
