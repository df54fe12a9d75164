/** Calls of tools: the request, its progress, its questions, and the large parts of its result. */
import { abortable, settledWithin } from "../async/abortable.ts";
import type { Logger } from "../log.ts";
import { parseFollowCallRet } from "../protocol/answers.ts";
import { A2C_BLOB_HANDLE } from "../protocol/blobs.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import { ASK_TOOL_CALL_EVENT, FOLLOW_CALL_EVENT, TOOL_CALL_EVENT } from "../protocol/events.ts";
import { ConnectionClosedError, mayHaveRun, RequestTimeoutError } from "../link/errors.ts";
import type { CallProgress } from "../protocol/progress.ts";
import { type CallTimeouts, DEFAULT_TIMEOUT_SECONDS, toCallTimes } from "../protocol/call.ts";
import { A2C_INPUT_REQUIRED } from "../protocol/questions.ts";
import { parseCallToolResult } from "../protocol/tool_result.ts";
import type { CallToolResult, ContentItem } from "../protocol/tools.ts";
import { describeError } from "../text/text.ts";
import { fillBlobs } from "./blobs.ts";
import { type ComputerFacts, EXTENSION_TIMEOUT_MS, isNeverServed } from "./computer_facts.ts";
import type { AgentEventOf } from "./events.ts";
import type { Listeners } from "./listeners.ts";
import type { OnQuestion } from "./questions.ts";
import type { CallToolOptions } from "./remote_options.ts";
import { SmcpError } from "../protocol/errors.ts";
import { hasCode, type Requests, toTimeoutSeconds } from "./requests.ts";

/** What the calls of an Agent share. */
export interface CallParts {
  readonly facts: ComputerFacts;
  readonly followed: ProgressReaders;
  readonly onQuestion: OnQuestion | undefined;
  /** Whether other programs use the same connection, as the same Agent. */
  readonly isShared: boolean;
}

interface ToolCall extends CallToolOptions {
  readonly tool: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly reqId: string;
}

export async function callTool(
  requests: Requests,
  { retry, ...call }: ToolCall,
  parts: CallParts,
): Promise<CallToolResult> {
  if (retry === undefined) return await callOnce(requests, call, parts);
  const { retryCall } = await import("./retried_calls.ts");
  return await retryCall((reqId) => callOnce(requests, { ...call, reqId }, parts), retry, call);
}

async function callOnce(
  requests: Requests,
  { tool, params, ...options }: ToolCall,
  parts: CallParts,
): Promise<CallToolResult> {
  const { facts, followed, onQuestion: onAnyQuestion } = parts;
  const { signal, reqId, ask = false, onWait, onQuestion = onAnyQuestion } = options;
  signal?.throwIfAborted();
  const progress = await followed.follow(requests, options);
  const { timeoutMs } = progress;
  const body = { req_id: reqId, tool_name: tool, params };
  const event = ask ? ASK_TOOL_CALL_EVENT : TOOL_CALL_EVENT;
  const send = () => requests.ask(event, body, { signal, timeoutMs, parse: parseCallToolResult });
  let hasBegun = false;
  try {
    if (onQuestion !== undefined) await abortable(facts.openChannel(requests), signal);
    let result = await send();
    const isQuestion = result.meta?.[A2C_INPUT_REQUIRED] !== undefined;
    if (isQuestion && await isChannelOpen(requests, parts, signal)) {
      const { answerQuestions } = await import("./questions.ts");
      const onBegun = () => void (hasBegun = true);
      const asking = { requests, tool, params, reqId, timeoutMs, signal, onQuestion, onWait, onBegun };
      result = await answerQuestions(result, { ...asking, repeat: send });
    }
    if (!result.content.some(isLarge)) return result;
    return await requests.fill((filling) => fillBlobs(result, filling), { signal, timeoutMs });
  } catch (error) {
    if (signal?.aborted || mayRunLater(error)) requests.cancel(reqId);
    throw hasBegun && error !== signal?.reason ? afterBegin(error) : error;
  } finally {
    progress[Symbol.dispose]();
  }
}

