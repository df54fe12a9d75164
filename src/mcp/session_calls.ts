/** The calls that run in one session: who hears of their progress, and who answers the server's questions (elicitation). */
import { BoundedMap, BoundedSet } from "../async/bounded_collections.ts";
import { Throttle } from "../async/throttle.ts";
import { isRecord } from "../json/json.ts";
import { type RequestId, RpcError, RpcErrorCode } from "../protocol/mcp.ts";
import type { Answer } from "../protocol/questions.ts";
import { shorten } from "../text/text.ts";
import type { Ask, CallOptions, Progress, Question } from "./call_options.ts";
import type { WarnOnce } from "./warn_once.ts";

/** The length to which the text of a progress is cut, in characters; it is masked and cut further before it is sent. */
const MAX_MESSAGE_LENGTH = 16_384;
/** The shortest time between two reports of one call, in milliseconds. Of those in between, the last one counts. */
const REPORT_INTERVAL_MS = 100;
/** The key of a message's metadata that names the task which the message belongs to. */
const RELATED_TASK = "io.modelcontextprotocol/related-task";
export const MAX_OPEN_QUESTIONS = 16;
/** The most tasks and requests of ended calls that are remembered. */
const MAX_ENDED = 256;

/** The members of an answer on the wire. */
export type AnswerResult = Readonly<Record<string, unknown>>;

type SessionCallOptions = Pick<CallOptions, "ask" | "isLocal" | "onProgress">;

/** A call that runs; dispose of it when it ends. */
export class SessionCall implements Disposable {
  /** To be sent as `_meta.progressToken`. */
  readonly token: number;
  /** Answers the questions of the call. */
  readonly ask: Ask | undefined;
  /** Whether the Computer's own program made it. */
  readonly isLocal: boolean;
  /** The id of its task, when it runs as one. */
  task: string | undefined;
  request: RequestId | undefined;
  readonly #over = new AbortController();
  readonly #report: (params: unknown) => void;
  readonly #onEnd: (call: SessionCall) => void;
  /** Made with the first report: most calls have none. */
  #throttle: Throttle | undefined;
  /** The newest parameters; those that are replaced are never read. */
  #newest: unknown;
  #isTold = true;
  #isReporting = false;
  #noted = { count: 0, text: "" };

  constructor(
    { token, ask, isLocal = false }: Omit<SessionCallOptions, "onProgress"> & { readonly token: number },
    { report, onEnd }: {
      readonly report: (params: unknown) => void;
      readonly onEnd: (call: SessionCall) => void;
    },
  ) {
    this.token = token;
    this.ask = ask;
    this.isLocal = isLocal;
    this.#report = report;
    this.#onEnd = onEnd;
  }

  /** Aborted when the call ends. */
  get ended(): AbortSignal {
    return this.#over.signal;
  }

  /** Notes the request of the call. */
  readonly onRequest = (id: RequestId): void => void (this.request = id);

  /** Takes the parameters of a `notifications/progress` of the call. */
  onProgress(params: unknown): void {
    this.#isReporting = true;
    this.#take(params);
  }

  /** Reports a text that comes from elsewhere, for a server that reports no progress; each new text counts as 1. */
  readonly note = (text: string): void => {
    if (this.#isReporting || text === this.#noted.text) return;
    this.#noted = { count: this.#noted.count + 1, text };
    this.#take({ progress: this.#noted.count, message: text });
  };

  /** Passes on the progress that came before the end. */
  [Symbol.dispose](): void {
    this.#onEnd(this);
    this.#throttle?.close();
    this.#tell();
    this.#over.abort(new TypeError("The call has ended"));
  }

  #take(params: unknown): void {
    this.#newest = params;
    this.#isTold = false;
    this.#throttle ??= new Throttle(() => this.#tell(), REPORT_INTERVAL_MS);
    this.#throttle.request();
  }

  #tell(): void {
    if (this.#isTold) return;
    this.#isTold = true;
    this.#report(this.#newest);
  }
}

