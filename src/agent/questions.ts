/** Questions of a call to the Agent's user: what they are shown, and how their answers go back. */
import { MAX_TIMER_MS } from "../async/backoff.ts";
import { abortable } from "../async/abortable.ts";
import { withDeadline } from "../async/deadline.ts";
import { isRecord } from "../json/json.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import { SmcpError } from "../protocol/errors.ts";
import { ANSWER_INPUT_EVENT } from "../protocol/events.ts";
import { RequestTimeoutError } from "../link/errors.ts";
import { parseInputRequired } from "../protocol/answers.ts";
import { type QuestionField, readForm } from "../protocol/question_form.ts";
import { A2C_INPUT_REQUIRED, type Answer, type InputRequired } from "../protocol/questions.ts";
import { MAX_TIMEOUT_SECONDS } from "../protocol/call.ts";
import { parseCallToolResult } from "../protocol/tool_result.ts";
import { findSecretField } from "../protocol/secret_fields.ts";
import { A2C_MCP_SERVER, type CallToolResult } from "../protocol/tools.ts";
import { describeError, shorten } from "../text/text.ts";
import type { Requests } from "./requests.ts";

const MAX_ROUNDS = 256;
/** The most that the waits of one call for the person at its Computer may take together, in milliseconds. */
const MAX_WAIT_MS = 3_600_000;
/** The longest question that is read, in characters: more than our Computer passes on. */
const MAX_QUESTION_LENGTH = 512 * 1024;
const MAX_URL_LENGTH = 8_192;
/** The most problems of one answer that are told, and the most characters of each. */
const MAX_PROBLEMS = 20;
const MAX_PROBLEM_LENGTH = 1_000;

/** The members of every question. */
export interface QuestionBase {
  /** The Computer of the call. */
  readonly computer: string;
  /** The tool, by the name that it was called by. */
  readonly tool: string;
  /** The MCP server that it is about; `undefined` when the Computer does not say. */
  readonly mcpServer: string | undefined;
  /** The id of the call. */
  readonly reqId: string;
  /** The question; for a form or a URL in the words of the MCP server: any characters. */
  readonly message: string;
  /** What was wrong with the previous answer, one sentence for each field; empty at first. */
  readonly problems: readonly string[];
  /** How long the Computer waits for the answer, in milliseconds. */
  readonly timeLeftMs: number;
  /** Aborted when the call is, or when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** A question for the Agent's user: a form to fill in, a URL to open, or a call to approve (`docs/protocol/questions.md`). */
export type AgentQuestion =
  | QuestionBase & {
    readonly mode: "form";
    /** The fields. */
    readonly fields: readonly QuestionField[];
    /** The fields as the MCP server wrote them: JSON Schema. */
    readonly schema: Readonly<Record<string, unknown>>;
  }
  | QuestionBase & {
    readonly mode: "url";
    /**
     * Where the user goes on: `https:` or `http:`, in the normal form of URLs and without a user name. Show all of it, and
     * open it only when the user agrees.
     */
    readonly url: string;
  }
  | QuestionBase & {
    readonly mode: "approval";
    /** The arguments with which the tool would run. Show them. */
    readonly params: Readonly<Record<string, unknown>>;
  };

/**
 * Answers a question of a call: `accept`, with the content of a form; `decline`; `cancel` when the user did not decide; or
 * `undefined` when nobody can be asked. To accept an approval lets the call run. When it throws, the answer is `cancel`.
 */
export type OnQuestion = (question: AgentQuestion) => Answer | undefined | Promise<Answer | undefined>;

/** The person at the Computer is asked about a call, and the call waits for them. */
export type CallWait = Pick<
  QuestionBase,
  "computer" | "tool" | "mcpServer" | "reqId" | "message" | "timeLeftMs"
>;

export interface AskingCall {
  readonly requests: Requests;
  readonly tool: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly reqId: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly onQuestion: OnQuestion | undefined;
  readonly onWait: ((wait: CallWait) => void) | undefined;
  /** Called when the tool may run from now on: its MCP server asks, or somebody may let the call go on without an answer. */
  readonly onBegun: () => void;
  /** Sends the call again, under the same id. */
  readonly repeat: () => Promise<CallToolResult>;
}

type ReadQuestion = InputRequired | { readonly mode: "unknown"; readonly state: string };

type AskedQuestion = Exclude<InputRequired, { mode: "wait" }>;

/**
 * Answers the questions of a call until its result has come. An answer of the user gives the call its time anew. Questions
 * that nobody is asked share the time of one request, so that a Computer cannot hold a call by asking.
 *
 * @throws {RequestTimeoutError} when that time is over.
 */
export async function answerQuestions(result: CallToolResult, call: AskingCall): Promise<CallToolResult> {
  let last = result;
  let problems: readonly string[] = [];
  const waits = new WaitBudget();
  let endsAtMs = performance.now() + call.timeoutMs;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const required = readInputRequired(last);
    if (required === undefined) return last;
    if (required.mode !== "approval") call.onBegun();
    const server = last.meta?.[A2C_MCP_SERVER];
    const waitMs = required.mode === "wait" ? waits.grant(required.expires_in_ms) : 0;
    const answer = required.mode === "wait"
      ? answerWait(call, { mcpServer: server, message: required.message, timeLeftMs: waitMs })
      : await askUser(required, call, { problems, mcpServer: server });
    if (answer !== undefined) endsAtMs = performance.now() + call.timeoutMs + waitMs;
    const timeoutMs = endsAtMs - performance.now();
    if (timeoutMs <= 0) throw outOfTime(call);
    try {
      last = await sendAnswer(required.state, answer, { call, timeoutMs });
      problems = [];
    } catch (error) {
      const wrong = problemsOf(error);
      if (wrong === undefined && !isNotOpen(error)) throw error;
      problems = wrong ?? [];
      if (wrong !== undefined) continue;
      call.onBegun();
      last = await call.repeat();
    }
  }
  return last;
}

