/** The counters of a Server, in flat lists of numbers: counting allocates nothing. */
import { LongPacket } from "../engine/long_packet.ts";
import { Buffer } from "node:buffer";
import { ErrorCode } from "../../protocol/error_codes.ts";
import * as events from "../../protocol/events.ts";
import { CLIENT_EVENT_PREFIX, SERVER_EVENT_PREFIX, UPDATE_EVENT_PREFIX } from "../../protocol/events.ts";
import { type Meter, type MeteredEvent, type Outcome, type Refusal, REFUSALS } from "./meter.ts";

/** Units of {@linkcode Tally.start} in a second. */
const TICKS_PER_SECOND = 10_000;
const TICKS_PER_MS = TICKS_PER_SECOND / 1_000;

export const LATENCY_BOUNDS_S: readonly number[] = [
  0.001,
  0.0025,
  0.005,
  0.01,
  0.025,
  0.05,
  0.1,
  0.25,
  0.5,
  1,
  2.5,
  5,
  10,
  30,
  60,
  300,
];
const BOUNDS_IN_TICKS = LATENCY_BOUNDS_S.map((bound) => bound * TICKS_PER_SECOND);

/** The events that have a name of their own in the metrics: those of the protocol, and one for each kind of others. */
const FAMILIES: readonly string[] = [
  ...new Set(Object.values(events).filter(isRequestName)),
  `${CLIENT_EVENT_PREFIX}other`,
  `${UPDATE_EVENT_PREFIX}other`,
  "other",
];
const [OTHER_CLIENT, OTHER_UPDATE, OTHER] = [FAMILIES.length - 3, FAMILIES.length - 2, FAMILIES.length - 1];
const FAMILY_INDEX: ReadonlyMap<string, number> = new Map(FAMILIES.map((name, index) => [name, index]));

/** A peer chooses the names of events, so all that are unknown count together. */
function familyOf(event: string): number {
  const known = FAMILY_INDEX.get(event);
  if (known !== undefined) return known;
  if (event.startsWith(CLIENT_EVENT_PREFIX)) return OTHER_CLIENT ?? 0;
  return (event.startsWith(UPDATE_EVENT_PREFIX) ? OTHER_UPDATE : OTHER) ?? 0;
}

/** Whether an export of the module of events is the name of an event that peers send, and not a prefix. */
function isRequestName(name: string): boolean {
  const isSent = name.startsWith(CLIENT_EVENT_PREFIX) || name.startsWith(SERVER_EVENT_PREFIX);
  return isSent && !name.endsWith(":") && !name.endsWith("_");
}

const OUTCOMES: readonly (Outcome | "error")[] = [
  "handled",
  "answered",
  "computer_error",
  "dropped",
  "error",
];

const ERROR_CODES: readonly number[] = Object.values(ErrorCode);
export const CODES: readonly string[] = [...ERROR_CODES.map(String), "other"];

/** The latencies of one event: the number in each bucket, and their sum. */
export interface Latencies {
  readonly event: string;
  /** Not cumulative; the last one is of latencies above all bounds. */
  readonly buckets: readonly number[];
  readonly sumSeconds: number;
}

export interface Count<Label extends string> {
  readonly labels: Readonly<Record<Label, string>>;
  readonly value: number;
}

const BUCKETS = LATENCY_BOUNDS_S.length + 1;

/** Counts for Prometheus. Its labels have a bounded set of values, none of which a peer chooses. */
export class Tally implements Meter {
  readonly #ended = new Float64Array(FAMILIES.length * OUTCOMES.length);
  readonly #failed = new Float64Array(FAMILIES.length * CODES.length);
  readonly #buckets = new Float64Array(FAMILIES.length * BUCKETS);
  readonly #sums = new Float64Array(FAMILIES.length);
  readonly #refused = new Float64Array(REFUSALS.length);
  readonly #bytes = new Float64Array(2);

  /** Implements {@linkcode Meter.start}. It wraps after days, and a difference of two times stays right. */
  start(): number {
    return (performance.now() * TICKS_PER_MS) | 0;
  }

  ended({ event, startedAt }: MeteredEvent, outcome: Outcome): void {
    const family = familyOf(event);
    add(this.#ended, family * OUTCOMES.length + OUTCOMES.indexOf(outcome), 1);
    if (outcome !== "answered" && outcome !== "computer_error") return;
    const ticks = (this.start() - startedAt) | 0;
    let bucket = 0;
    while (bucket < BUCKETS - 1 && ticks > (BOUNDS_IN_TICKS[bucket] ?? 0)) bucket++;
    add(this.#buckets, family * BUCKETS + bucket, 1);
    add(this.#sums, family, ticks / TICKS_PER_SECOND);
  }

  failed({ event }: MeteredEvent, code: number): void {
    const family = familyOf(event);
    add(this.#ended, family * OUTCOMES.length + OUTCOMES.indexOf("error"), 1);
    const index = ERROR_CODES.indexOf(code);
    add(this.#failed, family * CODES.length + (index < 0 ? CODES.length - 1 : index), 1);
  }

  refused(refusal: Refusal): void {
    add(this.#refused, REFUSALS.indexOf(refusal), 1);
  }

  received(data: unknown): void {
    add(this.#bytes, 0, bytesOf(data));
  }

  sent(data: unknown): void {
    add(this.#bytes, 1, bytesOf(data));
  }

  /** The events that have ended, by name and outcome; without those that never occurred. */
  *requests(): Generator<Count<"event" | "outcome">> {
    for (const { value, row, column } of cells(this.#ended, OUTCOMES.length)) {
      yield { labels: { event: FAMILIES[row] ?? "", outcome: OUTCOMES[column] ?? "" }, value };
    }
  }

  *errors(): Generator<Count<"event" | "code">> {
    for (const { value, row, column } of cells(this.#failed, CODES.length)) {
      yield { labels: { event: FAMILIES[row] ?? "", code: CODES[column] ?? "" }, value };
    }
  }

  /** The refused connections, by reason: also those that never occurred, so that a rate can be told from the first on. */
  *refusals(): Generator<Count<"reason">> {
    for (const [index, reason] of REFUSALS.entries()) {
      yield { labels: { reason }, value: this.#refused[index] ?? 0 };
    }
  }

  /** The latencies of relayed requests that a Computer answered, by event. */
  *latencies(): Generator<Latencies> {
    for (const [index, event] of FAMILIES.entries()) {
      const buckets = [...this.#buckets.subarray(index * BUCKETS, (index + 1) * BUCKETS)];
      if (buckets.some((count) => count > 0)) yield { event, buckets, sumSeconds: this.#sums[index] ?? 0 };
    }
  }

  get bytes(): { readonly received: number; readonly sent: number } {
    const [received = 0, sent = 0] = this.#bytes;
    return { received, sent };
  }
}

function add(counts: Float64Array, index: number, value: number): void {
  counts[index] = (counts[index] ?? 0) + value;
}

function* cells(counts: Float64Array, columns: number) {
  for (const [index, value] of counts.entries()) {
    if (value > 0) yield { value, row: Math.floor(index / columns), column: index % columns };
  }
}

function bytesOf(data: unknown): number {
  if (typeof data === "string") return Buffer.byteLength(data);
  return ArrayBuffer.isView(data) || data instanceof LongPacket ? data.byteLength : 0;
}
