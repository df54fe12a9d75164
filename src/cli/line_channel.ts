/** Lines of JSON over a private socket, in both directions. */
import { settledWithin } from "../async/abortable.ts";
import { readLines } from "../async/lines.ts";
import { isRecord, parseJson } from "../json/json.ts";
import type { LocalConnection } from "./local_socket.ts";

interface ChannelBounds {
  /** The longest line that is read, in bytes. */
  readonly maxLineBytes: number;
  /** The most bytes that may wait for the other side when a message is sent, which may itself be longer. */
  readonly maxWaitingBytes: number;
  /** How long the other side may take to read a message, in milliseconds. */
  readonly readTimeoutMs: number;
}

/** Both sides are programs of one user: a message of a Server may be large, and a program may be stopped for long. */
const DEFAULT_BOUNDS: ChannelBounds = {
  maxLineBytes: 512 * 1024 * 1024,
  maxWaitingBytes: 512 * 1024 * 1024,
  readTimeoutMs: Infinity,
};

export type Message = Readonly<Record<string, unknown>>;

export class LineChannel {
  readonly #socket: LocalConnection;
  readonly #bounds: ChannelBounds;
  #writing = Promise.resolve(true);
  readonly #closed = Promise.withResolvers<void>();
  #waitingBytes = 0;
  #isClosed = false;
  /** A write that waits outlives the closing of its socket. */
  #endWrite = (): void => {};

  constructor(socket: LocalConnection, bounds: ChannelBounds = DEFAULT_BOUNDS) {
    this.#socket = socket;
    this.#bounds = bounds;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  /**
   * Sends a message; resolves to whether the other side can read it. One that does not read loses its connection when too much
   * waits for it, or for too long. Never rejects.
   */
  send(message: object): Promise<boolean> {
    if (this.#waitingBytes > this.#bounds.maxWaitingBytes) this.close();
    if (this.#isClosed) return Promise.resolve(false);
    const bytes = new TextEncoder().encode(`${JSON.stringify(message)}\n`);
    this.#waitingBytes += bytes.length;
    return this.#writing = this.#writing.then(() => this.#write(bytes));
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
      for await (const line of readLines(this.#socket.readable, this.#bounds.maxLineBytes)) {
        const message = parseJson(line);
        if (this.#isClosed || !isRecord(message)) return false;
        await onMessage(message);
      }
      return !this.#isClosed;
    } catch (error) {
      // On Windows a failed write ends the reading, too. Whoever has written learns of it first.
      if (error instanceof Deno.errors.BrokenPipe) await this.#writing;
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
    this.#endWrite();
    this.#closed.resolve();
  }

  async #write(bytes: Uint8Array): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#endWrite = () => resolve(false);
    void this.#writeAll(bytes).then(resolve);
    const isWritten = await settledWithin(promise, this.#bounds.readTimeoutMs);
    if (isWritten === undefined) this.close();
    this.#waitingBytes -= bytes.length;
    return isWritten ?? false;
  }

  /** A failure ends nothing: what the other side has said before it ended is still read. */
  async #writeAll(bytes: Uint8Array): Promise<boolean> {
    try {
      let rest = bytes;
      while (rest.length > 0) rest = rest.subarray(await this.#socket.write(rest));
      return true;
    } catch {
      return false;
    }
  }
}
