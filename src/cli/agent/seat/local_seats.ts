/** The shared seats of one program: one in each office that it uses. */
import type { ConnectionOptions } from "../../credentials.ts";
import type { LocalSeat, LocalSeatOptions, SettleOptions } from "./local_seat.ts";

/** Settle, close the Agents, then dispose. */
export class LocalSeats implements AsyncDisposable {
  readonly #options: LocalSeatOptions;
  readonly #seats = new Map<string, Promise<LocalSeat | undefined>>();

  constructor(options: LocalSeatOptions) {
    this.#options = options;
  }

  /** The seat in an office, which stays the same; `undefined` where it cannot be shared. */
  async of(connection: ConnectionOptions): Promise<LocalSeat | undefined> {
    const { office } = connection;
    // Loaded only when something connects, so that --help and a wrong command line are fast.
    const { LocalSeat } = await import("./local_seat.ts");
    const seat = this.#seats.get(office) ?? LocalSeat.find(connection, this.#options);
    this.#seats.set(office, seat);
    return await seat;
  }

  /**
   * Serves other programs until none waits for an answer. Call it before the Agents are closed.
   *
   * @param signal Ends the wait.
   * @param options `onWait`: called when others wait for answers.
   */
  async settle(signal: AbortSignal, options: SettleOptions = {}): Promise<void> {
    const seats = await Promise.all(this.#seats.values());
    await Promise.all(seats.map((seat) => seat?.settle(signal, options)));
  }

  /** Leaves the seats to the next programs. Call it after the Agents are closed. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const seat of await Promise.all(this.#seats.values())) seat?.[Symbol.dispose]();
  }
}
