/** Questions of MCP servers: which can be asked, what the person at the Computer is shown, and what they may answer. */
import type { Question } from "../../mcp/call_options.ts";
import { checkContent } from "../../protocol/form_answer.ts";
import { type QuestionField, readForm } from "../../protocol/question_form.ts";
import type { Answer } from "../../protocol/questions.ts";
import { findSecretField } from "../../protocol/secret_fields.ts";
import { fitsApproximately } from "../../json/json.ts";
import { describeError, shorten } from "../../text/text.ts";

const MAX_MESSAGE_LENGTH = 16_384;
const MAX_SCHEMA_BYTES = 65_536;
const MAX_URL_LENGTH = 8_192;
const MAX_REASON_LENGTH = 200;

/** The tool call that the person at the Computer is asked about. */
export interface QuestionedCall {
  /**
   * The name of the office's Agent as the Server states it; `undefined` when the Server does not state it, and for a
   * call by this Computer's own program.
   */
  readonly agent: string | undefined;
  /** The name that the request itself states: any text of any length. It proves nothing. */
  readonly claimedAgent: string;
  /** Whether the call was made by this Computer's own program. */
  readonly isLocal: boolean;
  /** The id of the request. */
  readonly reqId: string;
  /** The id of the call among those of this Computer ({@linkcode ComputerCalls}). */
  readonly callId: string;
  /** The MCP server of the tool. */
  readonly server: string;
  /** The tool's own name. */
  readonly tool: string;
  /** The name that the tool was called by: its alias where it has one. */
  readonly name: string;
  /** How long an answer is waited for, in milliseconds. */
  readonly timeLeftMs: number;
}

/** The members of every question of an MCP server. */
export interface QuestionContext extends QuestionedCall {
  /** The question in the words of the MCP server: any characters. */
  readonly message: string;
  /** What was wrong with the previous answer, one sentence for each field; empty at first. */
  readonly problems: readonly string[];
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

export type ReadableQuestion =
  | {
    readonly mode: "form";
    readonly message: string;
    readonly fields: readonly QuestionField[];
    readonly schema: Readonly<Record<string, unknown>>;
  }
  | { readonly mode: "url"; readonly message: string; readonly url: string };

/** A question as it was read: one that can be asked, or the reason why not, for the model. */
export type QuestionReading =
  | { readonly question: ReadableQuestion; readonly refusal?: undefined }
  | { readonly question?: undefined; readonly refusal: string };

export function readQuestion(question: Question): QuestionReading {
  const { message } = question;
  if (message.length > MAX_MESSAGE_LENGTH) return { refusal: "its text is too long" };
  if (question.mode === "form") return readFormQuestion(message, question.schema);
  // In the normal form of URLs nothing is invisible, and every host is spelled in ASCII.
  const url = URL.parse(question.url);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) {
    return { refusal: "its URL is not one of the web" };
  }
  if (url.username !== "" || url.password !== "") return { refusal: "its URL has a user name in it" };
  if (url.href.length > MAX_URL_LENGTH) return { refusal: "its URL is too long" };
  return { question: { mode: "url", message, url: url.href } };
}

function readFormQuestion(message: string, schema: Readonly<Record<string, unknown>>): QuestionReading {
  if (!fitsApproximately(schema, MAX_SCHEMA_BYTES)) return { refusal: "its form is too large" };
  let fields: QuestionField[];
  try {
    fields = readForm(schema);
  } catch (error) {
    return { refusal: `its form is not one of MCP (${shorten(describeError(error), MAX_REASON_LENGTH)})` };
  }
  const secret = findSecretField(fields, schema);
  if (secret === undefined) return { question: { mode: "form", message, fields, schema } };
  const name = shorten(secret.name, MAX_REASON_LENGTH);
  return { refusal: `its field "${name}" looks like a secret, and a form must not ask for secrets` };
}

/** An answer, or what is wrong with it: one sentence for each field. */
export type CheckedAnswer =
  | { readonly answer: Answer; readonly problems?: undefined }
  | { readonly problems: readonly string[] };

/** Checks an answer of the person at the Computer. A host program in JavaScript may give anything. */
export function checkAnswer(answer: Answer, question: ReadableQuestion): CheckedAnswer {
  if (answer.action !== "accept") {
    return { answer: { action: answer.action === "cancel" ? "cancel" : "decline" } };
  }
  if (question.mode === "url") return { answer: { action: "accept" } };
  const { content, problems } = checkContent(question.fields, answer.content ?? {});
  return problems === undefined ? { answer: { action: "accept", content } } : { problems };
}
