/** Questions that servers ask during calls (elicitation), and which call they belong to. */
import { type RequestId, RpcError, RpcErrorCode } from "../protocol/mcp.ts";
import { isRecord } from "../json/json.ts";
import type { Answer } from "../protocol/questions.ts";
import type { Ask, Question } from "./call_options.ts";

/** The key of a message's metadata that names the task which the message belongs to. */
const RELATED_TASK = "io.modelcontextprotocol/related-task";
export const MAX_OPEN_QUESTIONS = 16;

/** The most tasks and requests of ended calls that are remembered. */
const MAX_ENDED = 256;

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

interface RunningCall {
  readonly ask: Ask | undefined;
  /** Whether the Computer's own program made it. */
  readonly isLocal: boolean;
  readonly over: AbortController;
  /** The id of its task, when it runs as one. */
  task: string | undefined;
  request: RequestId | undefined;
}

/** A running call; dispose of it when it ends. */
export interface AskingCall extends Disposable {
  /** Notes that the call runs as a task. */
  readonly onTask: (taskId: string) => void;
  /** Notes the request of the call. */
  readonly onRequest: (id: RequestId) => void;
}

/** The running calls of one server, which its questions belong to. */
export class AskingCalls {
  /** In the order in which they began. */
  readonly #running = new Set<RunningCall>();
  /** Our requests by the questions that came in the streams of their answers. */
  readonly #related = new Map<unknown, unknown>();
  /** The tasks and the requests of calls that have ended. */
  readonly #endedTasks = new Set<unknown>();
  readonly #endedRequests = new Set<unknown>();
  #open = 0;

  get hasOpenQuestions(): boolean {
    return this.#open > 0;
  }

  begin(
    ask: Ask | undefined,
    { isLocal = false }: { readonly isLocal?: boolean | undefined } = {},
  ): AskingCall {
    const call: RunningCall = {
      ask,
      isLocal,
      over: new AbortController(),
      task: undefined,
      request: undefined,
    };
    this.#running.add(call);
    return {
      onTask: (taskId) => void (call.task = taskId),
      onRequest: (id) => void (call.request = id),
      [Symbol.dispose]: () => {
        this.#running.delete(call);
        remember(this.#endedTasks, call.task);
        remember(this.#endedRequests, call.request);
        call.over.abort(new TypeError("The call has ended"));
      },
    };
  }

  /** Notes that a question came in the stream of the answer to a request of ours. */
  relate(questionId: unknown, requestId: unknown): void {
    this.#related.set(questionId, requestId);
    const [oldest] = this.#related.keys();
    if (this.#related.size > MAX_OPEN_QUESTIONS) this.#related.delete(oldest);
  }

  /**
   * Answers an `elicitation/create`: by the call whose task it names or in whose stream it came, by the call that runs
   * alone, else by the latest that can ask, else it is declined. It is cancelled when that call has ended, and when it
   * may be for the Computer's own program as well as for the office: neither should read what the other is asked.
   *
   * @param options `id`: of the question. The signal is aborted when the server takes it back.
   * @throws {RpcError} for a malformed question.
   */
  async answer(
    params: unknown,
    { id, signal }: { readonly id?: RequestId; readonly signal: AbortSignal },
  ): Promise<AnswerResult> {
    const requestId = this.#related.get(id);
    this.#related.delete(id);
    const question = readQuestion(params);
    if (question === undefined) {
      throw new RpcError(RpcErrorCode.INVALID_PARAMS, "Invalid elicitation request");
    }
    const origin = { task: relatedTaskOf(params), requestId };
    const call = this.#namedBy(origin) ?? this.#guess(origin);
    if (call === "unclear") return { action: "cancel" };
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

  /** The running call that a question names. */
  #namedBy({ task, requestId }: Origin): RunningCall | undefined {
    const calls = [...this.#running];
    return calls.find((call) => task !== undefined && call.task === task) ??
      calls.find(({ request }) => request !== undefined && request === requestId);
  }

  /** The call that a question is taken to belong to when it names none that runs. */
  #guess({ task, requestId }: Origin): RunningCall | "unclear" | undefined {
    if (this.#endedTasks.has(task) || this.#endedRequests.has(requestId)) return "unclear";
    const calls = [...this.#running];
    if (calls.some(({ isLocal }) => isLocal) && calls.some(({ isLocal }) => !isLocal)) return "unclear";
    return calls.length === 1 ? calls[0] : calls.findLast(({ ask }) => ask !== undefined);
  }
}

interface Origin {
  readonly task: string | undefined;
  /** The request in whose stream it came. */
  readonly requestId: unknown;
}

function remember(ended: Set<unknown>, name: unknown): void {
  if (name === undefined) return;
  ended.add(name);
  const [oldest] = ended;
  if (ended.size > MAX_ENDED) ended.delete(oldest);
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
