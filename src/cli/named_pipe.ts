/**
 * Named pipes of Windows. Every user of the machine can see their names and connect to most of them, so both sides prove
 * first that they know the token in a file of this user: with a number of the other side, and without sending the token.
 */
import { Buffer } from "node:buffer";
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { connect, createServer, type Server, type Socket } from "node:net";
import { once } from "node:events";
import { settledWithin } from "../async/abortable.ts";
import { isRecord, parseJson } from "../json/json.ts";

/** How long the other side may take for its proof, in milliseconds. */
const PROOF_TIMEOUT_MS = 10_000;
/** The most connections; further ones are refused. */
const MAX_CONNECTIONS = 200;
/** Deno takes the number of instances that should wait as the most that there may be, and listens no more after these. */
const INSTANCES = { variable: "NODE_PENDING_PIPE_INSTANCES", most: "254" };
const TOKEN_BYTES = 32;
/** The length of a number that is used once, and of a proof, in hexadecimal digits. */
const HEX_LENGTH = 64;

type Side = "client" | "server";

/** What the file of a pipe holds. */
interface Pipe {
  readonly name: string;
  readonly token: string;
}

/** @throws {Deno.errors.AddrInUse} when the file exists. */
export async function listenAtPipe(path: string): Promise<PipeListener> {
  const pipe = {
    name: `\\\\.\\pipe\\a2c-smcp-${crypto.randomUUID()}`,
    token: randomBytes(TOKEN_BYTES).toString("hex"),
  };
  const listener = new PipeListener(pipe.token);
  await listener.listen(pipe.name);
  try {
    // No mode: the folder of the profile keeps other users away, and files inherit that.
    await Deno.writeTextFile(path, JSON.stringify(pipe), { createNew: true });
    return listener;
  } catch (error) {
    listener.close();
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    throw new Deno.errors.AddrInUse(`Cannot listen at "${path}": the file exists`, { cause: error });
  }
}

/** @throws {Deno.errors.PermissionDenied} when the other side does not know the token. */
export async function connectToPipe(path: string): Promise<PipeConnection> {
  const pipe = readPipe(await Deno.readTextFile(path));
  if (pipe === undefined) throw new Deno.errors.NotFound(`No pipe is named in "${path}"`);
  const socket = connect(pipe.name);
  try {
    await once(socket, "connect");
  } catch (error) {
    throw toDenoError(error);
  }
  if (await isProved(socket, { token: pipe.token, side: "client" })) return new PipeConnection(socket);
  socket.destroy();
  throw new Deno.errors.PermissionDenied(
    `Cannot use the pipe of "${path}": a program without its token listens there`,
  );
}

function readPipe(text: string): Pipe | undefined {
  const value = parseJson(text);
  const { name, token } = isRecord(value) ? value : {};
  return typeof name === "string" && typeof token === "string" ? { name, token } : undefined;
}

class PipeListener {
  readonly #token: string;
  readonly #server: Server;
  readonly #connections: ReadableStream<PipeConnection>;
  #controller: ReadableStreamDefaultController<PipeConnection> | undefined;
  #open = 0;

  constructor(token: string) {
    this.#token = token;
    const start = (controller: ReadableStreamDefaultController<PipeConnection>) => {
      this.#controller = controller;
    };
    this.#connections = new ReadableStream({ start });
    this.#server = createServer((socket) => void this.#accept(socket));
  }

  async listen(name: string): Promise<void> {
    Deno.env.set(INSTANCES.variable, INSTANCES.most);
    this.#server.listen(name);
    Deno.env.delete(INSTANCES.variable);
    await once(this.#server, "listening");
  }

  close(): void {
    if (this.#controller === undefined) return;
    this.#server.close();
    this.#controller.close();
    this.#controller = undefined;
  }

  [Symbol.asyncIterator](): AsyncIterator<PipeConnection> {
    return this.#connections.values();
  }

  async #accept(socket: Socket): Promise<void> {
    socket.on("error", () => {});
    socket.on("close", () => this.#open--);
    const isFull = ++this.#open > MAX_CONNECTIONS;
    const isOurs = !isFull && await isProved(socket, { token: this.#token, side: "server" });
    if (isOurs && this.#controller !== undefined) this.#controller.enqueue(new PipeConnection(socket));
    else socket.destroy();
  }
}

class PipeConnection {
  readonly readable: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly #socket: Socket;

  constructor(socket: Socket) {
    this.#socket = socket;
    // What a writer or a reader finds out is thrown there.
    socket.on("error", () => {});
    this.readable = ReadableStream.from(piecesOf(socket));
  }

  write(bytes: Uint8Array): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#socket.write(bytes, (error) => error ? reject(toDenoError(error)) : resolve(bytes.length));
    });
  }

  close(): void {
    this.#socket.destroy();
  }
}

async function* piecesOf(socket: Socket): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  try {
    for await (const piece of socket) yield new Uint8Array(piece);
  } catch (error) {
    throw toDenoError(error);
  }
}

/** Proves to the other side that this one knows the token, and resolves to whether the other one does. Never rejects. */
async function isProved(
  socket: Socket,
  { token, side }: { readonly token: string; readonly side: Side },
): Promise<boolean> {
  const proving = exchangeProofs(socket, { token, side }).catch(() => false);
  return await settledWithin(proving, PROOF_TIMEOUT_MS) === true;
}

async function exchangeProofs(
  socket: Socket,
  { token, side }: { readonly token: string; readonly side: Side },
): Promise<boolean> {
  const own = randomBytes(HEX_LENGTH / 2).toString("hex");
  socket.write(own);
  const other = await readText(socket, HEX_LENGTH);
  const numbers = side === "client" ? `${own} ${other}` : `${other} ${own}`;
  // The number of the other side would be a proof of its own, if both sides made the same one.
  socket.write(proofOf(token, `${side} ${numbers}`));
  const expected = proofOf(token, `${side === "client" ? "server" : "client"} ${numbers}`);
  return timingSafeEqual(Buffer.from(await readText(socket, HEX_LENGTH)), Buffer.from(expected));
}

function proofOf(token: string, text: string): string {
  return createHmac("sha256", token).update(text).digest("hex");
}

/** Reads so many characters, and leaves what follows. */
async function readText(socket: Socket, length: number): Promise<string> {
  for (;;) {
    const piece: Uint8Array | null = socket.read(length);
    if (piece?.length === length) return new TextDecoder().decode(piece);
    if (socket.readableEnded || socket.destroyed || piece !== null) {
      throw new TypeError("The connection ended");
    }
    await once(socket, "readable");
  }
}

/** The errors that a Unix socket would throw. */
function toDenoError(error: unknown): unknown {
  const { NotFound, ConnectionRefused, ConnectionReset, BrokenPipe } = Deno.errors;
  const classes: Readonly<Record<string, new (message: string, options: ErrorOptions) => Error>> = {
    ENOENT: NotFound,
    ECONNREFUSED: ConnectionRefused,
    ECONNRESET: ConnectionReset,
    EPIPE: BrokenPipe,
  };
  if (!(error instanceof Error) || !("code" in error)) return error;
  const Class = classes[String(error.code)];
  return Class === undefined ? error : new Class(error.message, { cause: error });
}
