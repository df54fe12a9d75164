/** HTTP as bytes over TCP, so that a test decides on every header and on what is never sent. */
import { assertMatch } from "@std/assert";
import { connect, type Socket } from "node:net";
import { within } from "../fixtures/within.ts";

/** A TCP connection on which a test writes what it likes. */
export class RawConnection implements AsyncDisposable {
  readonly socket: Socket;
  /** Resolves when the other side has closed, or the connection is broken. */
  readonly closed: Promise<void>;
  #received = "";
  #onData: () => void = () => {};

  constructor(port: number, host = "127.0.0.1") {
    this.socket = connect(port, host);
    this.socket.setEncoding("latin1");
    this.socket.on("data", (chunk: string) => {
      this.#received += chunk;
      this.#onData();
    });
    this.socket.on("error", () => {});
    this.closed = new Promise((resolve) => this.socket.once("close", () => resolve()));
  }

  /** All that has come, as one byte per character. */
  get received(): string {
    return this.#received;
  }

  write(data: string | Uint8Array): void {
    this.socket.write(data);
  }

  /** Resolves to all that has come once `test` holds of it. */
  async until(what: string, test: (received: string) => boolean): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const look = () => {
      if (test(this.#received)) resolve(this.#received);
    };
    const fail = () => reject(new TypeError(`Closed before ${what}: ${this.#received.slice(0, 300)}`));
    this.#onData = look;
    this.socket.once("close", fail);
    look();
    try {
      return await within(promise, () => `${what}; what came is ${this.#received.slice(0, 300)}`);
    } finally {
      this.socket.off("close", fail);
    }
  }

  /** Resolves when the other side has closed. */
  async untilClosed(): Promise<void> {
    await within(this.closed, "the end of the connection");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.destroy();
    await this.closed;
  }
}

/** One HTTP request as a test writes it. */
export interface RawRequest {
  readonly method?: string;
  readonly target: string;
  /** `Host: 127.0.0.1:PORT` is added when there is no `Host`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** An HTTP answer. */
export interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** Sends one request over a connection of its own, and resolves to the answer when the Server has closed it. */
export async function exchange(port: number, request: RawRequest): Promise<RawAnswer> {
  await using connection = new RawConnection(port);
  connection.write(toText(port, request));
  await connection.untilClosed();
  const [head = "", body = ""] = connection.received.split("\r\n\r\n", 2);
  return { status: Number(head.split(" ")[1]), head, body };
}

/** The bytes of a request. */
export function toText(
  port: number,
  { method = "GET", target, headers = {}, body = "" }: RawRequest,
): string {
  const isUpgrade = "Upgrade" in headers;
  const all: Record<string, string> = { Host: `127.0.0.1:${port}`, ...headers };
  if (!isUpgrade) all["Connection"] ??= "close";
  if (body !== "" && !("Transfer-Encoding" in all)) all["Content-Length"] ??= String(body.length);
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${target} HTTP/1.1\r\n${lines.join("")}\r\n${body}`;
}

/** The headers of a websocket handshake. */
export const UPGRADE_HEADERS = {
  Connection: "Upgrade",
  Upgrade: "websocket",
  "Sec-WebSocket-Version": "13",
  "Sec-WebSocket-Key": "x3JJHMbDL1EzLkh9GBhXDw==",
} as const;

/** The target of a polling handshake. */
export const POLLING = "/socket.io/?EIO=4&transport=polling&a2c_version=0.2.0";
/** The target of a websocket handshake. */
export const WEBSOCKET = "/socket.io/?EIO=4&transport=websocket&a2c_version=0.2.0";

/** Opens a session over polling as a program does, and gives its id. */
export async function openPolling(port: number): Promise<string> {
  const { status, body } = await exchange(port, { target: POLLING });
  const sid = /"sid":"([^"]+)"/.exec(body)?.[1];
  if (status !== 200 || sid === undefined) throw new TypeError(`Cannot open a session: ${status} ${body}`);
  return sid;
}

/** A request with a body. */
export function post(
  target: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): RawRequest {
  return { method: "POST", target, body, headers };
}

/** Joins the office `lab` as the Computer `laptop` over polling, and gives the target of further requests. */
export async function joinByPolling(port: number): Promise<string> {
  const target = `${POLLING}&sid=${await openPolling(port)}`;
  const join = { role: "computer", name: "laptop", office_id: "lab" };
  await exchange(port, post(target, "40/smcp,"));
  assertMatch((await exchange(port, { target })).body, /^40\/smcp,/);
  await exchange(port, post(target, `42/smcp,0["server:join_office",${JSON.stringify(join)}]`));
  assertMatch((await exchange(port, { target })).body, /^43\/smcp,0\[true/);
  return target;
}

/** Opens a websocket, up to Engine.IO's first packet. */
export async function openWebSocket(port: number, target: string = WEBSOCKET): Promise<RawConnection> {
  const connection = new RawConnection(port);
  connection.write(toText(port, { target, headers: UPGRADE_HEADERS }));
  await connection.until("websocket", (text) => text.includes("101 ") && text.includes('{"sid"'));
  return connection;
}

/** A frame of a websocket as a client sends it, masked with zeros. */
export function frame(payload: string | Uint8Array, { opcode = 1, isWhole = true } = {}): Uint8Array {
  const bytes = typeof payload === "string" ? new TextEncoder().encode(payload) : payload;
  return concat([frameHead(bytes.length, { opcode, isWhole }), bytes]);
}

/** The head of a frame of so many bytes, which may never come. */
export function frameHead(sizeBytes: number, { opcode = 1, isWhole = true } = {}): Uint8Array {
  const head = new DataView(new ArrayBuffer(14));
  head.setUint8(0, (isWhole ? 0x80 : 0) | opcode);
  head.setUint8(1, 0x80 | 127);
  head.setBigUint64(2, BigInt(sizeBytes));
  return new Uint8Array(head.buffer);
}

/** A ping of the websocket's own protocol: its other side answers it when it has read what came before. */
export const PING_FRAME = Uint8Array.of(0x89, 0x80, 0, 0, 0, 0);
/** The answer, as a test reads it. */
export const PONG_FRAME = "\x8a\x00";

/** Parts of bytes as one. */
export function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}
