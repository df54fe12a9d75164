/** Serves the programs of one user over a private socket: they use the connection of this one. */
import { abortable, settledWithin } from "../../../async/abortable.ts";
import type { Connection } from "../../../link/connect.ts";
import type { Logger } from "../../../log.ts";
import { CREDENTIALS_EXPIRING_NOTIFICATION } from "../../../protocol/events.ts";
import type { ProtocolMinor } from "../../../protocol/version.ts";
import { describeError } from "../../../text/text.ts";
import { listenLocally, type LocalListener } from "../../local_socket.ts";
import { LineChannel, type Message } from "../../line_channel.ts";
import { type Hello, readRequest, SEAT_VERSION, type SentRequest, toSentError } from "./messages.ts";
import type { Share, SharedConnection } from "./shared_connection.ts";

/** The most programs that are served at the same time; further ones wait. */
const MAX_PROGRAMS = 256;
/** How long a program may take to say that it sends nothing more, in milliseconds. */
const GOODBYE_MS = 500;
const POLL_MS = 50;
const OTHER_VERSION = "the program that holds the seat is of another version of a2c-smcp: restart it";

interface Served {
  readonly shared: SharedConnection;
  readonly protocol: ProtocolMinor;
}

export class SeatHolder {
  readonly #path: string;
  readonly #listener: LocalListener;
  readonly #log: Logger;
  readonly #programs = new Set<Program>();
  readonly #closing = new AbortController();
  #served = Promise.withResolvers<Served>();

