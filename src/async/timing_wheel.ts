/**
 * A hierarchical timing wheel: many time-outs on one timer. Adding and cancelling takes constant time, and the timer
 * touches only the entries that are due or that move to the next lower wheel.
 */

/** The length of a tick, in milliseconds: an entry may expire that much later. */
const RESOLUTION_MS = 50;
/** Slots per wheel. A slot covers a whole turn of the wheel below. */
const SLOTS = 64;
/** Four wheels reach 64⁴ ticks, nine days; the longest time-out is one day. */
const WHEELS = 4;
const MAX_TICKS = SLOTS ** WHEELS - 1;

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
  nowMs: () => performance.now(),
  startTimer(fire, delayMs) {
    const timer = setTimeout(fire, delayMs);
    return () => clearTimeout(timer);
  },
};

/** Identifies an entry for {@linkcode TimingWheel.cancel}; a node in the doubly linked ring of its slot. */
export class Scheduled {
  next: Scheduled = this;
  previous: Scheduled = this;
  readonly tick: number;
  /** `undefined` after it has expired or was cancelled, so that the entry can be collected. */
  entry: Expirable | undefined;

  constructor(entry: Expirable | undefined, tick: number) {
    this.entry = entry;
    this.tick = tick;
  }

  get isAlone(): boolean {
    return this.next === this;
  }

  enter(slot: Scheduled): void {
    this.previous = slot.previous;
    this.next = slot;
    slot.previous.next = this;
    slot.previous = this;
  }

  leave(): void {
    this.previous.next = this.next;
    this.next.previous = this.previous;
    this.next = this.previous = this;
  }
}

export class TimingWheel {
  /** The rings of all slots, wheel by wheel. */
  readonly #slots = Array.from({ length: WHEELS * SLOTS }, () => new Scheduled(undefined, 0));
  /** All entries up to this tick have expired. No entry is due between it and the tick of the timer. */
  #now: number;
  #stopTimer = () => {};
  /** The tick at which the timer fires: `Infinity` without a timer, `-Infinity` while it fires. */
  #timerTick = Infinity;
  readonly #clock: Clock;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
    this.#now = this.#presentTick();
  }

  /** Makes `entry` expire after `timeoutMs`, or up to 50 ms later. */
  add(entry: Expirable, timeoutMs: number): Scheduled {
    const nowMs = this.#clock.nowMs();
    const present = Math.floor(nowMs / RESOLUTION_MS);
    this.#now = Math.max(this.#now, Math.min(present, this.#timerTick - 1));
    const wanted = Math.ceil((nowMs + timeoutMs) / RESOLUTION_MS);
    const tick = Math.max(this.#now + 1, Math.min(wanted, this.#now + MAX_TICKS));
    const scheduled = new Scheduled(entry, tick);
    const dueTick = this.#insert(scheduled);
    if (dueTick < this.#timerTick) this.#arm(dueTick);
    return scheduled;
  }

  cancel(scheduled: Scheduled): void {
    scheduled.leave();
    scheduled.entry = undefined;
  }

  clear(): void {
    for (const slot of this.#slots) {
      while (!slot.isAlone) this.cancel(slot.next);
    }
    this.#stopTimer();
    this.#timerTick = Infinity;
  }

  /** Inserts an entry into the lowest wheel that reaches its tick, and returns the tick at which its slot is due. */
  #insert(scheduled: Scheduled): number {
    const { tick } = scheduled;
    let unit = 1;
    let wheel = 0;
    while (tick - this.#now >= unit * SLOTS) {
      unit *= SLOTS;
      wheel++;
    }
    const turn = Math.floor(tick / unit);
    scheduled.enter(this.#slot(wheel, turn));
    return turn * unit;
  }

  #slot(wheel: number, turn: number): Scheduled {
    const slot = this.#slots[wheel * SLOTS + turn % SLOTS];
    if (slot === undefined) {
      throw new RangeError(`Cannot find slot "${turn}" of wheel ${wheel}: not a whole number from 0`);
    }
    return slot;
  }

  /** Not called by `cancel`: a timer without a due entry fires once, and is then set for the next entry. */
  #arm(tick: number): void {
    this.#stopTimer();
    this.#timerTick = tick;
    const delayMs = Math.max(0, tick * RESOLUTION_MS - this.#clock.nowMs());
    this.#stopTimer = this.#clock.startTimer(() => this.#fire(), delayMs);
  }

  #fire(): void {
    const present = this.#presentTick();
    this.#timerTick = -Infinity;
    let due = this.#nextDue();
    for (; due <= present; due = this.#nextDue()) this.#turnTo(due);
    this.#timerTick = Infinity;
    if (due < Infinity) this.#arm(due);
  }

  /** Moves the entries of this tick from the upper wheels to lower wheels, and expires those that are due. */
  #turnTo(tick: number): void {
    this.#now = tick;
    for (let wheel = WHEELS - 1, unit = SLOTS ** wheel; wheel > 0; wheel--, unit /= SLOTS) {
      if (tick % unit !== 0) continue;
      const slot = this.#slot(wheel, tick / unit);
      while (!slot.isAlone) {
        const scheduled = slot.next;
        scheduled.leave();
        this.#insert(scheduled);
      }
    }
    const slot = this.#slot(0, tick);
    while (!slot.isAlone) {
      const { entry } = slot.next;
      this.cancel(slot.next);
      entry?.expire();
    }
  }

  #nextDue(): number {
    let due = Infinity;
    for (let wheel = 0, unit = 1; wheel < WHEELS; wheel++, unit *= SLOTS) {
      const turn = Math.floor(this.#now / unit);
      for (let ahead = 1; ahead <= SLOTS && (turn + ahead) * unit < due; ahead++) {
        if (!this.#slot(wheel, turn + ahead).isAlone) due = (turn + ahead) * unit;
      }
    }
    return due;
  }

  #presentTick(): number {
    return Math.floor(this.#clock.nowMs() / RESOLUTION_MS);
  }
}
