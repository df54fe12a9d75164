/**
 * Questions to the Agent's user (`docs/protocol/questions.md`): whether the Agent takes them, which are open, and the
 * answers to them.
 */
import { abortable } from "../../async/abortable.ts";
import { MAX_TIMER_MS } from "../../async/backoff.ts";
import { BoundedMap } from "../../async/bounded_collections.ts";
import type { CheckedContent } from "../../protocol/form_answer.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { SmcpError } from "../../protocol/errors.ts";
import {
  A2C_INPUT_REQUIRED,
  type Answer,
  type AnswerInputReq,
  QUESTION_MODES,
  type QuestionMode,
} from "../../protocol/questions.ts";
import { timeoutMsOf } from "../../protocol/call.ts";
import { A2C_MCP_SERVER, type CallToolResult, type ToolResultMeta } from "../../protocol/tools.ts";
import type { QuestionLimits } from "../../config/limits.ts";
import { type RunningCall, ToolCallCancelled } from "../shared/running_call.ts";

/** The most questions that are remembered after their end, to say why an answer comes too late. */
const MAX_ENDED = 256;
/** The random bytes of a state: nobody can guess it. */
const STATE_BYTES = 24;

/** Why a question is declined when there are as many as {@linkcode QuestionLimits.maxQuestions}. */
export const TOO_MANY = "too many questions are open; try again later";

export function unansweredIn(timeoutMs: number): string {
  return `nobody answered in ${timeoutMs / 1000} s`;
}

export interface AgentQuestion {
  readonly mode: QuestionMode;
  readonly server: string;
  readonly message: string;
  /** The further members of the question on the wire. */
  readonly members: Readonly<Record<string, unknown>>;
  /** The sentence for a reader that knows nothing of questions. */
  readonly sentence: string;
  readonly meta?: ToolResultMeta;
  /** Checks the content of an answer; without it, an answer has no content. */
  readonly check?: (content: Readonly<Record<string, unknown>>) => CheckedContent;
}

/** An answer, and why nobody gave it where the Computer itself decided, as the end of a sentence. */
export interface QuestionOutcome {
  readonly answer: Answer;
  readonly why?: string;
  /** Whether the Agent could ask nobody. */
  readonly isUnasked?: boolean;
}

type EndReason = "answered" | "expired" | "ended";

interface OpenQuestion {
  readonly call: RunningCall;
  readonly question: AgentQuestion;
  /** Takes the answer, and lets the next request wait for the call. */
  readonly onAnswer: (answer: Answer, request: AnswerInputReq) => void;
}

/** An Agent that waits for the person at the Computer. */
interface Wait {
  readonly call: RunningCall;
  isOver: boolean;
}

export class AgentChannel {
  readonly #limits: QuestionLimits;
  readonly #open = new Map<string, OpenQuestion>();
  /** The calls whose Agent waits for the person at the Computer: at most one state for each. */
  readonly #waits = new Map<string, Wait>();
  readonly #ended = new BoundedMap<string, EndReason>(MAX_ENDED);
  #modes: ReadonlySet<QuestionMode> = new Set();

  constructor({ maxQuestions, questionTimeoutMs }: QuestionLimits) {
    // A timer that is set to more ends at once.
    this.#limits = { maxQuestions, questionTimeoutMs: Math.min(questionTimeoutMs, MAX_TIMER_MS) };
  }

  /** Answers `client:open_input`: the Agent takes questions of these kinds from now on. Gives the kinds that are known. */
  open(modes: readonly string[]): QuestionMode[] {
    const known = QUESTION_MODES.filter((mode) => modes.includes(mode));
    this.#modes = new Set(known);
    return known;
  }

  /** The Agent or the connection has gone: no questions until the next {@linkcode AgentChannel.open}. */
  endAgent(): void {
    this.#modes = new Set();
  }

  onConnectionLost(): void {
    this.#modes = new Set();
  }

  get timeoutMs(): number {
    return this.#limits.questionTimeoutMs;
  }

  takes(mode: QuestionMode): boolean {
    return this.#modes.has(mode);
  }

