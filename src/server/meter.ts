/** The hook by which events are counted. */

/** What is known of an event when it ends. */
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

/** Counts events. Its methods are called for each event, so they neither allocate nor throw. */
export interface Meter {
  /** Returns the time, in a unit of the meter; a small integer, since V8 would allocate any other number. */
  start(): number;
  /** Counts an event that did not fail on the Server. */
  ended(event: MeteredEvent, outcome: Outcome): void;
  /** Counts an event that the Server refused or could not complete, with the code of the error. */
  failed(event: MeteredEvent, code: number): void;
}
