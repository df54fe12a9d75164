/**
 * Many time-outs on one timer, in a hierarchical timing wheel: adding and cancelling one costs the same however many there
 * are, and a firing of the timer touches only what is due, or comes one wheel nearer.
 */

/** How late a entry may be noticed, in milliseconds: the length of a tick. */
const RESOLUTION_MS = 50;
/** Slots of a wheel. A slot of one wheel stands for a whole turn of the wheel below it. */
const SLOTS = 64;
/** Wheels: four reach 64⁴ ticks, nine days, where the longest time-out is one. */
const WHEELS = 4;
/** The furthest tick that has a slot. */
const MAX_TICKS = SLOTS ** WHEELS - 1;

/** Something that ends at some time. */
export interface Expirable {
  /** Called once, at that time. Must not throw. */
  expire(): void;
}

/** Where the time comes from. */
export interface Clock {
  /** Milliseconds from a fixed point in time; never decreases. */
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

/** A scheduled entry, which {@linkcode TimingWheel.cancel} takes: a node in the doubly linked ring of its slot. */
export class Scheduled {
  next: Scheduled = this;
  previous: Scheduled = this;
  readonly tick: number;
  /** `undefined` once it has expired or was cancelled, so that nothing is kept in memory. */
  entry: Expirable | undefined;

  constructor(entry: Expirable | undefined, tick: number) {
    this.entry = entry;
    this.tick = tick;
  }

  /** Whether it is alone in its ring. */
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

/** The timing wheel. */
export class TimingWheel {
  /** The rings of all slots, wheel by wheel. */
  readonly #slots = Array.from({ length: WHEELS * SLOTS }, () => new Scheduled(undefined, 0));
  /** All entries up to this tick have expired. Nothing is due between it and the timer's tick. */
  #now: number;
  #stopTimer = () => {};
  /** The tick at which the timer fires: `Infinity` without a timer, `-Infinity` while it fires. */
  #timerTick = Infinity;
  readonly #clock: Clock;

  /** `clock`: the system's by default. */
  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
    this.#now = this.#presentTick();
  }

  /** Lets `entry` expire in `timeoutMs`, or up to 50 ms later. */
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

  /** Cancels a entry. */
  cancel(scheduled: Scheduled): void {
    scheduled.leave();
    scheduled.entry = undefined;
  }

  /** Cancels all entries and the timer. */
  clear(): void {
    for (const slot of this.#slots) {
      while (!slot.isAlone) this.cancel(slot.next);
    }
    this.#stopTimer();
    this.#timerTick = Infinity;
  }

  /**
   * Puts it into the lowest wheel that reaches its tick.
   *
   * @return The tick at which its slot is due.
   */
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

  /** `cancel` does not call this: a timer whose entry was cancelled fires for nothing, and is set for the next one. */
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

  /** Moves entries from this tick's slots of the upper wheels to lower wheels, and expires those that are due. */
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

  /** The next tick with a slot that is not empty. */
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
