/** Many time-outs on few timers: those that end in the same 50 ms share one. Adding and cancelling takes constant time. */
import { MAX_TIMER_MS } from "./backoff.ts";
import { turnStartMs } from "./turn_clock.ts";

/** An entry may expire that much later, in milliseconds. */
const RESOLUTION_MS = 50;

export interface Expirable {
  /** Called once, when the time is over. Must not throw. */
  expire(): void;
}

export interface Clock {
  /** Returns milliseconds since a fixed point; never decreases. */
  nowMs(): number;
  /** Calls `fire` after `delayMs`; the returned function cancels that. */
  startTimer(fire: () => void, delayMs: number): () => void;
}

const systemClock: Clock = {
  nowMs: turnStartMs,
  startTimer(fire, delayMs) {
    const timer = setTimeout(fire, delayMs);
    return () => clearTimeout(timer);
  },
};

/** Identifies an entry for {@linkcode Timeouts.cancel}; a node in the doubly linked ring of its slot. */
export class Scheduled {
  next: Scheduled = this;
  previous: Scheduled = this;
  readonly slot: Slot;
  /** `undefined` after it has expired or was cancelled, so that the entry can be collected. */
  entry: Expirable | undefined;

  constructor(entry: Expirable, slot: Slot) {
    this.entry = entry;
    this.slot = slot;
  }
}

/** The entries that expire together. */
interface Slot {
  readonly tick: number;
  readonly stopTimer: () => void;
  /** One of the ring; `undefined` when there is none. */
  any: Scheduled | undefined;
}

export class Timeouts {
  readonly #slots = new Map<number, Slot>();
  /** The last slot that was emptied. Its timer runs on: the next entry is often due in the same slot. */
  #emptied: Slot | undefined;
  readonly #clock: Clock;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /** Makes `entry` expire `timeoutMs` after this turn of the event loop began, or up to 50 ms later; after 24 days at the latest. */
  add(entry: Expirable, timeoutMs: number): Scheduled {
    const dueMs = this.#clock.nowMs() + Math.min(timeoutMs, MAX_TIMER_MS - RESOLUTION_MS);
    const tick = Math.ceil(dueMs / RESOLUTION_MS);
    const slot = this.#slots.get(tick) ?? this.#open(tick);
    const scheduled = new Scheduled(entry, slot);
    if (slot.any === undefined) slot.any = scheduled;
    else {
      scheduled.next = slot.any;
      scheduled.previous = slot.any.previous;
      scheduled.previous.next = slot.any.previous = scheduled;
    }
    return scheduled;
  }

  cancel(scheduled: Scheduled): void {
    const { entry, slot, next, previous } = scheduled;
    if (entry === undefined) return;
    scheduled.entry = undefined;
    previous.next = next;
    next.previous = previous;
    if (slot.any === scheduled) slot.any = next === scheduled ? undefined : next;
    scheduled.next = scheduled.previous = scheduled;
    if (slot.any !== undefined || slot === this.#emptied) return;
    if (this.#emptied?.any === undefined) this.#close(this.#emptied);
    this.#emptied = slot;
  }

  clear(): void {
    for (const slot of this.#slots.values()) slot.stopTimer();
    this.#slots.clear();
  }

  #open(tick: number): Slot {
    const delayMs = Math.max(0, Math.ceil(tick * RESOLUTION_MS - this.#clock.nowMs()));
    const stopTimer = this.#clock.startTimer(() => this.#fire(slot), delayMs);
    const slot: Slot = { tick, stopTimer, any: undefined };
    this.#slots.set(tick, slot);
    return slot;
  }

  #close(slot: Slot | undefined): void {
    if (slot === undefined) return;
    slot.stopTimer();
    if (this.#slots.get(slot.tick) === slot) this.#slots.delete(slot.tick);
  }

  #fire(slot: Slot): void {
    this.#slots.delete(slot.tick);
    for (let due = slot.any; due !== undefined; due = slot.any) {
      const { entry } = due;
      this.cancel(due);
      entry?.expire();
    }
  }
}
