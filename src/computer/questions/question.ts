/** Questions of MCP servers to the person at the Computer: what they are shown, and what they may answer. */
import type { QuestionField } from "../../protocol/question_form.ts";
import type { Answer } from "../../protocol/questions.ts";

/** The members of every question of an MCP server. */
export interface QuestionContext {
  /**
   * The name of the office's Agent as the Server states it; `undefined` when the Server does not state it, and for a
   * call by this Computer's own program.
   */
  readonly agent: string | undefined;
  /** The name that the request itself states: any text of any length. It proves nothing. */
  readonly claimedAgent: string;
  /** Whether the call was made by this Computer's own program. */
  readonly isLocal: boolean;
  /** The id of the call. */
  readonly reqId: string;
  /** The MCP server that asks. */
  readonly server: string;
  /** The own name of the tool whose call it asks in. */
  readonly tool: string;
  /** The name that the tool was called by: its alias where it has one. */
  readonly name: string;
  /** The question in the words of the MCP server: any characters. */
  readonly message: string;
  /** What was wrong with the previous answer, one sentence for each field; empty at first. */
  readonly problems: readonly string[];
  /** How long an answer is waited for, in milliseconds. */
  readonly timeLeftMs: number;
  /** Aborted when the call ends or nobody waits for an answer any more, so a form can be closed. */
  readonly signal: AbortSignal;
}

/** A question of an MCP server: a form to fill in, or a URL to open. */
export type QuestionRequest =
  | QuestionContext & {
    readonly mode: "form";
    /** The fields. None of them looks like a secret. */
    readonly fields: readonly QuestionField[];
    /** The fields as the MCP server wrote them: JSON Schema. */
    readonly schema: Readonly<Record<string, unknown>>;
  }
  | QuestionContext & {
    readonly mode: "url";
    /** Where the person goes on: `https:` or `http:`. Show all of it, and open it only when the person agrees. */
    readonly url: string;
  };

/**
 * Answers a question of an MCP server during a tool call; `undefined` when nobody is there to ask. Content that does not
 * fit the form is asked for again, with `problems`. It may take any time; other calls go on meanwhile, and may ask at
 * the same time.
 */
export type AnswerQuestion = (request: QuestionRequest) => Answer | undefined | Promise<Answer | undefined>;