/** The error of a request that belongs to a call whose tool may run: that it reached nobody says nothing of the tool. */
function afterBegin(error: unknown): unknown {
  if (mayHaveRun(error) || !(error instanceof Error)) return error;
  const { message } = error;
  if (error instanceof SmcpError) {
    const details = { ...error.details, may_have_run: true };
    return new SmcpError(error.code, message, { details, cause: error });
  }
  if (error instanceof RequestTimeoutError) return new RequestTimeoutError(message, { cause: error });
  // Whatever else ends a request has ended the connection for good, such as credentials that are revoked.
  const isPermanent = !(error instanceof ConnectionClosedError) || error.isPermanent;
  return new ConnectionClosedError(message, { isPermanent, cause: error });
}

/** Whether a call failed because nobody answered. Other Servers do not cancel it, nor ours the answer to a question of it. */
function mayRunLater(error: unknown): boolean {
  if (error instanceof RequestTimeoutError || hasCode(error, [ErrorCode.TIMEOUT])) return true;
  return hasCode(error, [ErrorCode.NOT_FOUND]) && error.details?.["asleep_since"] !== undefined;
}

/** Whether the Computer may ask. On a shared connection, another program may have opened the channel. */
function isChannelOpen(
  requests: Requests,
  { facts, isShared }: CallParts,
  signal: AbortSignal | undefined,
): boolean | Promise<boolean> {
  const isOpen = facts.of(requests.computer).isChannelOpen === true;
  return isOpen || !isShared ? isOpen : abortable(facts.openChannel(requests), signal);
}

/** Whether a part of a result has to be fetched. */
function isLarge(item: ContentItem): boolean {
  return item.type !== "unknown" && item._meta?.[A2C_BLOB_HANDLE] !== undefined;
}

type Asking = Pick<Requests, "computer" | "ask">;
type Update = AgentEventOf<"updateProgress">;

interface CallToFollow extends CallTimeouts {
  readonly reqId: string;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: CallProgress) => void) | undefined;
}

/** A followed call; dispose of it when the call has ended. */
interface FollowedCall extends Disposable {
  /** The time-out to send with the call, in milliseconds. */
  readonly timeoutMs: number;
}

/** The calls whose progress somebody wants to know (`docs/protocol/progress.md`). */
export class ProgressReaders {
  readonly #listeners: Listeners;
  readonly #facts: ComputerFacts;
  readonly #log: Logger;
  readonly #readers = new Map<string, ProgressReader>();

  constructor(
    listeners: Listeners,
    { facts, logger }: { readonly facts: ComputerFacts; readonly logger: Logger },
  ) {
    this.#listeners = listeners;
    this.#facts = facts;
    this.#log = logger;
  }

  /**
   * Asks the Computer for the progress of a call, if somebody wants it. Waits for the answer only if progress is to
   * restart the time-out, and the Computer has confirmed none yet: against one that does not support it, the call must
   * keep its own.
   *
   * @throws {RangeError} when `timeoutMs` is to be restarted, and is no time-out.
   * @throws the reason of `signal` when it is aborted meanwhile.
   */
  async follow(requests: Asking, call: CallToFollow): Promise<FollowedCall> {
    const { computer } = requests;
    const isWanted = call.onProgress !== undefined || this.#listeners.has("updateProgress");
    if (!isWanted && call.resetTimeoutOnProgress !== true) {
      return alone(call.timeoutMs ?? DEFAULT_TIMEOUT_SECONDS * 1000);
    }
    const { timeoutMs, idleMs } = toCallTimes(call);
    const idleSeconds = idleMs === undefined ? undefined : toTimeoutSeconds(idleMs);
    const facts = this.#facts.of(computer);
    if (facts.isWithoutProgress === true) return alone(idleMs ?? timeoutMs);
    const key = keyOf({ computer, reqId: call.reqId });
    const reader = new ProgressReader({
      report: call.onProgress && this.#guarded(call.onProgress),
      ask: () => askProgress(requests, call, idleSeconds),
    });
    this.#readers.set(key, reader);
    const end = () => {
      reader.close();
      if (this.#readers.get(key) === reader) this.#readers.delete(key);
    };
    const opened = reader.open().then(() => {
      facts.isWithoutProgress = false;
      return true;
    }, (error: unknown) => {
      if (isNeverServed(error)) facts.isWithoutProgress = true;
      return false;
    });
    const isKnown = idleMs === undefined || facts.isWithoutProgress === false;
    if (isKnown || await settledWithin(opened, EXTENSION_TIMEOUT_MS) === true) {
      return { timeoutMs, [Symbol.dispose]: end };
    }
    end();
    call.signal?.throwIfAborted();
    const problem = "progress does not restart the time-out of a call: the Computer does not confirm it";
    this.#log.warn(problem, { computer });
    return alone(idleMs);
  }

  /** A Computer tells of progress; ignored for calls that nobody follows. */
  onUpdate(update: Update): void {
    this.#readers.get(keyOf(update))?.onUpdate(update);
  }

  #guarded(onProgress: (progress: CallProgress) => void): (progress: CallProgress) => void {
    return (progress) => {
      try {
        onProgress(progress);
      } catch (error) {
        this.#log.error("listener failed", { event: "onProgress", error: describeError(error) });
      }
    };
  }
}