/** The question in a result; `undefined` when the result has none, or none that can be read. */
function readInputRequired({ meta }: CallToolResult): ReadQuestion | undefined {
  const text = meta?.[A2C_INPUT_REQUIRED];
  if (typeof text !== "string" || text.length > MAX_QUESTION_LENGTH) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
    return parseInputRequired(value);
  } catch {
    const state = isRecord(value) ? value["state"] : undefined;
    return typeof state === "string" ? { mode: "unknown", state } : undefined;
  }
}

/** `undefined` without any time left: the call then ends. */
function answerWait(
  call: AskingCall,
  wait: Pick<CallWait, "mcpServer" | "message" | "timeLeftMs">,
): Answer | undefined {
  if (wait.timeLeftMs <= 0) return undefined;
  const { requests, tool, reqId, onWait } = call;
  try {
    onWait?.({ computer: requests.shownName, tool, reqId, ...wait });
  } catch (error) {
    requests.warn("a listener failed", { listener: "onWait", req_id: reqId, error: describeError(error) });
  }
  return { action: "accept" };
}

async function askUser(
  required: Exclude<ReadQuestion, { mode: "wait" }>,
  call: AskingCall,
  about: { readonly problems: readonly string[]; readonly mcpServer: string | undefined },
): Promise<Answer | undefined> {
  const { onQuestion, requests, signal } = call;
  if (onQuestion === undefined || required.mode === "unknown" || required.expires_in_ms <= 0) {
    return undefined;
  }
  // A program may set a timer to it.
  const timeLeftMs = Math.min(required.expires_in_ms, MAX_TIMER_MS);
  try {
    return await withDeadline(timeLeftMs, { reason: expired, signal }, async (signal) => {
      const question = toQuestion(required, call, { ...about, timeLeftMs, signal });
      if (question !== undefined) {
        const answer = await abortable(Promise.resolve(onQuestion(question)), signal);
        // Throws for an answer that cannot be sent.
        JSON.stringify(answer);
        return answer;
      }
      const problem = "a question was not shown: it asks for a secret, or is malformed";
      requests.warn(problem, { req_id: call.reqId });
      return undefined;
    });
  } catch (error) {
    signal?.throwIfAborted();
    requests.warn("a question was not answered", { req_id: call.reqId, error: describeError(error) });
    return { action: "cancel" };
  }
}

