/** A member of an office that is made of bytes on a TCP connection: it reads when it likes, and pongs when it likes. */
import type { SmcpServer } from "../../server.ts";
import { concat, frame, toText, UPGRADE_HEADERS, WEBSOCKET } from "./_raw_http.ts";
import { within } from "../fixtures/within.ts";

const decoder = new TextDecoder();
/** The frame as it is decoded here: its first byte is not UTF-8. */
const PONG = "\ufffd\0";

/** What it asks to be. */
export interface RawMembership {
  readonly role: "agent" | "computer";
  readonly name: string;
  readonly office_id: string;
}

/** A WebSocket connection that is written by hand. */
export class RawMember implements Disposable {
  readonly #tcp: Deno.TcpConn;
  #received = "";

  private constructor(tcp: Deno.TcpConn) {
    this.#tcp = tcp;
  }

  /** Connects and joins; from then on it reads nothing unless told to. `auth` is what the CONNECT packet has. */
  static async join(
    server: Pick<SmcpServer, "port">,
    membership: RawMembership,
    auth: Readonly<Record<string, string>> = {},
  ): Promise<RawMember> {
    const tcp = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
    const member = new RawMember(tcp);
    const handshake = toText(server.port, { target: WEBSOCKET, headers: UPGRADE_HEADERS });
    await member.#write(new TextEncoder().encode(handshake));
    await member.readUntil('0{"sid"');
    await member.send(`40/smcp,${JSON.stringify(auth)}`);
    await member.readUntil("40/smcp,");
    await member.send(`42/smcp,0["server:join_office",${JSON.stringify(membership)}]`);
    await member.readUntil("43/smcp,0[true");
    return member;
  }

  /** Sends text frames, all in one write. */
  send(...texts: readonly string[]): Promise<void> {
    return this.#write(concat(texts.map((text) => frame(text))));
  }

  /** Sends bytes as they are. */
  sendBytes(bytes: Uint8Array): Promise<void> {
    return this.#write(bytes);
  }

  /** Ends its side of the TCP connection. */
  endWriting(): Promise<void> {
    return this.#tcp.closeWrite();
  }

  /** Reads until `text` has come. */
  readUntil(text: string): Promise<void> {
    return within(
      this.#readUntil(text),
      () => `"${text}"; what came last is "${this.#received.slice(-1_000)}"`,
    );
  }

  async #readUntil(text: string): Promise<void> {
    while (!this.#received.includes(text)) {
      if (!await this.#read()) throw new TypeError(`Cannot read "${text}": the connection has ended`);
    }
    this.#received = "";
  }

  /** Reads and throws away what comes until the Server ends the connection; resolves to how many bytes that were. */
  untilClosed(): Promise<number> {
    return within(this.#untilClosed(), "the Server to end the connection");
  }

  async #untilClosed(): Promise<number> {
    let bytes = 0;
    try {
      for (let read = await this.#read(); read > 0; read = await this.#read()) bytes += read;
    } catch {
      // A reset ends it as well.
    }
    return bytes;
  }

  /** Reads until the answer to a ping of the WebSocket has come, or the Server has ended the connection. */
  async untilPongOrEnd(): Promise<void> {
    try {
      await this.#readUntil(PONG);
    } catch {
      // It has ended.
    }
  }

  [Symbol.dispose](): void {
    try {
      this.#tcp.close();
    } catch {
      // Closed by the Server.
    }
  }

  async #read(): Promise<number> {
    const buffer = new Uint8Array(65_536);
    const read = await this.#tcp.read(buffer) ?? 0;
    this.#received = (this.#received + decoder.decode(buffer.subarray(0, read), { stream: true })).slice(
      -100_000,
    );
    return read;
  }

  async #write(bytes: Uint8Array): Promise<void> {
    let written = 0;
    while (written < bytes.length) written += await this.#tcp.write(bytes.subarray(written));
  }
}
