/** What a tool call may bring along: limits, a listener for its progress, and somebody who answers its questions. */
import type { Answer } from "../protocol/questions.ts";

export interface RequestLimits {
  /** How long it may take, in milliseconds; `Infinity` where only the signal ends it. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** How far a call has come, as its server reports it. */
export interface Progress {
  /** A finite number, which should grow with each report. */
  readonly progress: number;
  /** The value of `progress` at the end: finite and above 0. */
  readonly total?: number;
  /** What the tool is doing. */
  readonly message?: string;
}

/** A question that a server asks during a call (elicitation). */
export type Question =
  | {
    readonly mode: "form";
    readonly message: string;
    /** The JSON Schema of the answer's content, unchecked. */
    readonly schema: Record<string, unknown>;
  }
  | {
    readonly mode: "url";
    readonly message: string;
    /** Where a person continues; it is shown, never fetched. */
    readonly url: string;
    readonly elicitationId: string | undefined;
  };

/** Answers a question. The signal is aborted when the call ends first; a rejection counts as "cancel". */
export type Ask = (question: Question, options: { readonly signal: AbortSignal }) => Promise<Answer>;

export interface ToolCall {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
  /** Whether the tool can only be called as a task; false by default. */
  readonly needsTask?: boolean;
}

export interface CallOptions extends RequestLimits {
  /** Called for each progress notification of the call, until it ends. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** How long a call that runs as a task may take, in milliseconds, for its server; `timeoutMs` by default. */
  readonly taskMs?: number | undefined;
  /** Answers the questions of the call; without it they are declined. */
  readonly ask?: Ask | undefined;
  /** Whether the Computer's own program made the call; false by default. */
  readonly isLocal?: boolean | undefined;
}