function expired(): RequestTimeoutError {
  return new RequestTimeoutError("Cannot wait for the answer to a question: it has expired");
}

/** `undefined` for a form or a URL that cannot be shown, and for a form that asks for a secret. */
function toQuestion(
  required: AskedQuestion,
  { requests, tool, params, reqId }: AskingCall,
  about: Pick<QuestionBase, "problems" | "mcpServer" | "timeLeftMs" | "signal">,
): AgentQuestion | undefined {
  const base = { ...about, computer: requests.shownName, tool, reqId, message: required.message };
  switch (required.mode) {
    case "form": {
      const fields = fieldsOf(required.schema);
      return fields && { ...base, mode: "form", fields, schema: required.schema };
    }
    case "url": {
      const url = readWebUrl(required.url);
      return url === undefined ? undefined : { ...base, mode: "url", url };
    }
    case "approval":
      return { ...base, mode: "approval", params };
  }
}

/** A Computer should not pass on a form for a secret; this one may be of another program. */
function fieldsOf(schema: Readonly<Record<string, unknown>>): QuestionField[] | undefined {
  try {
    const fields = readForm(schema);
    return findSecretField(fields, schema) === undefined ? fields : undefined;
  } catch {
    return undefined;
  }
}

/** The normal form, in which nothing is invisible and the host is spelled in ASCII; a user name could pass for the host. */
function readWebUrl(text: string): string | undefined {
  const url = text.length > MAX_URL_LENGTH ? null : URL.parse(text);
  if (url === null || !["https:", "http:"].includes(url.protocol)) return undefined;
  return url.username === "" && url.password === "" && url.href.length <= MAX_URL_LENGTH
    ? url.href
    : undefined;
}

function outOfTime({ timeoutMs }: AskingCall): RequestTimeoutError {
  return new RequestTimeoutError(
    `Cannot complete the call: the Computer has asked for ${timeoutMs} ms what nobody can be asked`,
  );
}

async function sendAnswer(
  state: string,
  answer: Answer | undefined,
  { call, timeoutMs: wantedMs }: { readonly call: AskingCall; readonly timeoutMs: number },
): Promise<CallToolResult> {
  const { requests, signal } = call;
  const timeoutMs = Math.min(wantedMs, MAX_TIMEOUT_SECONDS * 1000);
  const { action = "cancel" } = answer ?? {};
  const content = answer?.action === "accept" ? answer.content : undefined;
  const asked = answer === undefined ? false : undefined;
  const options = { signal, timeoutMs, parse: parseCallToolResult, isFailureLogged: true };
  return await requests.ask(ANSWER_INPUT_EVENT, { state, action, asked, content }, options);
}

/** What was wrong with the content of an answer; `undefined` for any other error. */
function problemsOf(error: unknown): readonly string[] | undefined {
  if (!(error instanceof SmcpError) || error.code !== ErrorCode.BAD_REQUEST) return undefined;
  const { field, problems } = error.details ?? {};
  if (field !== "content") return undefined;
  if (!Array.isArray(problems)) return [error.message];
  const texts = problems.slice(0, MAX_PROBLEMS).filter((problem) => typeof problem === "string");
  return texts.map((problem) => shorten(problem, MAX_PROBLEM_LENGTH));
}

/** Whether the question has ended, so that the call has gone on without an answer. */
function isNotOpen(error: unknown): boolean {
  return error instanceof SmcpError && error.code === ErrorCode.NOT_FOUND &&
    error.details?.["state"] !== undefined && error.details["reason"] !== "unknown";
}

/** The waits of one call. A Computer cannot make them longer by asking for more, or for more of them. */
export class WaitBudget {
  readonly #now: () => number;
  #endsAt: number | undefined;

  /** @param now The clock, in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** How long the call may wait, of what the Computer asks for; nothing when the time is over, which the first wait begins. */
  grant(askedMs: number): number {
    const now = this.#now();
    this.#endsAt ??= now + MAX_WAIT_MS;
    return Math.max(0, Math.min(askedMs, this.#endsAt - now));
  }
}
