/** Asks the person at the Computer, a bounded number of questions at once, until the answer fits. */
import { abortable } from "../../async/abortable.ts";
import { Deadline } from "../../async/deadline.ts";
import type { Logger } from "../../log.ts";
import { checkContent } from "../../protocol/form_answer.ts";
import type { Answer } from "../../protocol/questions.ts";
import { describeError } from "../../text.ts";
import type { QuestionLimits } from "../limits.ts";
import type { OfficeAgent } from "../office/attendance.ts";
import type { ToolRoute } from "../tools/directory.ts";
import type { RunningCall } from "../tools/running_call.ts";
import { type AgentChannel, type QuestionOutcome, TOO_MANY, unansweredIn } from "./agent_channel.ts";
import { pauseFor } from "./pause.ts";
import type { AnswerQuestion, QuestionRequest } from "./question.ts";
import type { ReadableQuestion } from "./read_question.ts";

/** How often an answer that does not fit the form is asked for again. */
const MAX_WRONG_ANSWERS = 10;

export interface PersonContext {
  readonly agent: Pick<OfficeAgent, "known">;
  /** The way to the Agent, which may have to wait meanwhile. */
  readonly channel: AgentChannel;
  readonly limits: QuestionLimits;
  readonly log: Logger;
}

export interface AskedQuestion {
  readonly call: RunningCall;
  readonly route: ToolRoute;
  readonly question: ReadableQuestion;
  /** Aborted when the MCP server waits no more. */
  readonly signal: AbortSignal;
}

export class PersonAtComputer {
  readonly #context: PersonContext;
  #waiting = 0;

  constructor(context: PersonContext) {
    this.#context = context;
  }

  /**
   * Asks; `undefined` when nobody is there.
   *
   * @throws The signal's reason when the call ends first.
   */
  async ask(asked: AskedQuestion, answerQuestion: AnswerQuestion): Promise<QuestionOutcome | undefined> {
    const { channel, limits: { maxQuestions }, log } = this.#context;
    const { call, signal } = asked;
    if (this.#waiting >= maxQuestions) return { answer: { action: "decline" }, why: TOO_MANY };
    this.#waiting++;
    const ended = call.endedOr(signal);
    using pause = pauseFor(call, channel, { server: asked.route.server.name, what: "an answer" });
    const { isPaused, timeoutMs } = pause;
    using deadline = new Deadline(timeoutMs, { reason: () => new QuestionExpired(), signal: ended });
    const timeLeftMs = () => isPaused ? timeoutMs : call.clock.leftMs;
    try {
      return await this.#askUntilRight(asked, { answerQuestion, timeLeftMs, signal: deadline.signal });
    } catch (error) {
      ended.throwIfAborted();
      if (error instanceof QuestionExpired) {
        return { answer: { action: "cancel" }, why: unansweredIn(timeoutMs) };
      }
      log.error("the answerQuestion callback failed", {
        req_id: call.request.req_id,
        error: describeError(error),
      });
      return { answer: { action: "decline" }, why: "asking failed" };
    } finally {
      this.#waiting--;
    }
  }

  async #askUntilRight(
    asked: AskedQuestion,
    { answerQuestion, timeLeftMs, signal }: {
      readonly answerQuestion: AnswerQuestion;
      readonly timeLeftMs: () => number;
      readonly signal: AbortSignal;
    },
  ): Promise<QuestionOutcome | undefined> {
    const { call } = asked;
    const agent = call.isLocal ? undefined : await abortable(this.#context.agent.known(), signal);
    let problems: readonly string[] = [];
    for (let wrong = 0; wrong <= MAX_WRONG_ANSWERS; wrong++) {
      const request = toRequest(asked, { agent, problems, timeLeftMs: timeLeftMs(), signal });
      const answer = await abortable(Promise.resolve(answerQuestion(request)), signal);
      signal.throwIfAborted();
      if (answer === undefined) return undefined;
      const checked = checkAnswer(answer, asked.question);
      if (checked.problems === undefined) return { answer: checked.answer };
      problems = checked.problems;
    }
    return { answer: { action: "decline" }, why: "the answers did not fit the form" };
  }
}

function toRequest(
  { call: { request, isLocal }, route: { server, tool }, question }: AskedQuestion,
  rest: Pick<QuestionRequest, "agent" | "problems" | "timeLeftMs" | "signal">,
): QuestionRequest {
  return {
    ...rest,
    ...question,
    claimedAgent: request.agent,
    isLocal,
    reqId: request.req_id,
    server: server.name,
    tool: tool.name,
    name: request.tool_name,
  };
}

/** The answer as the MCP server gets it. A host program in JavaScript may give anything. */
function checkAnswer(
  answer: Answer,
  question: ReadableQuestion,
):
  | { readonly answer: Answer; readonly problems?: undefined }
  | { readonly problems: readonly string[] } {
  if (answer.action !== "accept") {
    return { answer: { action: answer.action === "cancel" ? "cancel" : "decline" } };
  }
  if (question.mode === "url") return { answer: { action: "accept" } };
  const { content, problems } = checkContent(question.fields, answer.content ?? {});
  return problems === undefined ? { answer: { action: "accept", content } } : { problems };
}

class QuestionExpired extends Error {
  override readonly name = "QuestionExpired";
}
