/** The hook by which events, refusals and bytes are counted. */

export interface MeteredEvent {
  readonly event: string;
  /** What {@linkcode Meter.start} returned when the event arrived. */
  readonly startedAt: number;
}

/**
 * How an event ended:
 *
 * - `handled`: the Server handled it, or relayed it without an ack;
 * - `answered`: relayed, and the Computer answered;
 * - `computer_error`: relayed, and the Computer answered with an error;
 * - `dropped`: relayed, and its sender left before the answer.
 *
 * Errors of the Server are counted by {@linkcode Meter.failed} instead.
 */
export type Outcome = "handled" | "answered" | "computer_error" | "dropped";

/** Why a connection or a handshake was refused, or a connection ended by the Server. */
export const REFUSALS = [
  /** The most TCP connections are open. */
  "tcp_limit",
  /** Several HTTP requests were sent in one piece. */
  "pipelining",
  /** A handshake that is malformed, or without a version. */
  "invalid_request",
  /** A web page that is not allowed, or a `Host` that is not. */
  "origin",
  /** The protocol version is not accepted. */
  "version",
  /** A transport that is not served. */
  "transport",
  /** A body over polling that is too large, before admission or after it, or that there is no memory for. */
  "body_size",
  /** A body over polling with too many packets or values; it ends its session. */
  "body_content",
  /** The most connections wait for admission. */
  "pending_limit",
  /** Too many new connections of one address or principal in a short time. */
  "connect_rate",
  /** The most connections of one address or principal are open. */
  "connection_limit",
  /** The Server shuts down. */
  "closing",
  /** The credentials were refused. */
  "credentials",
  /** A connection that broke a rule before its admission. */
  "before_admission",
  /** A member that did not read. */
  "slow_reader",
  "other",
] as const;
export type Refusal = typeof REFUSALS[number];

/** Counts events. Its methods are called for each event, so they neither allocate nor throw. */
export interface Meter {
  /** Returns the time, in a unit of the meter; a small integer, since V8 would allocate any other number. */
  start(): number;
  /** Counts an event that did not fail on the Server. */
  ended(event: MeteredEvent, outcome: Outcome): void;
  /** Counts an event that the Server refused or could not complete, with the code of the error. */
  failed(event: MeteredEvent, code: number): void;
  refused(refusal: Refusal): void;
  /** Counts the data of an Engine.IO packet from a member. */
  received(data: unknown): void;
  /** Counts the data of an Engine.IO packet to a member. */
  sent(data: unknown): void;
}
