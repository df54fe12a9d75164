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
  readonly #writer: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  readonly #closed = Promise.withResolvers<void>();
  #waitingBytes = 0;
  #isClosed = false;

  constructor(socket: Deno.UnixConn) {
    this.#socket = socket;
    this.#writer = socket.writable.getWriter();
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  /** Sends a message. A side that does not read loses its connection when too much waits for it. Never throws. */
  send(message: Message): void {
    this.sendLine(JSON.stringify(message));
  }

  /** Sends a message that has been written as JSON. */
  sendLine(line: string): void {
    if (this.#isClosed) return;
    const bytes = new TextEncoder().encode(`${line}\n`);
    this.#waitingBytes += bytes.length;
    if (this.#waitingBytes > MAX_WAITING_BYTES) return this.close();
    this.#writer.write(bytes).then(() => void (this.#waitingBytes -= bytes.length), () => this.close());
  }

  sendAlive(): void {
    // A side that does not read needs no further sign of life.
    if (this.#waitingBytes === 0) this.send(ALIVE);
  }

  /** Resolves when what was sent has been read, or the channel is closed. */
  async flush(): Promise<void> {
    await Promise.race([this.#writer.write(new Uint8Array()).catch(() => undefined), this.closed]);
  }

  /** Calls `onMessage` with each message until the channel ends. Never rejects. */
  async receive(onMessage: (message: Message) => void): Promise<void> {
    try {
      for await (const line of readLines(this.#socket.readable, MAX_LINE_BYTES)) {
        const message = parseJson(line);
        if (this.#isClosed || !isRecord(message)) break;
        onMessage(message);
      }
    } catch {
      // The other side is gone.
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
}
