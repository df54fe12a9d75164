/**
 * A minimal Socket.IO client on a plain TCP connection. It uses little time itself, so that a benchmark measures the
 * Server.
 */
import { beforeDeadline, openWebSocket } from "./handshake.ts";
import { FrameCutter, type IncomingMessage, OutgoingFrame } from "./frames.ts";

/** The size of the buffer for reading, which grows while the Server fills it. */
const MIN_READ_BYTES = 2 * 1024;
const MAX_READ_BYTES = 256 * 1024;
/**
 * A join without an answer is repeated after this time, in milliseconds. The official Rust Server accepts a connection
 * before it has installed its handlers, and drops the events that arrive until then.
 */
const REPEAT_JOIN_MS = 1_000;
/** The position of the number of a request or an answer: after `42/smcp,`. */
const NUMBER_START = 8;
const [COMMA, QUOTE_0, QUOTE_9] = [0x2c, 0x30, 0x39];
const [TEXT_0, TEXT_2, TEXT_3, TEXT_4] = [0x30, 0x32, 0x33, 0x34];

/** The options of a peer. */
export interface PeerOptions {
  readonly port: number;
  /** The protocol version that the Server requires. */
  readonly version: string;
  readonly role: "agent" | "computer";
  readonly name: string;
  readonly office: string;
}

/** The number of reads and writes of all peers in this process. It shows when a Server does nothing more. */
export const activity = { count: 0 };

/** A member of an office, connected over a WebSocket. Two callbacks receive its requests and notifications. */
export class RawPeer implements AsyncDisposable {
  /** Called with the number of each request. */
  onRequest: (number: number, message: IncomingMessage) => void = () => {};
  /** Called with each notification. */
  onNotification: (message: IncomingMessage) => void = () => {};
  /** Resolves when the connection has ended, with the reason. */
  readonly closed: Promise<string>;
  readonly #conn: Deno.TcpConn;
  readonly #cutter = new FrameCutter((message) => this.#receive(message));
  readonly #acks = new Map<number, (message: IncomingMessage | undefined) => void>();
  readonly #connected = Promise.withResolvers<void>();
  readonly #queue: { readonly frame: OutgoingFrame; readonly number: number }[] = [];
  #nextNumber = 0;
  #isWriting = false;
  #reason: string | undefined;

