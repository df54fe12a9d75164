/** Questions that servers ask during calls (elicitation), and which call they belong to. */
import { isRecord } from "../json.ts";
import type { Answer, Ask, Question } from "./call_options.ts";
import { RpcErrorCode, ServerAnswerError } from "./errors.ts";

/** The key of a message's metadata that names the task which the message belongs to. */
const RELATED_TASK = "io.modelcontextprotocol/related-task";
/** The most questions of one server that wait for an answer; a further one is cancelled. */
export const MAX_OPEN_QUESTIONS = 16;

/** The members of an answer on the wire. */
export type AnswerResult = Readonly<Record<string, unknown>>;

/** Reads the parameters of `elicitation/create`; `undefined` when they are malformed. */
export function readQuestion(params: unknown): Question | undefined {
  if (!isRecord(params)) return undefined;
  const { mode = "form", message, requestedSchema, url, elicitationId } = params;
  if (typeof message !== "string") return undefined;
  if (mode === "form" && isRecord(requestedSchema)) return { mode, message, schema: requestedSchema };
  if (mode !== "url" || typeof url !== "string") return undefined;
  return { mode, message, url, elicitationId: typeof elicitationId === "string" ? elicitationId : undefined };
}

/** A running call. */
interface RunningCall {
  readonly ask: Ask | undefined;
  /** Aborted when the call ends. */
  readonly over: AbortController;
  /** The id of its task, when it runs as one. */
  task: string | undefined;
}

/** A running call; dispose of it when it ends. */
export interface AskingCall extends Disposable {
  /** Notes that the call runs as a task. */
  readonly onTask: (taskId: string) => void;
}

/** The running calls of one server, which its questions belong to. */
export class AskingCalls {
  /** In the order in which they began. */
  readonly #running = new Set<RunningCall>();
  #open = 0;

  /** Whether a question waits for its answer. */
  get hasOpenQuestions(): boolean {
    return this.#open > 0;
  }

  /** Notes a call until it ends. */
  begin(ask: Ask | undefined): AskingCall {
    const call: RunningCall = { ask, over: new AbortController(), task: undefined };
    this.#running.add(call);
    return {
      onTask: (taskId) => void (call.task = taskId),
      [Symbol.dispose]: () => {
        this.#running.delete(call);
        call.over.abort(new TypeError("The call has ended"));
      },
    };
  }

  /**
   * Answers an `elicitation/create`: by the call whose task it names, by the call that runs alone, else by the latest that can ask, else it is declined.
   *
   * @param options The signal is aborted when the server takes its question back.
   * @throws {ServerAnswerError} for a malformed question.
   */
  async answer(params: unknown, { signal }: { readonly signal: AbortSignal }): Promise<AnswerResult> {
    const question = readQuestion(params);
    if (question === undefined) {
      throw new ServerAnswerError(RpcErrorCode.INVALID_PARAMS, "Invalid elicitation request");
    }
    const call = this.#callOf(relatedTaskOf(params));
    if (call?.ask === undefined) return { action: "decline" };
    return await this.ask(question, { ask: call.ask, signal: AbortSignal.any([signal, call.over.signal]) });
  }

  /** Asks; a question that fails, or for which there is no room, is cancelled. */
  async ask(
    question: Question,
    { ask, signal }: { readonly ask: Ask; readonly signal: AbortSignal },
  ): Promise<AnswerResult> {
    if (this.#open >= MAX_OPEN_QUESTIONS) return { action: "cancel" };
    this.#open++;
    try {
      return toAnswerResult(await ask(question, { signal }));
    } catch {
      return { action: "cancel" };
    } finally {
      this.#open--;
    }
  }

  #callOf(task: string | undefined): RunningCall | undefined {
    const calls = [...this.#running];
    const named = task === undefined ? undefined : calls.find((call) => call.task === task);
    if (named !== undefined) return named;
    return calls.length === 1 ? calls[0] : calls.findLast(({ ask }) => ask !== undefined);
  }
}

/** The id of the task that a question belongs to. */
function relatedTaskOf(params: unknown): string | undefined {
  const { _meta } = isRecord(params) ? params : {};
  const related = isRecord(_meta) ? _meta[RELATED_TASK] : undefined;
  const taskId = isRecord(related) ? related["taskId"] : undefined;
  return typeof taskId === "string" ? taskId : undefined;
}

function toAnswerResult(answer: Answer): AnswerResult {
  if (answer.action !== "accept") return { action: answer.action };
  return { action: "accept", ...(answer.content && { content: answer.content }) };
}
