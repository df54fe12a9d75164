/** The tool calls whose progress the Agent follows (`docs/protocol/progress.md`). */
import { Throttle } from "../../async/throttle.ts";
import type { Progress } from "../../mcp/call_options.ts";
import type { UpdateProgressReq } from "../../protocol/progress.ts";

const UPDATE_INTERVAL_MS = 500;
/** The share of one followed call in that time: a Server limits the notifications of a Computer. */
const SHARE_MS = 25;
/** The most calls that are to be followed and have not begun; the oldest is forgotten for another one. */
const MAX_EXPECTED = 512;

export type ProgressUpdate = Omit<UpdateProgressReq, "computer">;

interface RunningCall {
  /** Made when it is followed. */
  throttle?: Throttle;
  isFollowed: boolean;
  latest: Progress | undefined;
}

/** Tells the office of the progress of the calls that its Agent follows; of the words of a server, only that there are some. */
export class FollowedCalls {
  readonly #tell: ((update: ProgressUpdate) => void) | undefined;
  /** The calls that have not begun, by `req_id`, and how long each may make no progress. */
  readonly #expected = new Map<string, number | undefined>();
  readonly #running = new Map<string, RunningCall>();

  constructor(tell: ((update: ProgressUpdate) => void) | undefined) {
    this.#tell = tell;
  }

  /**
   * Follows a call that runs or is about to begin. To follow it again changes nothing.
   *
   * @param idleMs How long the call may make no progress, in milliseconds; without effect when it runs.
   * @return The latest progress of the call.
   */
  follow(reqId: string, idleMs?: number): Progress | undefined {
    const running = this.#running.get(reqId);
    if (running !== undefined) {
      running.isFollowed = true;
      return running.latest;
    }
    if (!this.#expected.has(reqId)) this.#expected.set(reqId, idleMs);
    const [oldest = reqId] = this.#expected.keys();
    if (this.#expected.size > MAX_EXPECTED) this.#expected.delete(oldest);
    return undefined;
  }

  /** A call begins; returns how long it may make no progress, if the Agent has said so. */
  onBegun(reqId: string): number | undefined {
    const isFollowed = this.#expected.has(reqId);
    const idleMs = this.#expected.get(reqId);
    this.#expected.delete(reqId);
    this.#running.set(reqId, { isFollowed, latest: undefined });
    return idleMs;
  }

  onProgress(reqId: string, progress: Progress): void {
    const call = this.#running.get(reqId);
    if (call === undefined) return;
    call.latest = progress;
    if (!call.isFollowed) return;
    call.throttle ??= new Throttle(() => this.#update(reqId), () => this.#intervalMs);
    call.throttle.request();
  }

  /** A call has ended: nothing more is told of it. */
  onEnded(reqId: string): void {
    this.#running.get(reqId)?.throttle?.close();
    this.#running.delete(reqId);
  }

  /** The Agent or this Computer has left the office: nothing is followed any more. */
  endAgent(): void {
    this.#expected.clear();
    for (const call of this.#running.values()) {
      call.isFollowed = false;
      call.throttle?.cancel();
    }
  }

  get #intervalMs(): number {
    const followed = this.#running.values().filter(({ isFollowed }) => isFollowed).toArray().length;
    return Math.max(UPDATE_INTERVAL_MS, followed * SHARE_MS);
  }

  #update(reqId: string): void {
    const latest = this.#running.get(reqId)?.latest;
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