  private constructor(conn: Deno.TcpConn, first: Uint8Array) {
    this.#conn = conn;
    this.closed = this.#read(first);
    this.send(new OutgoingFrame("2probe"));
    this.closed.then((reason) => this.#connected.reject(new TypeError(`Cannot connect: ${reason}`)));
    this.#connected.promise.catch(() => {});
  }

  /** Connects, and joins the office. */
  static async join(options: PeerOptions): Promise<RawPeer> {
    const { conn, first } = await openWebSocket(options);
    const peer = new RawPeer(conn, first);
    await beforeDeadline(peer.#connected.promise, "the connection");
    await peer.#join(options);
    return peer;
  }

  /** Whether the texts of messages are kept, see {@linkcode FrameCutter.keepsTexts}. */
  set keepsTexts(keeps: boolean) {
    this.#cutter.keepsTexts = keeps;
  }

  /** Writes the number into a frame, and sends it after the earlier ones. */
  send(frame: OutgoingFrame, number = 0): void {
    this.#queue.push({ frame, number });
    if (!this.#isWriting) this.#write().catch((error) => this.#end(String(error)));
  }

  /**
   * Sends a request with this number, and resolves to whether it was answered before it was given up. Rejects if the
   * answer has another size.
   */
  request(frame: OutgoingFrame, number: number, answerBytes: number): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#acks.set(number, (message) => {
        if (message === undefined || message.sizeBytes === answerBytes) return resolve(message !== undefined);
        const head = new TextDecoder().decode(message.head.subarray(0, message.headLength));
        reject(
          new TypeError(
            `Cannot use an answer of ${message.sizeBytes} instead of ${answerBytes} bytes: ${head}`,
          ),
        );
      });
      this.send(frame, number);
    });
  }

  /** Gives up all requests without an answer. */
  giveUp(): void {
    for (const settle of this.#acks.values()) settle(undefined);
    this.#acks.clear();
  }

  /** Sends an event and resolves to the arguments of its answer, as JSON. */
  async requestText(event: string, body: string): Promise<string> {
    const number = this.#nextNumber++;
    const answered = Promise.withResolvers<string>();
    this.#acks.set(number, (message) => answered.resolve(message?.text?.replace(/^[^[]*/, "") ?? ""));
    this.keepsTexts = true;
    this.send(new OutgoingFrame(`42/smcp,${number}["${event}",${body}]`));
    const ended = this.closed.then((reason) => Promise.reject(new TypeError(`Cannot ask: ${reason}`)));
    const text = await beforeDeadline(Promise.race([answered.promise, ended]), `the answer to ${event}`);
    this.keepsTexts = false;
    return text;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end("closed");
    await this.closed;
  }

  async #join({ role, name, office }: PeerOptions): Promise<void> {
    const body = JSON.stringify({ role, name, office_id: office });
    const answered = Promise.withResolvers<string>();
    const join = () => this.requestText("server:join_office", body).then(answered.resolve, answered.reject);
    join();
    const repeating = setInterval(join, REPEAT_JOIN_MS);
    const answer = await answered.promise.finally(() => clearInterval(repeating));
    if (!answer.startsWith("[true")) throw new TypeError(`Cannot join as "${name}": ${answer}`);
  }

  async #write(): Promise<void> {
    this.#isWriting = true;
    for (let job = this.#queue.shift(); job !== undefined; job = this.#queue.shift()) {
      job.frame.setNumber(job.number);
      const { bytes } = job.frame;
      // One write for each frame, as independent clients would do.
      for (let sent = 0; sent < bytes.length; activity.count++) {
        sent += await this.#conn.write(bytes.subarray(sent));
      }
    }
    this.#isWriting = false;
  }

  async #read(first: Uint8Array): Promise<string> {
    try {
      this.#cutter.push(first);
      let chunk = new Uint8Array(MIN_READ_BYTES);
      for (let count = await this.#conn.read(chunk); count !== null; count = await this.#conn.read(chunk)) {
        activity.count++;
        this.#cutter.push(chunk.subarray(0, count));
        if (count === chunk.length && count < MAX_READ_BYTES) chunk = new Uint8Array(MAX_READ_BYTES);
      }
      this.#end("the Server ended the connection");
    } catch (error) {
      this.#end(String(error));
    }
    return this.#reason ?? "";
  }

  /** Closes the connection. Only the first reason is kept. */
  #end(reason: string): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#conn.close();
  }

  #receive(message: IncomingMessage): void {
    const { opcode, head } = message;
    if (opcode === 0x8) return this.#end("the Server closed the WebSocket");
    if (opcode === 0x9) {
      return this.send(new OutgoingFrame(head.subarray(0, message.headLength), { opcode: 0xa }));
    }
    const [first, second] = head;
    if (first === TEXT_3) {
      // The answer to the probe: the WebSocket replaces polling from here on.
      this.send(new OutgoingFrame("5"));
      this.send(new OutgoingFrame('40/smcp,{"token":"bench"}'));
    } else if (first === TEXT_2) this.send(new OutgoingFrame("3"));
    else if (first === TEXT_4) this.#receivePacket(second, message);
  }

  #receivePacket(type: number | undefined, message: IncomingMessage): void {
    if (type === TEXT_0) return this.#connected.resolve();
    const number = readNumber(message.head);
    if (type === TEXT_3 && number !== undefined) {
      const settle = this.#acks.get(number);
      this.#acks.delete(number);
      settle?.(message);
    } else if (type === TEXT_2 && number !== undefined) this.onRequest(number, message);
    else if (type === TEXT_2) this.onNotification(message);
    else if (type === TEXT_4) this.#end(`refused: ${new TextDecoder().decode(message.head)}`);
  }
}

/** The number of a request or an answer, which follows the namespace. */
function readNumber(head: Uint8Array): number | undefined {
  if (head[NUMBER_START - 1] !== COMMA) return undefined;
  let number: number | undefined;
  for (let index = NUMBER_START; index < head.length; index++) {
    const byte = head[index] ?? 0;
    if (byte < QUOTE_0 || byte > QUOTE_9) break;
    number = (number ?? 0) * 10 + byte - QUOTE_0;
  }
  return number;
}
