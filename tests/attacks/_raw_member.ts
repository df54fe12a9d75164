/** A member of an office that is made of bytes on a TCP connection: it reads when it likes, and pongs when it likes. */
import type { SmcpServer } from "../../server.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** What it asks to be. */
export interface RawMembership {
  readonly role: "agent" | "computer";
  readonly name: string;
  readonly office_id: string;
}

/** A WebSocket connection that is written by hand. */
export class RawMember implements Disposable {
  readonly #tcp: Deno.Conn;
  #received = "";

  private constructor(tcp: Deno.Conn) {
    this.#tcp = tcp;
  }

  /** Connects and joins; from then on it reads nothing unless told to. */
  static async join(server: Pick<SmcpServer, "port">, membership: RawMembership): Promise<RawMember> {
    const tcp = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
    const member = new RawMember(tcp);
    const query = "EIO=4&transport=websocket&a2c_version=0.2.0";
    const headers = [
      `GET /socket.io/?${query} HTTP/1.1`,
      `Host: 127.0.0.1:${server.port}`,
      "Connection: Upgrade",
      "Upgrade: websocket",
      "Sec-WebSocket-Version: 13",
      `Sec-WebSocket-Key: ${btoa("0123456789abcdef")}`,
    ];
    await member.#write(encoder.encode(`${headers.join("\r\n")}\r\n\r\n`));
    await member.readUntil('0{"sid"');
    await member.send("40/smcp,{}");
    await member.readUntil("40/smcp,");
    await member.send(`42/smcp,0["server:join_office",${JSON.stringify(membership)}]`);
    await member.readUntil("43/smcp,0[true");
    return member;
  }

  /** Sends text frames, all in one write. */
  send(...texts: readonly string[]): Promise<void> {
    return this.#write(concat(texts.flatMap(toFrame)));
  }

  /** Reads until `text` has come. */
  async readUntil(text: string): Promise<void> {
    while (!this.#received.includes(text)) {
      if (!await this.#read()) throw new TypeError(`Cannot read "${text}": the connection has ended`);
    }
    this.#received = "";
  }

  /** Reads and throws away what comes until the Server ends the connection; resolves to how many bytes that were. */
  async untilClosed(): Promise<number> {
    let bytes = 0;
    try {
      for (let read = await this.#read(); read > 0; read = await this.#read()) bytes += read;
    } catch {
      // A reset ends it as well.
    }
    return bytes;
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

/** The head and the payload of a text frame; a mask of zeros leaves the payload as it is. */
function toFrame(text: string): Uint8Array[] {
  const payload = encoder.encode(text);
  const { length } = payload;
  const head = new Uint8Array(length < 126 ? 6 : length > 0xffff ? 14 : 8);
  const view = new DataView(head.buffer);
  view.setUint8(0, 0x81);
  view.setUint8(1, 0x80 | (length < 126 ? length : length > 0xffff ? 127 : 126));
  if (length > 0xffff) view.setBigUint64(2, BigInt(length));
  else if (length >= 126) view.setUint16(2, length);
  return [head, payload];
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const part of parts) {
    all.set(part, offset);
    offset += part.length;
  }
  return all;
}