  private constructor(path: string, listener: LocalListener, logger: Logger) {
    this.#path = path;
    this.#listener = listener;
    this.#log = logger;
    this.#served.promise.catch(() => undefined);
    this.#accept().catch((error) =>
      logger.error("the seat is shared with no further program", { error: describeError(error) })
    );
  }

  /** Listens at a path where nobody else does. */
  static async open(path: string, logger: Logger): Promise<SeatHolder> {
    return new SeatHolder(path, await listenLocally(path), logger);
  }

  /** How many programs use the seat beside this one. */
  get programs(): number {
    return this.#programs.size;
  }

  /** Whether a program waits for an answer. */
  get isBusy(): boolean {
    return [...this.#programs].some(({ isBusy }) => isBusy);
  }

  /** Lets the programs use a connection, until it ends; those that come when the Server has said farewell wait for the next. */
  serve(shared: SharedConnection, protocol: ProtocolMinor): void {
    const served = this.#served;
    served.resolve({ shared, protocol });
    const suspend = () => {
      if (this.#served === served) this.#suspend();
    };
    void shared.server.dismissed.then(({ message }) => {
      suspend();
      this.#tell({ leaving: message });
    });
    void shared.server.closed.then(({ reason }) => {
      suspend();
      for (const program of this.#programs) if (program.isServed) program.end(reason);
    });
  }

  /** Resolves when no program waits for an answer, after `timeoutMs`, or with the signal. */
  async untilQuiet(timeoutMs: number, signal: AbortSignal): Promise<void> {
    const endsAtMs = performance.now() + timeoutMs;
    while (this.isBusy && !signal.aborted && performance.now() < endsAtMs) {
      await settledWithin(abortable(new Promise<never>(() => {}), signal).catch(() => undefined), POLL_MS);
    }
  }

  /** Tells the programs to send nothing more, and waits until they have said so. */
  async sayGoodbye(): Promise<void> {
    this.#suspend();
    this.#tell({ leaving: "the program that held the seat ends" });
    await settledWithin(Promise.all([...this.#programs].map((program) => program.gone)), GOODBYE_MS);
  }

  /** Idempotent. */
  close(): void {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    this.#listener.close();
    removeQuietly(this.#path);
    this.#served.reject(new TypeError("The seat is left"));
    for (const program of this.#programs) program.end("the program that held the seat has ended");
  }

  async #accept(): Promise<void> {
    for await (const socket of this.#listener) {
      const channel = new LineChannel(socket);
      if (this.#programs.size >= MAX_PROGRAMS) {
        channel.close();
        continue;
      }
      const program = new Program(channel, this.#log);
      this.#programs.add(program);
      void channel.closed.then(() => this.#programs.delete(program));
      void this.#welcome(program);
    }
  }

  async #welcome(program: Program): Promise<void> {
    const { promise } = this.#served;
    const served = await promise.catch(() => undefined);
    if (served === undefined) return;
    // The connection may have ended at once.
    if (promise === this.#served.promise) program.begin(served);
    else await this.#welcome(program);
  }

  /** Lets programs that come from now on wait for the next connection, or the next holder. */
  #suspend(): void {
    this.#served = Promise.withResolvers();
    this.#served.promise.catch(() => undefined);
  }

  #tell(message: Message): void {
    for (const program of this.#programs) program.channel.send(message);
  }
}

export function removeQuietly(path: string): void {
  try {
    Deno.removeSync(path);
  } catch {
    // There is none.
  }
}

/** One program that is served. */
class Program {
  readonly channel: LineChannel;
  readonly #log: Logger;
  readonly #gone = Promise.withResolvers<void>();
  #share: Share | undefined;

  constructor(channel: LineChannel, logger: Logger) {
    this.channel = channel;
    this.#log = logger;
    void channel.receive((message) => this.#receive(message)).finally(() => {
      this.#gone.resolve();
      this.#share?.end();
    });
  }

  get isServed(): boolean {
    return this.#share !== undefined;
  }

  get isBusy(): boolean {
    return this.#share?.isBusy === true;
  }

  /** Resolves when the program sends nothing more. */
  get gone(): Promise<void> {
    return this.#gone.promise;
  }

  begin({ shared, protocol }: Served): void {
    const { server } = shared;
    const hello: Hello = { protocol, maxPayloadBytes: server.maxPayloadBytes };
    this.#share = shared.share(({ event, body }) => {
      // The holder renews the credentials.
      if (event !== CREDENTIALS_EXPIRING_NOTIFICATION) this.channel.send({ event, body });
    });
    this.channel.send({ hello });
  }

  end(reason: string): void {
    this.channel.send({ ended: reason });
    void this.channel.flush().then(() => this.channel.close());
  }

  #receive(message: Message): void | Promise<void> {
    const { seat, emit, body, gone } = message;
    if (gone === true) return this.#gone.resolve();
    if (seat !== undefined) return seat === SEAT_VERSION ? undefined : this.end(OTHER_VERSION);
    if (typeof emit === "string") return this.#emit(emit, body);
    const request = readRequest(message);
    if (request === undefined || this.#share === undefined) return this.channel.close();
    return this.#begin(this.#share, request);
  }

  /** Says so before a request is passed on: one of which a program has not heard this is made again by the next holder. */
  async #begin(share: Share, request: SentRequest): Promise<void> {
    if (await this.channel.send({ read: request.id })) void this.#answer(share, request);
  }

  #emit(event: string, body: unknown): void {
    try {
      this.#share?.emit(event, body);
    } catch (error) {
      this.#log.debug("an event of another program was not sent", { error: describeError(error) });
    }
  }

  async #answer(share: Share, { id, ...request }: SentRequest): Promise<void> {
    try {
      this.channel.send({ id, answer: await share.request(request) });
    } catch (error) {
      this.channel.send({ id, error: toSentError(error) });
    }
  }
}

/** The connection of the program itself that holds the seat. */
export function ownConnection(shared: SharedConnection, share: Share): Connection {
  const { server } = shared;
  return {
    dismissed: server.dismissed,
    closed: server.closed,
    maxPayloadBytes: server.maxPayloadBytes,
    emit: (event, body) => share.emit(event, body),
    request: (event, body, timeoutMs) => share.request({ event, body, timeoutMs }),
    close: () => server.close(),
  };
}