  /**
   * Asks the Agent's user, as the answer to the request that waits for the call.
   *
   * @param options `signal`: ends the question
   * @throws The signal's reason, or that of the call when the call ends first.
   */
  async ask(
    call: RunningCall,
    { signal, ...question }: AgentQuestion & { readonly signal: AbortSignal },
  ): Promise<QuestionOutcome> {
    const { maxQuestions, questionTimeoutMs } = this.#limits;
    if (this.#open.size >= maxQuestions) return { answer: { action: "decline" }, why: TOO_MANY };
    const { limitMs } = call.clock;
    const ended = call.endedOr(signal);
    ended.throwIfAborted();
    const state = randomState();
    const answered = Promise.withResolvers<QuestionOutcome>();
    const timer = setTimeout(() => {
      this.#end(state, "expired");
      answered.resolve({ answer: { action: "cancel" }, why: unansweredIn(questionTimeoutMs) });
    }, questionTimeoutMs);
    const onAnswer = (answer: Answer, request: AnswerInputReq) => {
      this.#end(state, "answered");
      call.goOn(timeoutMsOf(request));
      answered.resolve({ answer, isUnasked: answer.action === "cancel" && request.asked === false });
    };
    this.#open.set(state, { call, question, onAnswer });
    call.suspend(toResult(question, { state, expires_in_ms: questionTimeoutMs }));
    try {
      return await abortable(answered.promise, ended);
    } finally {
      clearTimeout(timer);
      this.#end(state, "ended");
      // Nobody has sent an answer, so nobody waits for what the call does next.
      if (call.isSuspended) call.goOn(limitMs);
    }
  }

  /**
   * Lets the Agent wait while the person at the Computer is asked, for as long as its user would be waited for. Dispose of
   * it when they have answered: the call then has its time anew.
   */
  wait(call: RunningCall, question: AgentQuestion): Disposable {
    const state = randomState();
    for (const [earlier, { call: waiting }] of this.#waits) if (waiting === call) this.#endWait(earlier);
    const wait: Wait = { call, isOver: false };
    this.#waits.set(state, wait);
    call.onEnd(() => this.#endWait(state));
    call.suspend(toResult(question, { state, expires_in_ms: this.timeoutMs }));
    return {
      [Symbol.dispose]() {
        wait.isOver = true;
        call.goOn(call.clock.limitMs);
      },
    };
  }

  /**
   * Answers `client:answer_input`: the call goes on, and the promise resolves to its result or its next question.
   *
   * @throws {SmcpError} 404 for a question that is not open, 403 for one of another Agent, 400 for wrong content; the
   *   question then stays open.
   */
  answer(request: AnswerInputReq): Promise<CallToolResult> {
    const { state, agent } = request;
    const open = this.#open.get(state);
    const wait = this.#waits.get(state);
    const { call } = open ?? wait ?? {};
    if (call === undefined) throw notOpen(state, this.#ended.get(state));
    if (call.request.agent !== agent) {
      throw new SmcpError(ErrorCode.FORBIDDEN, "Cannot answer the question: another Agent was asked");
    }
    call.ask();
    if (open !== undefined) {
      open.onAnswer(toAnswer(request, open.question), request);
      return call.answer;
    }
    // After the person's answer, the call may already be suspended by its next question.
    if (call.isSuspended && wait?.isOver === false) call.renew();
    const { answer } = call;
    if (request.action !== "accept") call.clock.abort(new ToolCallCancelled("The Agent does not wait"));
    return answer;
  }

  /** The first reason counts. */
  #end(state: string, reason: EndReason): void {
    if (this.#open.delete(state)) this.#ended.set(state, reason);
  }

  #endWait(state: string): void {
    if (this.#waits.delete(state)) this.#ended.set(state, "ended");
  }
}

function randomState(): string {
  return crypto.getRandomValues(new Uint8Array(STATE_BYTES)).toBase64({ alphabet: "base64url" });
}

function toResult(
  { mode, server, message, members, sentence, meta }: AgentQuestion,
  place: { readonly state: string; readonly expires_in_ms: number },
): CallToolResult {
  return {
    content: [{ type: "text", text: sentence }],
    isError: true,
    meta: {
      ...meta,
      [A2C_MCP_SERVER]: server,
      [A2C_INPUT_REQUIRED]: JSON.stringify({ ...place, mode, message, ...members }),
    },
  };
}

/** Reads an answer. The question stays open when its content is wrong. */
function toAnswer({ action, content = {} }: AnswerInputReq, { check }: AgentQuestion): Answer {
  if (action !== "accept" || check === undefined) return { action };
  const checked = check(content);
  if (checked.problems === undefined) return { action, content: checked.content };
  const { problems } = checked;
  throw new SmcpError(ErrorCode.BAD_REQUEST, `Cannot accept the answer: ${problems.join("; ")}`, {
    details: { field: "content", problems },
  });
}

function notOpen(state: string, reason: EndReason | undefined): SmcpError {
  const why = reason === undefined
    ? "there is no such question"
    : `it ${END_WORDS[reason]}; to get the result, send the call again under its req_id`;
  return new SmcpError(ErrorCode.NOT_FOUND, `Cannot answer the question: ${why}`, {
    details: { state, reason: reason ?? "unknown" },
  });
}

const END_WORDS: Readonly<Record<EndReason, string>> = {
  answered: "was answered already",
  expired: "was not answered in time",
  ended: "ended with its call",
};
