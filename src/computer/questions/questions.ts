/** Who answers the questions of all calls of a Computer. */
import { MAX_TIMER_MS } from "../../async/backoff.ts";
import type { ToolRoute } from "../tools/directory.ts";
import type { RunningCall } from "../tools/running_call.ts";
import { AgentChannel } from "./agent_channel.ts";
import { CallQuestions } from "./call_questions.ts";
import { PersonAtComputer, type PersonContext } from "./person.ts";
import type { AnswerQuestion } from "./question.ts";

export interface QuestionsContext extends Omit<PersonContext, "channel"> {
  /** How the person at the Computer is reached; `undefined` when not at all. */
  readonly answerQuestion: AnswerQuestion | undefined;
}

export class Questions {
  readonly channel: AgentChannel;
  readonly timeoutMs: number;
  readonly #person: PersonAtComputer;
  readonly #answerQuestion: AnswerQuestion | undefined;

  constructor(context: QuestionsContext) {
    // A timer that is set to more ends at once.
    this.timeoutMs = Math.min(context.limits.questionTimeoutMs, MAX_TIMER_MS);
    const limits = { ...context.limits, questionTimeoutMs: this.timeoutMs };
    this.channel = new AgentChannel(limits);
    this.#person = new PersonAtComputer({ ...context, limits, channel: this.channel });
    this.#answerQuestion = context.answerQuestion;
  }

  /** The questions of one call. `answerQuestion` reaches the person who made it, where that is not the Computer's own. */
  of(
    call: RunningCall,
    { route, answerQuestion = this.#answerQuestion }: {
      readonly route: ToolRoute;
      readonly answerQuestion?: AnswerQuestion | undefined;
    },
  ): CallQuestions {
    return new CallQuestions(call, route, { person: this.#person, channel: this.channel, answerQuestion });
  }
}
