/** The connection of a program to a Server by way of the program that holds the seat. */
import { abortable } from "../../../async/abortable.ts";
import { withDeadline } from "../../../async/deadline.ts";
import type { AttemptContext, Connection, ConnectionEnd } from "../../../link/connect.ts";
import type { Farewell } from "../../../protocol/farewell.ts";
import { ConnectionClosedError, RequestTimeoutError } from "../../../link/errors.ts";
import { assertFits } from "../../../protocol/errors.ts";
import type { LocalConnection } from "../../local_socket.ts";
import { LineChannel, type Message } from "../../line_channel.ts";
import { fromSentError, type Hello, readHello, SEAT_VERSION } from "./messages.ts";

const NOT_CONNECTED = "the program that holds the seat has no connection yet, or is stopped";

interface OpenRequest {
  readonly event: string;
  readonly settled: PromiseWithResolvers<readonly unknown[]>;
  /** Whether the holder has read it, and may have passed it on. */
  isRead: boolean;
  /** Whether it could not be written, and has reached nobody. */
  isUnwritten: boolean;
}

export class GuestConnection implements Connection {
  readonly #channel: LineChannel;
  readonly #onEvent: AttemptContext["onEvent"];
  readonly #hello = Promise.withResolvers<Hello>();
  readonly #dismissed = Promise.withResolvers<Farewell>();
  readonly #closed = Promise.withResolvers<ConnectionEnd>();
  readonly #requests = new Map<number, OpenRequest>();
  #lastId = 0;
  #why = "the program that held the seat has ended";
  maxPayloadBytes = 0;

  private constructor(socket: LocalConnection, context: AttemptContext) {
    this.#channel = new LineChannel(socket);
    this.#onEvent = context.onEvent;
    this.#hello.promise.catch(() => undefined);
    void this.#channel.receive((message) => this.#receive(message)).then((isWhole) => this.#end(isWhole));
    this.#channel.send({ seat: SEAT_VERSION });
  }

  /**
   * Waits until the holder is connected.
   *
   * @throws {ConnectionClosedError} the holder has ended, or has no connection in time.
   */
  static async open(
    socket: LocalConnection,
    context: AttemptContext,
  ): Promise<{ readonly connection: GuestConnection; readonly hello: Hello }> {
    const connection = new GuestConnection(socket, context);
    const reason = () => new ConnectionClosedError(NOT_CONNECTED);
    const { timeoutMs, signal } = context;
    try {
      const hello = await withDeadline(
        timeoutMs,
        { reason, signal },
        (signal) => abortable(connection.#hello.promise, signal),
      );
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
    const request = { event, settled, isRead: false, isUnwritten: false };
    this.#requests.set(id, request);
    void this.#channel.send({ id, event, body, timeoutMs }).then((isWritten) => {
      // This program's own closing says nothing of what was written.
      request.isUnwritten = !isWritten && !this.#channel.isClosed;
    });
    const reason = () => new RequestTimeoutError(`Cannot complete "${event}": no answer in ${timeoutMs} ms`);
    return await withDeadline(timeoutMs, { reason }, (signal) => abortable(settled.promise, signal))
      .finally(() => this.#requests.delete(id));
  }

  close(): Promise<void> {
    this.#why = "closed";
    this.#channel.close();
    return this.#closed.promise.then(() => undefined);
  }

  #receive(message: Message): void {
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
    if (Array.isArray(answer)) request.settled.resolve(answer);
    else request.settled.reject(fromSentError(error));
  }

  /** @param isWhole Whether all that the holder has said was read: what it has not read has reached nobody. */
  #end(isWhole: boolean): void {
    this.#hello.reject(new ConnectionClosedError(this.#why));
    for (const { event, settled, isRead, isUnwritten } of this.#requests.values()) {
      const message = `Cannot complete "${event}": connection lost (${this.#why})`;
      settled.reject(new ConnectionClosedError(message, { isUnsent: isUnwritten || isWhole && !isRead }));
    }
    this.#closed.resolve({ reason: this.#why, isLocal: true });
  }
}
