/** Lines of JSON over a private socket, in both directions. */
import { readLines } from "../../../async/lines.ts";
import { isRecord, parseJson } from "../../../json/json.ts";

/** The longest line, in bytes: both sides are programs of one user, and a message of a Server may be large. */
const MAX_LINE_BYTES = 512 * 1024 * 1024;
/** The most bytes that wait for the other side, such as while it is stopped. */
const MAX_WAITING_BYTES = 512 * 1024 * 1024;
/** The messages of a side that lives, and has nothing else to say. */
const ALIVE = { alive: true };
export const HEARTBEAT_MS = 2_000;

export type Message = Readonly<Record<string, unknown>>;

export class LineChannel {
  readonly #socket: Deno.UnixConn;
  #writing = Promise.resolve(true);
  readonly #closed = Promise.withResolvers<void>();
  #waitingBytes = 0;
  #isClosed = false;

  constructor(socket: Deno.UnixConn) {
    this.#socket = socket;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  /**
   * Sends a message; resolves to whether the other side can read it. One that does not read loses its connection when too much
   * waits for it. Never rejects.
   */
  send(message: Message): Promise<boolean> {
    if (this.#isClosed) return Promise.resolve(false);
    const bytes = new TextEncoder().encode(`${JSON.stringify(message)}\n`);
    this.#waitingBytes += bytes.length;
    if (this.#waitingBytes > MAX_WAITING_BYTES) this.close();
    return this.#writing = this.#writing.then(() => this.#write(bytes));
  }

  sendAlive(): void {
    // A side that does not read needs no further sign of life.
    if (this.#waitingBytes === 0) void this.send(ALIVE);
  }

  /** Resolves when what was sent has been read, or the channel is closed. */
  async flush(): Promise<void> {
    await Promise.race([this.#writing, this.closed]);
  }

  /**
   * Calls `onMessage` with each message, one after the other, until the channel ends. Never rejects.
   *
   * @returns Whether the other side has ended it, and all that it had sent was read.
   */
  async receive(onMessage: (message: Message) => void | Promise<void>): Promise<boolean> {
    try {
      for await (const line of readLines(this.#socket.readable, MAX_LINE_BYTES)) {
        const message = parseJson(line);
        if (this.#isClosed || !isRecord(message)) return false;
        await onMessage(message);
      }
      return !this.#isClosed;
    } catch (error) {
      // A side that is killed resets the connection when something was left to read.
      return error instanceof Deno.errors.ConnectionReset && !this.#isClosed;
    } finally {
      this.close();
    }
  }

  /** Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    try {
      this.#socket.close();
    } catch {
      // Closed already, with its stream.
    }
    this.#closed.resolve();
  }

  /** A failure ends nothing: what the other side has said before it ended is still read. */
  async #write(bytes: Uint8Array): Promise<boolean> {
    try {
      let rest = bytes;
      while (rest.length > 0) rest = rest.subarray(await this.#socket.write(rest));
      return true;
    } catch {
      return false;
    } finally {
      this.#waitingBytes -= bytes.length;
    }
  }
}
