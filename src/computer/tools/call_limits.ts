/** What one office may ask of a Computer at once. */

/** Bounds of what runs and waits at once for the Agent of an office; each has a default. */
export interface CallLimits {
  /** Tool calls, those that wait for a confirmation included; 256 by default. More are answered `isError`. */
  readonly maxCalls: number;
  /** Confirmations that wait for an answer; 16 by default. Calls that would need another are answered 4005. */
  readonly maxConfirmations: number;
  /** Requests of every kind; 1,024 by default. More are answered 500. */
  readonly maxRequests: number;
}

/** The defaults of {@linkcode CallLimits}. */
export const DEFAULT_CALL_LIMITS: CallLimits = { maxCalls: 256, maxConfirmations: 16, maxRequests: 1_024 };
