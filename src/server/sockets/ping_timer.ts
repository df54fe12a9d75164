/**
 * The time until the next ping of a connection, on the timing wheel. The timer of Engine.IO takes a kilobyte with its
 * callbacks, and it keeps the first HTTP request, in whose context it was started.
 */
import { clearTimeout } from "node:timers";
import type { Expirable, Scheduled, TimingWheel } from "../timing_wheel.ts";

/** The private members of an Engine.IO connection that are used here. */
interface PingedConnection {
  pingIntervalTimer: NodeJS.Timeout | PingTimer | null;
  hasRefreshedPingTimeout: boolean;
  sendPacket(type: "ping"): void;
  resetPingTimeout(): void;
}

/** Takes the place of the timer of an Engine.IO connection, which restarts it with each pong. */
export class PingTimer implements Expirable {
  readonly #connection: PingedConnection;
  readonly #timeouts: TimingWheel;
  readonly #intervalMs: number;
  #scheduled: Scheduled;

  /** @param connection An open Engine.IO connection; `object`, because its types do not describe these members. */
  constructor(connection: object, { timeouts, pingIntervalMs }: {
    readonly timeouts: TimingWheel;
    readonly pingIntervalMs: number;
  }) {
    if (!isPinged(connection)) {
      throw new TypeError("Cannot replace the timer of pings: this version of Engine.IO has another one");
    }
    const timer = connection.pingIntervalTimer;
    if (timer !== null && !(timer instanceof PingTimer)) clearTimeout(timer);
    connection.pingIntervalTimer = this;
    this.#connection = connection;
    this.#timeouts = timeouts;
    this.#intervalMs = pingIntervalMs;
    this.#scheduled = timeouts.add(this, pingIntervalMs);
  }

  refresh(): void {
    this.stop();
    this.#scheduled = this.#timeouts.add(this, this.#intervalMs);
  }

  expire(): void {
    this.#connection.hasRefreshedPingTimeout = false;
    this.#connection.sendPacket("ping");
    this.#connection.resetPingTimeout();
  }

  stop(): void {
    this.#timeouts.cancel(this.#scheduled);
  }
}

function isPinged(connection: object): connection is PingedConnection {
  return "pingIntervalTimer" in connection && "hasRefreshedPingTimeout" in connection &&
    "sendPacket" in connection && "resetPingTimeout" in connection;
}
