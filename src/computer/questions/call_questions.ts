/** The questions of one tool call: who answers them, and what the model learns of those that nobody did. */
import { Limiter } from "../../async/limiter.ts";
import { RpcErrorCode } from "../../protocol/mcp.ts";
import { isRecord } from "../../json/json.ts";
import type { Ask, Question } from "../../mcp/call_options.ts";
import type { QuestionLimits } from "../../config/limits.ts";
import type { Logger } from "../../log.ts";
import { ServerAnswerError } from "../../mcp/errors.ts";
import type { SupervisedServer } from "../../mcp/supervision/supervised_server.ts";
import { checkContent } from "../../protocol/form_answer.ts";
import type { Answer } from "../../protocol/questions.ts";
import { describeError, shorten } from "../../text/text.ts";
import type { RunningCall } from "../shared/running_call.ts";
import { type AgentChannel, type AgentQuestion, type QuestionOutcome, TOO_MANY } from "./agent_channel.ts";
import { type AskedBy, NobodyAnswered, type PersonAtComputer } from "./person.ts";
import { type AnswerQuestion, checkAnswer, type ReadableQuestion, readQuestion } from "./question.ts";

const MAX_QUESTIONS_PER_CALL = 32;
/** The most pages that one error may ask the user to open before the tool runs (MCP 2025-11-25). */
const MAX_PAGES = 8;
/** How often an answer that does not fit the form is asked for again. */
const MAX_WRONG_ANSWERS = 10;
const MAX_QUOTED_LENGTH = 500;
const NOBODY = "nobody can be asked: no person at the Computer, and no user of the Agent";

const UNDECIDED =
  "nobody at the Agent decided: its user did not, or nobody could be asked. To answer it, make the " +
  "call at a terminal or with --answer, in a program with onQuestion, or in an MCP client that can ask its user (elicitation)";

const NO_LONGER = "the Computer's owner no longer lets the user of the Agent answer";

export interface Answerers {
  readonly person: PersonAtComputer;
  readonly channel: AgentChannel;
  /** How the person at the Computer is reached; `undefined` when not at all. */
  readonly answerQuestion: AnswerQuestion | undefined;
  /** `maxQuestions`: the most questions that the person is asked at the same time, by all calls. */
  readonly limits: Pick<QuestionLimits, "maxQuestions">;
  readonly log: Logger;
}

/** The tool that is called, and its MCP server. */
export interface CalledTool {
  readonly server: Pick<SupervisedServer, "name" | "config">;
  readonly tool: { readonly name: string };
}

/** The questions of one call, one after the other. */
export class CallQuestions {
  readonly #call: RunningCall;
  readonly #route: CalledTool;
  readonly #answerers: Answerers;
  readonly #notes: string[] = [];
  #asked = 0;
  readonly #turns = new Limiter(1);

  constructor(call: RunningCall, route: CalledTool, answerers: Answerers) {
    this.#call = call;
    this.#route = route;
    this.#answerers = answerers;
  }

  readonly ask: Ask = (question, { signal }) => this.#turns.run(() => this.#answer(question, signal));

  /**
   * Asks the user to open the pages that an error of the MCP server wants. Gives the sentence for the model that replaces
   * the error; `undefined` for any other error.
   */
  async askForPages(error: unknown): Promise<string | undefined> {
    const pages = requiredPages(error);
    const { signal } = this.#call.clock;
    if (pages.length === 0 || signal.aborted) return undefined;
    let isAgreed = true;
    for (const page of pages) isAgreed &&= (await this.ask(page, { signal })).action === "accept";
    const { request: { tool_name } } = this.#call;
    const wish =
      `Tool "${tool_name}" has not run: MCP server "${this.#route.server.name}" wants the user to open a page first`;
    return isAgreed
      ? `${wish}. The user agreed to open it: call the tool again when they are done`
      : `${wish}, and the user did not agree to open it`;
  }

  /** Sentences about the questions that no person decided, for the model. */
  get notes(): readonly string[] {
    return this.#notes;
  }

  async #answer(question: Question, signal: AbortSignal): Promise<Answer> {
    signal.throwIfAborted();
    this.#asked++;
    const { answer, why } = this.#asked > MAX_QUESTIONS_PER_CALL
      ? decline(`the call asks more than ${MAX_QUESTIONS_PER_CALL} questions`)
      : await this.#decide(question, signal);
    if (why !== undefined && this.#asked <= MAX_QUESTIONS_PER_CALL + 1) this.#note(question, why);
    return answer;
  }

