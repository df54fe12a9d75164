/** Checks the calls: each is answered exactly once, with its own answer, and its tool runs once. */
// @ts-types="socket.io-client"
import { Socket } from "socket.io-client";

/** How long after its time-out a call may be answered: the grace of the Agent, and some time for a busy machine. */
const LATE_MS = 15_000;
/** How long a cut connection may have effects: the peers reconnect with back-off. */
const CUT_MS = 10_000;
/** The most request ids for which the runs are counted. */
const MAX_REMEMBERED = 20_000;

/** A call in flight. */
export interface OpenCall {
  readonly what: string;
  readonly startMs: number;
  readonly timeoutMs: number;
}

/** The counters of one soak. */
export class Ledger {
  readonly outcomes = new Map<string, number>();
  /** The broken requirements, each with the second of the soak. */
  readonly breaches: string[] = [];
  /** The acks that the Agent received, and those that it received a second time. */
  acks = 0;
  acksTwice = 0;
  sent = 0;
  answered = 0;
  readonly #open = new Set<OpenCall>();
  readonly #startMs = performance.now();
  #cutMs = -Infinity;
  #runs = new Map<string, number>();

  /** A connection was cut, or is about to be cut. */
  noteCut(): void {
    this.#cutMs = performance.now();
  }

  /** The calls in flight. */
  get open(): ReadonlySet<OpenCall> {
    return this.#open;
  }

  /** Resolves when no call is in flight. */
  async drained(): Promise<void> {
    while (this.#open.size > 0) await new Promise((resolve) => setTimeout(resolve, 100));
  }

  /** Checks one call from its start to its answer. */
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

  /** The calls whose answer is overdue. */
  overdue(): OpenCall[] {
    const nowMs = performance.now();
    return [...this.#open].filter(({ startMs, timeoutMs }) => nowMs - startMs > timeoutMs + LATE_MS);
  }

  /** The Computer has logged a finished tool call. */
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
   * Counts the acks when they arrive. A promise settles only once, so it would hide a second ack. The client forgets an id
   * with the first ack, so the ids are stored here.
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
