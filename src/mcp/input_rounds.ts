/** Requests of 2026-07-28 that a server answers by asking: they are repeated with the answers (`input_required`). */
import { Backoff, type BackoffOptions, delay } from "../async/backoff.ts";
import { isRecord } from "../json/json.ts";
import type { Ask, Question } from "./call_options.ts";
import { RpcErrorCode } from "../protocol/mcp.ts";
import { ServerAnswerError, ServerNotRunningError, ServerTimeoutError } from "./errors.ts";
import type { Result } from "./rpc_peer.ts";
import { type AnswerResult, readQuestion, type SessionCalls } from "./session_calls.ts";

/** How often one request is repeated. */
export const MAX_INPUT_ROUNDS = 20;
export const MAX_ROUND_QUESTIONS = 32;
const MAX_STATE_LENGTH = 1024 ** 2;
/** Waits before a request is repeated for which the server asked nothing. */
const REPEAT_BACKOFF: BackoffOptions = { firstMs: 100, maxMs: 5_000 };

/** The requests that a server may answer by asking. */
const ASKING_METHODS: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"]);

/** How to send a request, and who answers. */
export interface InputRounds {
  readonly method: string;
  readonly params: Result;
  /** Sends the request with these parameters and this time-out, in milliseconds. */
  readonly send: (params: Result, timeoutMs: number) => Promise<Result>;
  /** How long all rounds may take together. */
  readonly timeoutMs: number;
  readonly calls: Pick<SessionCalls, "ask">;
  /** Without it, questions are declined. */
  readonly ask: Ask | undefined;
  /** Any of them ends the waits and the questions. */
  readonly signals: readonly AbortSignal[];
}

/** What a server needs before it goes on. */
interface InputRequired {
  readonly requests: Readonly<Record<string, unknown>>;
  /** Passed back as it came. */
  readonly state: string | undefined;
}

/**
 * Sends a request, answers what the server asks, and sends it again until the server has a result.
 *
 * @throws {ServerAnswerError} when it asks too often, gives too much state to send back, or asks for what this client
 *   declines: sampling and roots.
 * @throws {ServerNotRunningError} when its answer cannot be read.
 * @throws {ServerTimeoutError} when it has no result in time.
 */
export async function requestInRounds(rounds: InputRounds): Promise<Result> {
  const { method, params, send, timeoutMs } = rounds;
  const endsAtMs = performance.now() + timeoutMs;
  const backoff = new Backoff(REPEAT_BACKOFF);
  let next = params;
  for (let round = 0; round <= MAX_INPUT_ROUNDS; round++) {
    const leftMs = endsAtMs - performance.now();
    if (leftMs <= 0) {
      throw new ServerTimeoutError(`Cannot complete "${method}": no result in ${timeoutMs} ms`);
    }
    const { resultType = "complete", ...result } = await send(next, leftMs);
    if (resultType === "complete") return result;
    const needed = resultType === "input_required" && ASKING_METHODS.has(method)
      ? readNeeded(result)
      : undefined;
    if (needed === undefined) throw new ServerNotRunningError({ reason: "its answer cannot be read" });
    const { requests, state } = needed;
    const inputResponses = await answerAll(requests, rounds);
    const hasAnswers = Object.keys(inputResponses).length > 0;
    if (!hasAnswers) {
      const waitMs = Math.min(backoff.next(), Math.max(0, endsAtMs - performance.now()));
      await delay(waitMs, AbortSignal.any([...rounds.signals]));
    }
    next = {
      ...params,
      ...(hasAnswers && { inputResponses }),
      ...(state !== undefined && { requestState: state }),
    };
  }
  throw new ServerAnswerError(
    RpcErrorCode.INTERNAL_ERROR,
    `The server asked more than ${MAX_INPUT_ROUNDS} times`,
  );
}

function readNeeded({ inputRequests, requestState }: Result): InputRequired | undefined {
  const requests = isRecord(inputRequests) ? inputRequests : {};
  const state = typeof requestState === "string" ? requestState : undefined;
  if (state !== undefined && state.length > MAX_STATE_LENGTH) {
    const message = `The server gave more than ${MAX_STATE_LENGTH} characters of state to send back`;
    throw new ServerAnswerError(RpcErrorCode.INVALID_PARAMS, message);
  }
  if (Object.keys(requests).length === 0 && state === undefined) return undefined;
  return { requests, state };
}

/** Asks one question after the other, as a person answers them; none when one of them cannot be asked. */
async function answerAll(
  requests: Readonly<Record<string, unknown>>,
  { calls, ask, signals }: InputRounds,
): Promise<Record<string, AnswerResult>> {
  const entries = Object.entries(requests);
  if (entries.length > MAX_ROUND_QUESTIONS) {
    const message = `The server asked ${entries.length} questions at once`;
    throw new ServerAnswerError(RpcErrorCode.INVALID_PARAMS, message);
  }
  const questions = entries.map(([key, request]) => [key, toQuestion(request)] as const);
  const answers: [string, AnswerResult][] = [];
  const signal = AbortSignal.any([...signals]);
  for (const [key, question] of questions) {
    answers.push([
      key,
      ask === undefined ? { action: "decline" } : await calls.ask(question, { ask, signal }),
    ]);
    signal.throwIfAborted();
  }
  return Object.fromEntries(answers);
}

function toQuestion(request: unknown): Question {
  const { method, params } = isRecord(request) ? request : {};
  if (method !== "elicitation/create") {
    const message = `The server asked for ${JSON.stringify(method)}, which is declined`;
    throw new ServerAnswerError(RpcErrorCode.METHOD_NOT_FOUND, message);
  }
  const question = readQuestion(params);
  if (question !== undefined) return question;
  throw new ServerAnswerError(RpcErrorCode.INVALID_PARAMS, "The server asked a malformed question");
}
