/** Keeps count of the calls: each is answered, exactly once, with its own answer, and its tool runs once. */
// @ts-types="socket.io-client"
import { Socket } from "socket.io-client";

/** How long after its own time a call may be answered: the Agent's grace, and the machine's. */
const LATE_MS = 15_000;
/** How long a cut is felt: the peers come back with back-off. */
const CUT_MS = 10_000;
/** The most request ids whose runs are remembered. */
const MAX_REMEMBERED = 20_000;

/** A call that is under way. */
export interface OpenCall {
  readonly what: string;
  readonly startMs: number;
  readonly timeoutMs: number;
}

/** The counts of one soak. */
export class Ledger {
  readonly outcomes = new Map<string, number>();
  /** What went against a promise, each with the second it was seen in. */
  readonly breaches: string[] = [];
  /** Acks as they arrived at the Agent, and those that came once more. */
  acks = 0;
  acksTwice = 0;
  sent = 0;
  answered = 0;
  readonly #open = new Set<OpenCall>();
  readonly #startMs = performance.now();
  #cutMs = -Infinity;
  #runs = new Map<string, number>();

  /** A wire was cut, or will be at once. */
  noteCut(): void {
    this.#cutMs = performance.now();
  }

  /** The calls that are under way. */
  get open(): ReadonlySet<OpenCall> {
    return this.#open;
  }

  /** Resolves when no call is under way. */
  async drained(): Promise<void> {
    while (this.#open.size > 0) await new Promise((resolve) => setTimeout(resolve, 100));
  }

  /** Follows one call from here to its answer. */
  async follow<T>(
    call: { readonly what: string; readonly timeoutMs: number },
    run: () => Promise<T>,
    outcomeOf: (settled: PromiseSettledResult<T>, isExcused: boolean) => string,
  ): Promise<PromiseSettledResult<T>> {
    const open: OpenCall = { ...call, startMs: performance.now() };
    this.#open.add(open);
    this.sent++;
    const [settled] = await Promise.allSettled([run()]);
    this.#open.delete(open);
    this.answered++;
    this.#checkTime(open);
    const outcome = `${call.what}: ${outcomeOf(settled, this.#cutMs > open.startMs - CUT_MS)}`;
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
    return settled;
  }

  /** Calls that are still without an answer although their time has long passed. */
  overdue(): OpenCall[] {
    const nowMs = performance.now();
    return [...this.#open].filter(({ startMs, timeoutMs }) => nowMs - startMs > timeoutMs + LATE_MS);
  }

  /** A tool call was reported as done by the Computer. */
  noteRun(reqId: string): void {
    const runs = (this.#runs.get(reqId) ?? 0) + 1;
    this.#runs.set(reqId, runs);
    if (runs > 1 && !reqId.startsWith("again-")) this.breach(`the Computer ran call ${reqId} ${runs} times`);
    const [oldest] = this.#runs.keys();
    if (this.#runs.size > MAX_REMEMBERED && oldest !== undefined) this.#runs.delete(oldest);
  }

  breach(what: string): void {
    const second = Math.round((performance.now() - this.#startMs) / 1000);
    this.breaches.push(`${second} s: ${what}`);
    console.log(`BREACH at ${second} s: ${what}`);
  }

  /**
   * Counts the acks as they come off the wire: a promise settles once whatever arrives, so it could not tell. The
   * client forgets an id with its first ack, so the ids are kept here.
   */
  watchAcks(): void {
    const onAck: unknown = Reflect.get(Socket.prototype, "onack");
    if (typeof onAck !== "function") {
      throw new TypeError("Cannot watch acks: this socket.io-client has no onack");
    }
    const seen = new WeakMap<object, Set<number>>();
    const note = (socket: object, id: number) => this.#noteAck(seen, { socket, id });
    Reflect.set(Socket.prototype, "onack", function (this: object, packet: { id: number }) {
      note(this, packet.id);
      return Reflect.apply(onAck, this, [packet]);
    });
  }

  #noteAck(seen: WeakMap<object, Set<number>>, { socket, id }: { socket: object; id: number }): void {
    this.acks++;
    const ids = seen.get(socket) ?? new Set();
    seen.set(socket, ids);
    if (ids.has(id)) {
      this.acksTwice++;
      this.breach(`ack ${id} arrived twice`);
    }
    ids.add(id);
  }

  #checkTime({ what, startMs, timeoutMs }: OpenCall): void {
    const lateMs = performance.now() - startMs - timeoutMs;
    if (lateMs > LATE_MS) this.breach(`${what} was answered ${Math.round(lateMs)} ms after its time`);
  }
}
