/** Attacker: a stranger at the TLS port of a Server, who is silent, slow, or speaks something else */
import { assert, assertEquals } from "@std/assert";
import { connect, type TLSSocket } from "node:tls";
import { type ListenOptions, SmcpServer } from "../../server.ts";
import { eventually, within } from "../fixtures/within.ts";
import { makeCertificate } from "../integration/_tls_server.ts";
import { frame, RawConnection } from "./_raw_http.ts";
import { withConstants } from "../../src/server/options/constants.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";

using folder = new TempFolder();
const files = await makeCertificate(folder.path);
const tls = {
  cert: await Deno.readTextFile(files.certFile),
  key: await Deno.readTextFile(files.keyFile),
};

const SHORT_MS = 300;
/** Below every other deadline of a Server, and more than a busy machine adds to the short one. */
const LATE_MS = 60_000;
/** Beyond what any test waits. */
const NEVER_MS = 600_000;

function listen(options: ListenOptions = {}): Promise<SmcpServer> {
  const deadlines = withConstants({ headTimeoutMs: SHORT_MS, connectTimeoutMs: NEVER_MS });
  return SmcpServer.listen({ port: 0, tls, ...deadlines, ...options });
}

/** A connection after its handshake. */
class TlsConnection implements AsyncDisposable {
  readonly #socket: TLSSocket;
  readonly #closed: Promise<void>;
  received = "";

  private constructor(socket: TLSSocket) {
    this.#socket = socket;
    this.#closed = new Promise((resolve) => socket.once("close", () => resolve()));
    socket.setEncoding("latin1");
    socket.on("data", (text: string) => this.received += text);
    socket.on("error", () => {});
  }

  static async open(port: number): Promise<TlsConnection> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const socket = connect({ port, host: "127.0.0.1", servername: "localhost", ca: tls.cert }, resolve);
    socket.once("error", reject);
    const connection = new TlsConnection(socket);
    await within(promise, "the TLS handshake");
    return connection;
  }

  /** Tries until a handshake takes less than the time of a head, which a busy machine does not always do. */
  static async openInTime(port: number): Promise<TlsConnection> {
    let opened: TlsConnection | undefined;
    const open = async () => {
      opened = await TlsConnection.open(port).catch(() => undefined);
      return opened !== undefined;
    };
    await eventually(open, (isOpen) => isOpen, "a TLS handshake in the time of a head");
    assert(opened !== undefined);
    return opened;
  }

  write(data: string | Uint8Array): void {
    this.#socket.write(data);
  }

  /** Resolves to the milliseconds until the Server has closed. */
  async untilClosed(): Promise<number> {
    const startMs = performance.now();
    await within(this.#closed, "the end of the connection");
    return performance.now() - startMs;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.destroy();
    await this.#closed;
  }
}

/** Waits until the Server answers a request that arrives in the time of a head. */
async function untilServing({ port }: SmcpServer): Promise<void> {
  const ask = async () => {
    await using connection = await TlsConnection.openInTime(port);
    connection.write("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    await connection.untilClosed();
    return connection.received;
  };
  await eventually(ask, (received) => received.includes("HTTP/1.1 200"), "an answer of the Server");
}

const texts: Readonly<Record<string, string>> = {
  "says nothing": "",
  "speaks plain HTTP": "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
  "sends garbage": "\u0000\u0001\u0002garbage".repeat(100),
  "begins a handshake and stops": "\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003",
};

for (const [what, text] of Object.entries(texts)) {
  Deno.test(`a TCP connection that ${what} at a TLS port is closed, and learns nothing`, async () => {
    await using server = await listen();
    await using connection = new RawConnection(server.port);
    const startMs = performance.now();
    if (text !== "") connection.write(Uint8Array.from(text, (char) => char.charCodeAt(0)));
    await connection.untilClosed();
    assert(performance.now() - startMs < LATE_MS);
    assert(!connection.received.includes("HTTP"), connection.received);
    await untilServing(server);
  });
}

for (
  const [what, text] of Object.entries({
    "says nothing": "",
    "does not end its head": "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ",
  })
) {
  Deno.test(`a TLS connection that ${what} is closed after the time of a head`, async () => {
    await using server = await listen();
    await using connection = await TlsConnection.openInTime(server.port);
    if (text !== "") connection.write(text);
    assert(await connection.untilClosed() < LATE_MS);
    await untilServing(server);
  });
}

Deno.test("requests in one piece are refused inside TLS as well", async () => {
  await using server = await listen(withConstants({}));
  await using connection = await TlsConnection.open(server.port);
  connection.write("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(500));
  await connection.untilClosed();
  assertEquals(connection.received.split("HTTP/1.1 200").length - 1, 0);
  await untilServing(server);
});

Deno.test("TCP connections without a handshake are bounded by address", async () => {
  await using server = await listen({ maxPendingConnectionsPerAddress: 2, ...withConstants({}) });
  await using stack = new AsyncDisposableStack();
  const opened = Array.from({ length: 20 }, () => stack.use(new RawConnection(server.port)));
  // The bound is two sockets for each of two connections.
  const ended = Promise.all(opened.slice(4).map((connection) => connection.untilClosed()));
  await within(ended, "the end of all but four");
});

Deno.test("members behind TLS do not count as strangers of their address", async () => {
  await using server = await listen({ maxPendingConnectionsPerAddress: 2, ...withConstants({}) });
  await using stack = new AsyncDisposableStack();
  for (let i = 0; i < 12; i++) {
    const connection = stack.use(await TlsConnection.open(server.port));
    const key = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    const target = "/socket.io/?EIO=4&transport=websocket&a2c_version=0.2.0";
    const upgrade = `Connection: Upgrade\r\nUpgrade: websocket\r\n${key}`;
    connection.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\n${upgrade}\r\n`);
    await untilReceived(connection, '0{"sid"');
    connection.write(frame("40/smcp,{}"));
    await untilReceived(connection, '40/smcp,{"sid"');
  }
});

async function untilReceived(connection: TlsConnection, text: string): Promise<void> {
  await eventually(() => connection.received, (received) => received.includes(text), text);
}
