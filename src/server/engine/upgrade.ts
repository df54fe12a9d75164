/** The upgrade of a session from polling to a WebSocket: a probe and its answer, the end of the poll, and the change. */
import type { Polling } from "./polling.ts";
import type { Incoming } from "./incoming.ts";
import { EnginePacketType, type EngineSession, type Probe } from "./session.ts";
import type { Expirable, Scheduled, Timeouts } from "../../async/timeouts.ts";
import type { Receiver, WebSocket } from "./web_socket.ts";

const PROBE = `${EnginePacketType.ping}probe`;
const PROBE_ANSWER = `${EnginePacketType.pong}probe`;
/** How long an upgrade may take. */
const UPGRADE_TIMEOUT_MS = 10_000;
/** How often a poll that waits is ended, so that its client can send no further one. A client may not pause at once. */
const NOOP_INTERVAL_MS = 100;

/** Receives the packets of a WebSocket until it is the transport of the session. */
export class Upgrade implements Receiver, Probe, Expirable {
  readonly #session: EngineSession;
  readonly #webSocket: WebSocket;
  readonly #polling: Polling;
  readonly #timeouts: Timeouts;
  /** Whether the WebSocket is the transport of the session, or is closed. */
  #isOver = false;
  readonly #deadline: Scheduled;
  /** The next noop, after the probe. */
  #noop: Scheduled | undefined;

  constructor(session: EngineSession, { webSocket, polling, timeouts }: {
    readonly webSocket: WebSocket;
    readonly polling: Polling;
    readonly timeouts: Timeouts;
  }) {
    this.#session = session;
    this.#webSocket = webSocket;
    this.#polling = polling;
    this.#timeouts = timeouts;
    this.#deadline = timeouts.add(this, UPGRADE_TIMEOUT_MS);
  }

  get socket(): WebSocket["socket"] {
    return this.#webSocket.socket;
  }

  countChunk(bytes: number): boolean {
    return this.#session.countChunk(bytes);
  }

  onText(text: string): void {
    if (this.#isOver) return;
    // One only: a client could send many and read no answer.
    if (text === PROBE && this.#noop === undefined) {
      this.#webSocket.sendFirst(PROBE_ANSWER);
      this.#waitForNoop();
    } else if (text === EnginePacketType.upgrade) this.#finish();
    else this.#cancel();
  }

  onMessage(_message: Incoming): void {
    this.#cancel();
  }

  fail(): void {
    this.#cancel();
  }

  onGone(): void {
    if (this.#session.probe === this) this.#session.probe = undefined;
  }

  /** Closes the WebSocket; the session goes on with polling. */
  #cancel(): void {
    if (this.#isOver) return;
    this.#end();
    this.#webSocket.close();
  }

  destroy(): void {
    this.#cancel();
    this.#webSocket.destroy();
  }

  /** Implements {@linkcode Expirable}: the upgrade took too long. */
  expire(): void {
    this.#cancel();
  }

  #finish(): void {
    this.#end();
    this.#polling.retire();
    this.#webSocket.serve(this.#session, this.#session.outbox);
    this.#session.upgradeTo(this.#webSocket);
  }

  #end(): void {
    this.#isOver = true;
    this.#timeouts.cancel(this.#deadline);
    if (this.#noop !== undefined) this.#timeouts.cancel(this.#noop);
  }

  #waitForNoop(): void {
    const expire = () => {
      this.#polling.release();
      this.#waitForNoop();
    };
    this.#noop = this.#timeouts.add({ expire }, NOOP_INTERVAL_MS);
  }
}
