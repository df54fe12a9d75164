/** The connection of a program to a Server by way of the program that holds the seat. */
import { abortable } from "../../../async/abortable.ts";
import { Deadline } from "../../../async/deadline.ts";
import type { AttemptContext, Connection, ConnectionEnd } from "../../../link/connect.ts";
import type { Farewell } from "../../../protocol/farewell.ts";
import { ConnectionClosedError } from "../../../link/errors.ts";
import { assertFits } from "../../../protocol/errors.ts";
import { HEARTBEAT_MS, LineChannel, type Message } from "./line_channel.ts";
import { fromSentError, type Hello, readHello, SEAT_VERSION } from "./messages.ts";

/** So many beats without a sign of life mean that the holder is stopped: it is not the time of a machine that slept. */
const SILENT_BEATS = 3;

const NOT_CONNECTED = "the program that holds the seat has no connection yet";

interface OpenRequest {
  readonly event: string;
  readonly settled: PromiseWithResolvers<readonly unknown[]>;
  /** Whether the holder has read it, and may have passed it on. */
  isRead: boolean;
}

/** The holder lives, and does nothing: it was stopped, or the machine is overloaded. */
export class SilentHolderError extends Error {
  override readonly name = "SilentHolderError";
  readonly code = "SILENT_HOLDER";
}

export class GuestConnection implements Connection {
  readonly #channel: LineChannel;
  readonly #onEvent: AttemptContext["onEvent"];
  readonly #onSilent: () => void;
  readonly #hello = Promise.withResolvers<Hello>();
  readonly #dismissed = Promise.withResolvers<Farewell>();
  readonly #closed = Promise.withResolvers<ConnectionEnd>();
  readonly #requests = new Map<number, OpenRequest>();
  readonly #pulse: ReturnType<typeof setInterval>;
  #lastId = 0;
  #silentBeats = 0;
  #why = "the program that held the seat has ended";
  maxPayloadBytes = 0;

  private constructor(socket: Deno.UnixConn, context: GuestContext) {
    this.#channel = new LineChannel(socket);
    this.#onEvent = context.onEvent;
    this.#onSilent = context.onSilent;
    this.#hello.promise.catch(() => undefined);
    this.#pulse = setInterval(() => this.#beat(), HEARTBEAT_MS);
    void this.#channel.receive((message) => this.#receive(message)).then((isWhole) => this.#end(isWhole));
    this.#channel.send({ seat: SEAT_VERSION });
  }

  /**
   * Waits until the holder is connected.
   *
   * @throws {SilentHolderError} the holder does nothing.
   * @throws {ConnectionClosedError} it has ended, or has no connection in time.
   */
  static async open(
    socket: Deno.UnixConn,
    context: GuestContext,
  ): Promise<{ readonly connection: GuestConnection; readonly hello: Hello }> {
    const connection = new GuestConnection(socket, context);
    const reason = () => new ConnectionClosedError(NOT_CONNECTED);
    using deadline = new Deadline(context.timeoutMs, { reason, signal: context.signal });
    try {
      const hello = await abortable(connection.#hello.promise, deadline.signal);
      connection.maxPayloadBytes = hello.maxPayloadBytes;
      return { connection, hello };
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  get dismissed(): Promise<Farewell> {
    return this.#dismissed.promise;
  }

  get closed(): Promise<ConnectionEnd> {
    return this.#closed.promise;
  }

  emit(event: string, body: unknown): void {
    assertFits(body, this.maxPayloadBytes);
    this.#channel.send({ emit: event, body });
  }

  async request(event: string, body: unknown, timeoutMs: number): Promise<readonly unknown[]> {
    assertFits(body, this.maxPayloadBytes);
    if (this.#channel.isClosed) {
      throw new ConnectionClosedError(`Cannot send "${event}": not connected`, { isUnsent: true });
    }
    const id = ++this.#lastId;
    const settled = Promise.withResolvers<readonly unknown[]>();
    this.#requests.set(id, { event, settled, isRead: false });
    // The holder keeps the time, and its heartbeat says that it does.
    this.#channel.send({ id, event, body, timeoutMs });
    return await settled.promise;
  }

  close(): Promise<void> {
    this.#why = "closed";
    this.#channel.close();
    return this.#closed.promise.then(() => undefined);
  }

  #receive(message: Message): void {
    this.#silentBeats = 0;
    const hello = readHello(message);
    if (hello !== undefined) return this.#hello.resolve(hello);
    const { id, answer, error, event, body, leaving, ended, read } = message;
    if (typeof id === "number") return this.#settle(id, answer, error);
    const request = typeof read === "number" ? this.#requests.get(read) : undefined;
    if (request !== undefined) request.isRead = true;
    if (typeof event === "string") {
      return this.#onEvent({ event, body, reply: undefined, maxAnswerBytes: this.maxPayloadBytes });
    }
    if (typeof leaving === "string") {
      this.#dismissed.resolve({ code: "seat_left", message: leaving, reconnect: true });
      // After the microtask that makes new requests wait for the next connection.
      queueMicrotask(() => setTimeout(() => this.#channel.send({ gone: true })));
    }
    if (typeof ended === "string") this.#why = ended;
  }

  #settle(id: number, answer: unknown, error: unknown): void {
    const request = this.#requests.get(id);
    if (request === undefined) return;
    this.#requests.delete(id);
    if (Array.isArray(answer)) request.settled.resolve(answer);
    else request.settled.reject(fromSentError(error));
  }

  #beat(): void {
    if (++this.#silentBeats <= SILENT_BEATS) return;
    this.#why = "the program that holds the seat does not respond";
    this.#hello.reject(new SilentHolderError(this.#why));
    this.#onSilent();
    this.#channel.close();
  }

  /** @param isWhole Whether all that the holder has said was read: what it has not read has reached nobody. */
  #end(isWhole: boolean): void {
    clearInterval(this.#pulse);
    this.#hello.reject(new ConnectionClosedError(this.#why));
    for (const { event, settled, isRead } of this.#requests.values()) {
      const message = `Cannot complete "${event}": connection lost (${this.#why})`;
      settled.reject(new ConnectionClosedError(message, { isUnsent: isWhole && !isRead }));
    }
    this.#requests.clear();
    this.#closed.resolve({ reason: this.#why, isLocal: true });
  }
}

export interface GuestContext extends AttemptContext {
  /** Called when the holder has given no sign of life for some seconds. */
  readonly onSilent: () => void;
}