/** The running calls of one server, which its reports of progress and its questions belong to. */
export class SessionCalls {
  readonly #warnOnce: WarnOnce;
  /** By token, in the order in which they began. */
  readonly #running = new Map<number, SessionCall>();
  /** Our requests by the questions that came in the streams of their answers. */
  readonly #related = new BoundedMap<unknown, unknown>(MAX_OPEN_QUESTIONS);
  /** The tasks and the requests of calls that have ended. */
  readonly #endedTasks = new BoundedSet<unknown>(MAX_ENDED);
  readonly #endedRequests = new BoundedSet<unknown>(MAX_ENDED);
  #lastToken = 0;
  #open = 0;

  constructor(warnOnce: WarnOnce) {
    this.#warnOnce = warnOnce;
  }

  begin({ onProgress, ...options }: SessionCallOptions = {}): SessionCall {
    const token = ++this.#lastToken;
    const report = (params: unknown) => {
      const progress = readProgress(params);
      if (progress !== undefined) return onProgress?.(progress);
      this.#warnOnce.warn("dropped a progress notification of the MCP server: wrong shape");
    };
    const onEnd = ({ task, request }: SessionCall) => {
      this.#running.delete(token);
      if (task !== undefined) this.#endedTasks.add(task);
      if (request !== undefined) this.#endedRequests.add(request);
    };
    const call = new SessionCall({ token, ...options }, { report, onEnd });
    this.#running.set(token, call);
    return call;
  }

  /** Takes the parameters of a `notifications/progress`. Drops those of a call that has ended, or that never was. */
  onProgress(params: unknown): void {
    if (!isRecord(params)) return;
    const { progressToken: token } = params;
    // Some servers send the token back as a text. To make a number of anything else may throw.
    if (typeof token === "number" || typeof token === "string") {
      this.#running.get(Number(token))?.onProgress(params);
    }
  }

  get hasOpenQuestions(): boolean {
    return this.#open > 0;
  }

  /** Notes that a question came in the stream of the answer to a request of ours. */
  relate(questionId: unknown, requestId: unknown): void {
    this.#related.set(questionId, requestId);
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
    return await this.ask(question, { ask: call.ask, signal: AbortSignal.any([signal, call.ended]) });
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
  #namedBy({ task, requestId }: Origin): SessionCall | undefined {
    const calls = [...this.#running.values()];
    return calls.find((call) => task !== undefined && call.task === task) ??
      calls.find(({ request }) => request !== undefined && request === requestId);
  }

  /** The call that a question is taken to belong to when it names none that runs. */
  #guess({ task, requestId }: Origin): SessionCall | "unclear" | undefined {
    if (this.#endedTasks.has(task) || this.#endedRequests.has(requestId)) return "unclear";
    const calls = [...this.#running.values()];
    if (calls.some(({ isLocal }) => isLocal) && calls.some(({ isLocal }) => !isLocal)) return "unclear";
    return calls.length === 1 ? calls[0] : calls.findLast(({ ask }) => ask !== undefined);
  }
}

interface Origin {
  readonly task: string | undefined;
  /** The request in whose stream it came. */
  readonly requestId: unknown;
}

/** Reads progress; `undefined` when it has another shape. A `total` that cannot be one, such as 0, is left out. */
export function readProgress(params: unknown): Progress | undefined {
  const { progress, total, message } = isRecord(params) ? params : {};
  if (typeof progress !== "number" || !Number.isFinite(progress)) return undefined;
  if (total !== undefined && total !== null && typeof total !== "number") return undefined;
  if (message !== undefined && message !== null && typeof message !== "string") return undefined;
  return {
    progress,
    ...(typeof total === "number" && Number.isFinite(total) && total > 0 ? { total } : {}),
    ...(typeof message === "string" && message !== ""
      ? { message: shorten(message, MAX_MESSAGE_LENGTH) }
      : {}),
  };
}

/** Reads the parameters of `elicitation/create`; `undefined` when they are malformed. */
export function readQuestion(params: unknown): Question | undefined {
  if (!isRecord(params)) return undefined;
  const { mode = "form", message, requestedSchema, url, elicitationId } = params;
  if (typeof message !== "string") return undefined;
  if (mode === "form" && isRecord(requestedSchema)) return { mode, message, schema: requestedSchema };
  if (mode !== "url" || typeof url !== "string") return undefined;
  return { mode, message, url, elicitationId: typeof elicitationId === "string" ? elicitationId : undefined };
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
