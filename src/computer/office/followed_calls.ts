/** The tool calls whose progress the Agent follows (`docs/protocol/progress.md`). */
import { Throttle } from "../../async/throttle.ts";
import type { Progress } from "../../mcp/call_options.ts";
import type { UpdateProgressReq } from "../../protocol/progress.ts";

/** The shortest time between two updates of one call, in milliseconds. */
const UPDATE_INTERVAL_MS = 500;
/** The share of one followed call in that time: a Server limits the notifications of a Computer. */
const SHARE_MS = 25;
/** The most calls that are followed; the oldest is forgotten for another one. */
const MAX_FOLLOWED = 512;

/** What is told of a call. */
export type ProgressUpdate = Omit<UpdateProgressReq, "computer">;

interface FollowedCall {
  readonly idleMs: number | undefined;
  readonly throttle: Throttle;
  latest: Progress | undefined;
}

/** Tells the office of the progress of the calls that its Agent follows; of the words of a server, only that there are some. */
export class FollowedCalls {
  readonly #tell: ((update: ProgressUpdate) => void) | undefined;
  /** By `req_id`. */
  readonly #calls = new Map<string, FollowedCall>();

  constructor(tell: ((update: ProgressUpdate) => void) | undefined) {
    this.#tell = tell;
  }

  /**
   * Follows a call that runs or is about to begin. To follow it again changes nothing.
   *
   * @param idleMs How long the call may make no progress, in milliseconds.
   * @return The latest progress of the call.
   */
  follow(reqId: string, idleMs?: number): Progress | undefined {
    const known = this.#calls.get(reqId);
    if (known !== undefined) return known.latest;
    const [oldest] = this.#calls.keys();
    if (oldest !== undefined && this.#calls.size >= MAX_FOLLOWED) this.onEnded(oldest);
    const interval = () => Math.max(UPDATE_INTERVAL_MS, this.#calls.size * SHARE_MS);
    const throttle = new Throttle(() => this.#update(reqId), interval);
    this.#calls.set(reqId, { idleMs, throttle, latest: undefined });
    return undefined;
  }

  /** How long a call may make no progress, if the Agent has said so. */
  idleMsOf(reqId: string): number | undefined {
    return this.#calls.get(reqId)?.idleMs;
  }

  /** A call has made progress. */
  onProgress(reqId: string, progress: Progress): void {
    const call = this.#calls.get(reqId);
    if (call === undefined) return;
    call.latest = progress;
    call.throttle.request();
  }

  /** A call has ended: nothing more is told of it. */
  onEnded(reqId: string): void {
    this.#calls.get(reqId)?.throttle.close();
    this.#calls.delete(reqId);
  }

  /** The Agent or this Computer has left the office: nothing is followed any more. */
  endOffice(): void {
    for (const reqId of [...this.#calls.keys()]) this.onEnded(reqId);
  }

  #update(reqId: string): void {
    const latest = this.#calls.get(reqId)?.latest;
    if (latest === undefined) return;
    const { progress, total, message } = latest;
    this.#tell?.({
      req_id: reqId,
      progress,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { has_message: true }),
    });
  }
}
