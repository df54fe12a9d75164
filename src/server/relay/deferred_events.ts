/** The events of a connection that wait while it joins or leaves an office. */
import { approximateSizeBytes } from "../../json/json.ts";
import { type Account, Holding } from "../engine/budget.ts";
import { RawRequest } from "../engine/raw.ts";
import { CONSTANTS } from "../options/constants.ts";

export interface MemberEvent {
  readonly event: string;
  /** Its arguments; the last one is a function when the sender asked for an ack. */
  readonly args: readonly unknown[];
}

export function sizeOfBody(body: unknown): number {
  return body instanceof RawRequest ? body.size : approximateSizeBytes(body);
}

/** What waits for the end of a change, in the order in which it came. */
export class DeferredEvents {
  readonly #waiting: (() => void)[] = [];
  readonly #counted: Holding;

  /** @param account Counts what waits: a change may last as long as Redis takes for it. */
  constructor(account: Account) {
    this.#counted = new Holding(account);
  }

  /** Adds an event; `false` when too many wait, or there is no memory for it. Below the limit, any size fits. */
  take({ args: [body] }: MemberEvent, handle: () => void): boolean {
    const { maxDeferredEvents, maxDeferredBytes } = CONSTANTS;
    if (this.#waiting.length >= maxDeferredEvents.value || this.#counted.bytes >= maxDeferredBytes.value) {
      return false;
    }
    return this.defer(sizeOfBody(body), handle);
  }

  /** Calls `handle` after the change; `false` when there is no memory for what it handles. */
  defer(bytes: number, handle: () => void): boolean {
    if (!this.#counted.hasRoom(this.#counted.bytes + bytes)) return false;
    this.#counted.change(bytes);
    this.after(handle);
    return true;
  }

  /** The same for what needs no memory. */
  after(handle: () => void): void {
    this.#waiting.push(handle);
  }

  get released(): Promise<void> {
    return new Promise((resolve) => this.after(resolve));
  }

  release(): void {
    this.#counted.hold(0);
    for (const handle of this.#waiting.splice(0)) handle();
  }
}