  #note({ message }: Question, why: string): void {
    const text = shorten(message, MAX_QUOTED_LENGTH);
    this.#notes.push(
      `MCP server "${this.#route.server.name}" asked a question during this call (${
        JSON.stringify(text)
      }), ` +
        `and got no answer: ${why}`,
    );
  }

  async #decide(question: Question, signal: AbortSignal): Promise<QuestionOutcome> {
    const call = this.#call;
    const { question: readable, refusal } = readQuestion(question);
    if (readable === undefined) return decline(refusal);
    call.awaited = "answerer";
    try {
      return await this.#askSomebody(readable, signal);
    } finally {
      // When the call ended meanwhile, its result says what it waited for.
      if (!call.clock.signal.aborted) call.awaited = undefined;
    }
  }

  async #askSomebody(question: ReadableQuestion, signal: AbortSignal): Promise<QuestionOutcome> {
    const { channel, answerQuestion } = this.#answerers;
    const { elicitation } = this.#route.server.config;
    const { isLocal } = this.#call;
    if (elicitation === "decline") return decline('the configuration says "elicitation": "decline"');
    if (answerQuestion !== undefined && (isLocal || elicitation !== "agent")) {
      const outcome = await this.#askPerson(question, signal, answerQuestion);
      if (outcome !== undefined) return outcome;
    }
    if (isLocal || elicitation === "computer" || !channel.takes(question.mode)) return decline(NOBODY);
    const { answer, why } = await channel.ask(this.#call, { ...this.#toAgentQuestion(question), signal });
    // The owner may have taken the permission back while the question was open.
    if (answer.action === "accept" && !this.#mayAgentAnswer()) {
      return { answer: { action: "cancel" }, why: NO_LONGER };
    }
    const unanswered = why ?? (answer.action === "cancel" ? UNDECIDED : undefined);
    return { answer, ...(unanswered !== undefined && { why: unanswered }) };
  }

  /**
   * Asks the person at the Computer until the answer fits; `undefined` when nobody is there.
   *
   * @throws The signal's reason when the call ends first.
   */
  async #askPerson(
    question: ReadableQuestion,
    signal: AbortSignal,
    answerQuestion: AnswerQuestion,
  ): Promise<QuestionOutcome | undefined> {
    const { person, limits: { maxQuestions }, log } = this.#answerers;
    const call = this.#call;
    if (person.openQuestions >= maxQuestions) return decline(TOO_MANY);
    person.openQuestions++;
    const ended = call.endedOr(signal);
    const reason = { server: this.#route.server.name, what: "an answer", signal: ended };
    try {
      return await person.ask(call, reason, (by) => this.#askUntilRight(question, by, answerQuestion));
    } catch (error) {
      ended.throwIfAborted();
      if (error instanceof NobodyAnswered) return { answer: { action: "cancel" }, why: error.message };
      const { req_id } = call.request;
      log.error("the answerQuestion callback failed", { req_id, error: describeError(error) });
      return decline("asking failed");
    } finally {
      person.openQuestions--;
    }
  }

  async #askUntilRight(
    question: ReadableQuestion,
    by: () => AskedBy,
    answerQuestion: AnswerQuestion,
  ): Promise<QuestionOutcome | undefined> {
    const { request, isLocal } = this.#call;
    const { server, tool } = this.#route;
    const about = {
      claimedAgent: request.agent,
      isLocal,
      reqId: request.req_id,
      callId: this.#call.id,
      server: server.name,
      tool: tool.name,
      name: request.tool_name,
    };
    let problems: readonly string[] = [];
    for (let wrong = 0; wrong <= MAX_WRONG_ANSWERS; wrong++) {
      const answer = await answerQuestion({ ...about, ...question, ...by(), problems });
      by().signal.throwIfAborted();
      if (answer === undefined) return undefined;
      const checked = checkAnswer(answer, question);
      if (checked.problems === undefined) return { answer: checked.answer };
      problems = checked.problems;
    }
    return decline("the answers did not fit the form");
  }

  /** By the configuration as it is now. */
  #mayAgentAnswer(): boolean {
    const { elicitation } = this.#route.server.config;
    return elicitation !== "computer" && elicitation !== "decline";
  }

  #toAgentQuestion(question: ReadableQuestion): AgentQuestion {
    const { mode, message } = question;
    const server = this.#route.server.name;
    const tool = this.#call.request.tool_name;
    const sentence = `Tool "${tool}" has not finished: MCP server "${server}" asks the user: ${message}`;
    if (question.mode === "url") return { mode, server, message, members: { url: question.url }, sentence };
    const { fields, schema } = question;
    return {
      mode,
      server,
      message,
      members: { schema },
      sentence,
      check: (content) => checkContent(fields, content),
    };
  }
}

function decline(why: string): QuestionOutcome {
  return { answer: { action: "decline" }, why };
}

/** The pages that an error asks for, as questions; empty for any other error. */
function requiredPages(error: unknown): Question[] {
  if (!(error instanceof ServerAnswerError) || error.rpcCode !== RpcErrorCode.URL_ELICITATION_REQUIRED) {
    return [];
  }
  const { elicitations } = isRecord(error.rpcData) ? error.rpcData : {};
  if (!Array.isArray(elicitations)) return [];
  return elicitations.slice(0, MAX_PAGES).flatMap((entry): Question[] => {
    const { message, url, elicitationId: id } = isRecord(entry) ? entry : {};
    if (typeof message !== "string" || typeof url !== "string") return [];
    return [{ mode: "url", message, url, elicitationId: typeof id === "string" ? id : undefined }];
  });
}