function alone(timeoutMs: number): FollowedCall {
  return { timeoutMs, [Symbol.dispose]() {} };
}

function keyOf({ computer, reqId }: { readonly computer: string; readonly reqId: string }): string {
  return JSON.stringify([computer, reqId]);
}

/** Asks for the latest progress; a call that was not followed before is followed from now on. */
async function askProgress(
  requests: Asking,
  { reqId, signal }: CallToFollow,
  idle_timeout: number | undefined,
): Promise<CallProgress | undefined> {
  const options = {
    signal,
    timeoutMs: EXTENSION_TIMEOUT_MS,
    parse: parseFollowCallRet,
    isFailureLogged: true,
  };
  return (await requests.ask(FOLLOW_CALL_EVENT, { call: reqId, idle_timeout }, options)).progress;
}

function numbersOf({ progress, total }: Update): CallProgress {
  return total === undefined ? { progress } : { progress, total };
}

/** Reads the progress of one call: numbers from the updates, and a text by a request, one at a time. */
class ProgressReader {
  readonly #report: ((progress: CallProgress) => void) | undefined;
  readonly #ask: () => Promise<CallProgress | undefined>;
  #last: CallProgress | undefined;
  #asked: Update | undefined;
  /** The update to ask for when the present request has ended. */
  #next: Update | undefined;
  #isClosed = false;

  constructor({ report, ask }: {
    readonly report: ((progress: CallProgress) => void) | undefined;
    readonly ask: () => Promise<CallProgress | undefined>;
  }) {
    this.#report = report;
    this.#ask = ask;
  }

  /** Sends the first request; rejects when the Computer does not follow the call. */
  async open(): Promise<void> {
    this.#tell(await this.#ask());
  }

  onUpdate(update: Update): void {
    if (this.#report === undefined) return;
    if (!update.hasMessage) return this.#tell(numbersOf(update));
    this.#next = update;
    if (this.#asked === undefined) void this.#readTexts();
  }

  /** Reports the numbers of the latest update if its text has not come: nobody has it after the call. */
  close(): void {
    const latest = this.#next ?? this.#asked;
    const told = this.#last?.progress ?? -Infinity;
    if (latest !== undefined && latest.progress > told) this.#tell(numbersOf(latest));
    this.#isClosed = true;
  }

  /** Never rejects: where the text cannot be read, the numbers are reported. */
  async #readTexts(): Promise<void> {
    for (let update = this.#next; update !== undefined && !this.#isClosed; update = this.#next) {
      this.#next = undefined;
      this.#asked = update;
      this.#tell(await this.#ask().catch(() => undefined) ?? numbersOf(update));
    }
    this.#asked = undefined;
  }

  /** Reports progress that is news: an answer may be newer than the updates that arrive after it. */
  #tell(progress: CallProgress | undefined): void {
    if (progress === undefined || this.#isClosed) return;
    const last = this.#last;
    if (last !== undefined && progress.progress < last.progress) return;
    if (last?.progress === progress.progress && last.message === progress.message) return;
    this.#last = progress;
    this.#report?.(progress);
  }
}
