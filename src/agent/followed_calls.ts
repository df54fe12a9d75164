/** The progress of an Agent's tool calls (`docs/protocol/progress.md`). */
import { settledWithin } from "../async/abortable.ts";
import type { Logger } from "../log.ts";
import { parseFollowCallRet } from "../protocol/answers.ts";
import { FOLLOW_CALL_EVENT } from "../protocol/events.ts";
import { RequestTimeoutError } from "../protocol/local_errors.ts";
import type { CallProgress } from "../protocol/progress.ts";
import { type CallTimeouts, toCallTimes } from "../protocol/timeouts.ts";
import { describeError } from "../text.ts";
import type { AgentEventOf } from "./events.ts";
import type { Listeners } from "./listeners.ts";
import { isNotServed, type SendOptions, toTimeoutSeconds } from "./requests.ts";

/** How long the answer is waited for, in milliseconds: some other implementations do not answer unknown events. */
const FOLLOW_TIMEOUT_MS = 5_000;
/** The most Computers that are remembered; then all are asked again. */
const MAX_UNABLE = 1_000;

export interface RequestSender {
  readonly computer: string;
  ask<T>(event: string, body: Readonly<Record<string, unknown>>, options: SendOptions<T>): Promise<T>;
}

export interface CallToFollow extends CallTimeouts {
  readonly reqId: string;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: CallProgress) => void) | undefined;
}

/** A followed call; dispose of it when the call has ended. */
export interface FollowedCall extends Disposable {
  /** The time-out to send with the call, in milliseconds. */
  readonly timeoutMs: number;
}

type Update = AgentEventOf<"updateProgress">;
type Report = (progress: CallProgress) => void;

export class FollowedCalls {
  readonly #listeners: Listeners;
  readonly #log: Logger;
  readonly #readers = new Map<string, ProgressReader>();
  /** The Computers that do not support it, until they join again. */
  readonly #unable = new Set<string>();

  constructor(listeners: Listeners, logger: Logger) {
    this.#listeners = listeners;
    this.#log = logger;
    listeners.on("enterOffice", ({ name }) => void this.#unable.delete(name));
    listeners.on("reconnected", () => this.#unable.clear());
  }

  /**
   * Asks the Computer for the progress of a call, if somebody wants it. Waits for the answer only if progress is to
   * restart the time-out: against a Computer that does not support it, the call must keep its own.
   *
   * @throws {RangeError} when `timeoutMs` is to be restarted, and is no time-out.
   * @throws the reason of `signal` when it is aborted meanwhile.
   */
  async follow(requests: RequestSender, call: CallToFollow): Promise<FollowedCall> {
    const { timeoutMs, idleMs } = toCallTimes(call);
    const idleSeconds = idleMs === undefined ? undefined : toTimeoutSeconds(idleMs);
    const isWanted = call.onProgress !== undefined || this.#listeners.has("updateProgress");
    if (!isWanted && idleMs === undefined) return alone(timeoutMs);
    if (this.#unable.has(requests.computer)) return alone(idleMs ?? timeoutMs);
    const key = keyOf({ computer: requests.computer, reqId: call.reqId });
    const reader = new ProgressReader({
      report: call.onProgress && this.#guarded(call.onProgress),
      ask: () => ask(requests, call, idleSeconds),
    });
    this.#readers.set(key, reader);
    const end = () => {
      reader.close();
      if (this.#readers.get(key) === reader) this.#readers.delete(key);
    };
    const opened = reader.open().then((outcome) => {
      if (outcome === "unable") this.#remember(requests.computer);
      return outcome;
    });
    if (idleMs === undefined) return { timeoutMs, [Symbol.dispose]: end };
    if (await settledWithin(opened, FOLLOW_TIMEOUT_MS) === "open") {
      return { timeoutMs, [Symbol.dispose]: end };
    }
    end();
    call.signal?.throwIfAborted();
    this.#log.warn("progress does not restart the time-out of a call: the Computer does not confirm it", {
      computer: requests.computer,
    });
    return alone(idleMs);
  }

  /** A Computer tells of progress; ignored for calls that nobody follows. */
  onUpdate(update: Update): void {
    this.#readers.get(keyOf(update))?.onUpdate(update);
  }

  #remember(computer: string): void {
    this.#unable.add(computer);
    if (this.#unable.size > MAX_UNABLE) this.#unable.clear();
  }

  #guarded(onProgress: Report): Report {
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
async function ask(
  requests: RequestSender,
  { reqId, signal }: CallToFollow,
  idle_timeout: number | undefined,
): Promise<CallProgress | undefined> {
  const { progress } = await requests.ask(FOLLOW_CALL_EVENT, { call: reqId, idle_timeout }, {
    signal,
    timeoutMs: FOLLOW_TIMEOUT_MS,
    isFailureLogged: true,
    parse: parseFollowCallRet,
  });
  return progress;
}

function numbersOf({ progress, total }: Update): CallProgress {
  return total === undefined ? { progress } : { progress, total };
}

/** Reads the progress of one call: numbers from the updates, and a text by a request, one at a time. */
class ProgressReader {
  readonly #report: Report | undefined;
  readonly #ask: () => Promise<CallProgress | undefined>;
  #last: CallProgress | undefined;
  #asked: Update | undefined;
  /** The update to ask for when the present request has ended. */
  #next: Update | undefined;
  #isClosed = false;

  constructor(
    options: {
      readonly report: Report | undefined;
      readonly ask: () => Promise<CallProgress | undefined>;
    },
  ) {
    this.#report = options.report;
    this.#ask = options.ask;
  }

  /** Sends the first request; resolves to what the Computer makes of it. Never rejects. */
  open(): Promise<"open" | "unable" | "failed"> {
    return this.#ask().then((progress) => {
      this.#tell(progress);
      return "open";
    }, (error) => isNotServed(error) || error instanceof RequestTimeoutError ? "unable" : "failed");
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
