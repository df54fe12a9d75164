/** Questions of a call: what crosses the wire between a Computer and an Agent (`docs/protocol/questions.md`). */
import type { AgentCallAnswer, AgentCallData } from "./call.ts";

/** The key of a result's metadata whose value is an {@linkcode InputRequired} as a JSON string. */
export const A2C_INPUT_REQUIRED = "a2c_input_required";

/** The value of one field of a form. */
export type FieldValue = string | number | boolean | string[];

/** The answer to a question: `accept` with the content of a form, `decline` for a no, `cancel` for no answer. */
export type Answer =
  | { readonly action: "accept"; readonly content?: Record<string, FieldValue> }
  | { readonly action: "decline" }
  | { readonly action: "cancel" };

/**
 * The kinds of questions: a form to fill in, a URL to open, a tool call to approve; and to wait, while the person at the
 * Computer is asked.
 */
export const QUESTION_MODES = ["form", "url", "approval", "wait"] as const;

/** One of {@linkcode QUESTION_MODES}. */
export type QuestionMode = typeof QUESTION_MODES[number];

/** `client:open_input`: the Agent can answer questions of its calls from now on. */
export interface OpenInputReq extends AgentCallData {
  /** The name of the Computer. */
  computer: string;
  /** The kinds of questions that the Agent can answer; kinds that the Computer does not know are ignored. */
  modes: string[];
}

/** The answer to `client:open_input`. */
export interface OpenInputRet extends AgentCallAnswer {
  /** The kinds of questions that the Computer will ask. */
  modes: QuestionMode[];
}

/** The members of every question to an Agent. */
export interface InputRequiredBase {
  /** Names the question in `client:answer_input`; opaque. */
  state: string;
  /** The text of the question. */
  message: string;
  /** How long the Computer waits for the answer, in milliseconds. */
  expires_in_ms: number;
}

/** What a call needs from the Agent's user before it goes on. */
export type InputRequired =
  | InputRequiredBase & { mode: "form"; schema: Record<string, unknown> }
  | InputRequiredBase & { mode: "url"; url: string }
  | InputRequiredBase & { mode: "approval" }
  | InputRequiredBase & { mode: "wait" };

/** `client:answer_input`: answers the question of a call; its ack is the call's result, or the next question. */
export interface AnswerInputReq extends AgentCallData {
  /** The name of the Computer. */
  computer: string;
  /** The `state` of the question. */
  state: string;
  /** What the user decided. */
  action: Answer["action"];
  /** `false` with `cancel` when nobody was asked, because nobody can be, or the question cannot be shown. */
  asked?: boolean;
  /** The values of the form by field, with `accept`. */
  content?: Record<string, unknown>;
  /** Seconds that the call may take from here on, above 0 and up to 86,400; 30 when absent. */
  timeout?: number;
}
