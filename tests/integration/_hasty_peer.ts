/** Peers that send packets of Socket.IO whenever they like, also before the Server has answered their CONNECT. */
import {
  exchange,
  frame,
  openPolling,
  openWebSocket,
  PING_FRAME,
  POLLING,
  PONG_FRAME,
  type RawConnection,
} from "../attacks/_raw_http.ts";
import { within } from "../fixtures/within.ts";

/** A packet of Socket.IO, or one of its attachments. */
export type Packet = string | Uint8Array;

/** One session over one transport. */
export interface HastyPeer extends AsyncDisposable {
  /** Resolves when the Server has read the packets. */
  send(...packets: Packet[]): Promise<void>;
  /** Sends packets after which the Server may end the session. */
  sendLast(...packets: Packet[]): Promise<void>;
  /** Resolves to all that the Server has sent once `text` is part of it. */
  until(text: string): Promise<string>;
  /** Resolves to all that the Server has sent when it has ended the session. */
  untilClosed(): Promise<string>;
}

/** How the Server begins to end a websocket; its other side answers in kind. */
const CLOSE_FRAME = "\x88\x00";
/** Engine.IO's packet that ends a session. */
const CLOSE = "1";

/** How to open a session over each transport. */
export const TRANSPORTS: Readonly<Record<string, (port: number) => Promise<HastyPeer>>> = {
  websocket: async (port) => new WebSocketPeer(await openWebSocket(port)),
  polling: async (port) => new PollingPeer(port, await openPolling(port)),
};

class WebSocketPeer implements HastyPeer {
  readonly #connection: RawConnection;
  #pings = 0;

  constructor(connection: RawConnection) {
    this.#connection = connection;
  }

  async send(...packets: Packet[]): Promise<void> {
    this.#write(packets);
    const pings = ++this.#pings;
    this.#connection.write(PING_FRAME);
    await this.#connection.until("pong", (text) => text.split(PONG_FRAME).length > pings);
  }

  sendLast(...packets: Packet[]): Promise<void> {
    this.#write(packets);
    return Promise.resolve();
  }

  until(text: string): Promise<string> {
    return this.#connection.until(text, (received) => received.includes(text));
  }

  async untilClosed(): Promise<string> {
    const { closed } = this.#connection;
    const isClosing = (received: string) => received.endsWith(CLOSE_FRAME);
    await Promise.race([closed, this.#connection.until("closing handshake", isClosing).catch(() => closed)]);
    this.#connection.write(frame("", { opcode: 8 }));
    await this.#connection.untilClosed();
    return this.#connection.received;
  }

  #write(packets: readonly Packet[]): void {
    for (const packet of packets) {
      const opcode = typeof packet === "string" ? 1 : 2;
      this.#connection.write(frame(typeof packet === "string" ? `4${packet}` : packet, { opcode }));
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#connection[Symbol.asyncDispose]();
  }
}

class PollingPeer implements HastyPeer {
  readonly #port: number;
  readonly #target: string;
  #received = "";
  #isClosed = false;

  constructor(port: number, sid: string) {
    this.#port = port;
    this.#target = `${POLLING}&sid=${sid}`;
  }

  async send(...packets: Packet[]): Promise<void> {
    const { status } = await this.#send(packets);
    if (status !== 200) throw new TypeError(`Cannot send: ${status}`);
  }

  async sendLast(...packets: Packet[]): Promise<void> {
    await this.#send(packets);
  }

  until(text: string): Promise<string> {
    return within(this.#until(text), () => `"${text}"; what came is "${this.#received}"`);
  }

  async #until(text: string): Promise<string> {
    while (!this.#received.includes(text)) {
      if (this.#isClosed) throw new TypeError(`Closed before ${text}: ${this.#received}`);
      await this.#poll();
    }
    return this.#received;
  }

  untilClosed(): Promise<string> {
    return within(this.#untilClosed(), () => `the end of the session; what came is "${this.#received}"`);
  }

  async #untilClosed(): Promise<string> {
    while (!this.#isClosed) await this.#poll();
    return this.#received;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isClosed) await this.#post(CLOSE);
  }

  #send(packets: readonly Packet[]): ReturnType<typeof exchange> {
    const texts = packets.map((packet) =>
      typeof packet === "string" ? `4${packet}` : `b${packet.toBase64()}`
    );
    return this.#post(texts.join("\x1e"));
  }

  #post(body: string): ReturnType<typeof exchange> {
    return exchange(this.#port, { method: "POST", target: this.#target, body });
  }

  async #poll(): Promise<void> {
    const { status, body } = await exchange(this.#port, { target: this.#target });
    this.#isClosed = status !== 200 || body.endsWith("1");
    this.#received += `${body}\x1e`;
  }
}
