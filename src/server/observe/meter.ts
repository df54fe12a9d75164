/** Counts events, refusals and bytes. Counting neither allocates nor throws: it is done for each event. */
import { turnStartMs } from "../../async/turn_clock.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import * as events from "../../protocol/events.ts";

/** Units of {@linkcode ticksNow} in a second. */
const TICKS_PER_SECOND = 10_000;
const TICKS_PER_MS = TICKS_PER_SECOND / 1_000;

// deno-fmt-ignore
export const LATENCY_BOUNDS_S: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300,
];

/**
 * How an event ended:
 *
 * - `handled`: the Server handled it, or relayed it without an ack;
 * - `answered`: relayed, and the Computer answered, also with the failure that a tool reports itself;
 * - `computer_error`: relayed, and the Computer answered with an error, or with a failed call that has a code;
 * - `dropped`: relayed, and its sender left before the answer;
 * - `error`: the Server refused it, or could not complete it.
 */
const OUTCOMES = ["handled", "answered", "computer_error", "dropped", "error"] as const;
export type Outcome = typeof OUTCOMES[number];

/** Why a connection or a handshake was refused, or a connection ended by the Server. */
const REFUSALS = [
  "tcp_limit", // the most TCP connections are open
  "pipelining", // several HTTP requests were sent in one piece
  "invalid_request", // a handshake that is malformed, or without a version
  "origin", // a web page that is not allowed, or a `Host` that is not
  "version", // the protocol version is not accepted
  "transport", // a transport that is not served
  "body_size", // a body over polling that is too large, before admission or after it, or that there is no memory for
  "body_content", // a body over polling with too many packets or values; it ends its session
  "pending_limit", // the most connections wait for admission
  "connect_rate", // too many new connections of one address or principal in a short time
  "connection_limit", // the most connections of one address or principal are open
  "closing", // the Server shuts down
  "credentials", // the credentials were refused
  "before_admission", // a connection that broke a rule before its admission
  "slow_reader", // a member that did not read
  "mcp_credentials", // an MCP client of a hub without the right: 401 or 403
  "mcp_limit", // one with too many requests: 429
  "mcp_unavailable", // one for which there was no room, or no seat: 503
] as const;
export type Refusal = typeof REFUSALS[number];

const CODES: readonly (number | "other")[] = [...Object.values(ErrorCode), "other"];

/** The most times to answer that are kept of all Computers. */
const MAX_ANSWER_TIMES = 1_024;

export interface MeteredEvent {
  readonly event: string;
  /** What {@linkcode ticksNow} returned when the event arrived. */
  readonly startedAt: number;
}

/** Counts by names from a fixed list, none of which a peer chooses. */
export class Counts<Name> {
  readonly #names: readonly Name[];
  readonly #counts: Float64Array;

  constructor(names: readonly Name[]) {
    this.#names = names;
    this.#counts = new Float64Array(names.length);
  }

  /** Counts a name that is not in the list as the last one, which is then for all others. */
  add(name: Name): void {
    const index = this.#names.indexOf(name);
    const place = index < 0 ? this.#names.length - 1 : index;
    this.#counts[place] = (this.#counts[place] ?? 0) + 1;
  }

  entries(): readonly (readonly [Name, number])[] {
    return this.#names.map((name, index) => [name, this.#counts[index] ?? 0]);
  }
}

/** Times in which Computers answered: the last ones since the last clearing. */
export class AnswerTimes {
  readonly #kept: Float64Array;
  #count = 0;

  constructor(kept = MAX_ANSWER_TIMES) {
    this.#kept = new Float64Array(kept);
  }

  add(seconds: number): void {
    this.#kept[this.#count++ % this.#kept.length] = seconds;
  }

  clear(): void {
    this.#count = 0;
  }

  /** The shortest of the kept times that this share of them does not exceed; `undefined` without any. */
  quantileMs(share: number): number | undefined {
    const sorted = this.#kept.slice(0, this.#count).sort();
    const seconds = sorted[Math.ceil(share * sorted.length) - 1];
    return seconds === undefined ? undefined : seconds * 1_000;
  }
}

/** The counts of one event, or of all events of a kind that the protocol does not name. */
export class EventCounts {
  readonly event: string;
  readonly outcomes = new Counts<Outcome>(OUTCOMES);
  readonly codes = new Counts<number | "other">(CODES);
  /** Latencies by the bound of their bucket, not cumulative. */
  readonly latencies = new Counts([...LATENCY_BOUNDS_S, Infinity]);
  latencySumS = 0;

  constructor(event: string) {
    this.event = event;
  }
}

const known = Object.values(events).filter((name) => /^(client|server):.*[^:_]$/.test(name));

/**
 * The time: a small integer, since V8 would allocate any other number. It wraps after days, and a difference of two times
 * stays right.
 */
export function ticksNow(): number {
  return (turnStartMs() * TICKS_PER_MS) | 0;
}

export function secondsSince(ticks: number): number {
  return ((ticksNow() - ticks) | 0) / TICKS_PER_SECOND;
}

export class Meter {
  readonly bytes = { received: 0, sent: 0 };
  readonly refusals = new Counts<Refusal>(REFUSALS);
  readonly answerTimes = new AnswerTimes();
  readonly #known = new Map(known.map((event) => [event, new EventCounts(event)]));
  readonly #otherRequests = new EventCounts(`${events.CLIENT_EVENT_PREFIX}other`);
  readonly #otherUpdates = new EventCounts(`${events.UPDATE_EVENT_PREFIX}other`);
  readonly #others = new EventCounts("other");

  /** Counts an event that has ended. */
  ended({ event, startedAt }: MeteredEvent, outcome: Outcome): void {
    const counts = this.#countsOf(event);
    counts.outcomes.add(outcome);
    if (outcome !== "answered" && outcome !== "computer_error") return;
    const seconds = secondsSince(startedAt);
    counts.latencies.add(LATENCY_BOUNDS_S.find((bound) => seconds <= bound) ?? Infinity);
    counts.latencySumS += seconds;
    this.answerTimes.add(seconds);
  }

  /** Counts the code of the error with which an event has ended, of the Server or of the Computer. */
  failed({ event }: MeteredEvent, code: number): void {
    this.#countsOf(event).codes.add(code);
  }

  refused(refusal: Refusal): void {
    this.refusals.add(refusal);
  }

  /** Counts what a session received: frames of a WebSocket, or the body of a request. */
  received(bytes: number): void {
    this.bytes.received += bytes;
  }

  /** Counts what a session sent, in the same way. */
  sent(bytes: number): void {
    this.bytes.sent += bytes;
  }

  events(): readonly EventCounts[] {
    return [...this.#known.values(), this.#otherRequests, this.#otherUpdates, this.#others];
  }

  /** A peer chooses the names of events, so all that are unknown count together. */
  #countsOf(event: string): EventCounts {
    const counts = this.#known.get(event);
    if (counts !== undefined) return counts;
    if (event.startsWith(events.CLIENT_EVENT_PREFIX)) return this.#otherRequests;
    return event.startsWith(events.UPDATE_EVENT_PREFIX) ? this.#otherUpdates : this.#others;
  }
}
