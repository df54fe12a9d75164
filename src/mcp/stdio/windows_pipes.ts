/**
 * Standard streams of child processes on Windows, by named pipes. Deno reads its own pipes there by threads that block, two
 * for each child, and has four for each processor: when children hold all of them, nothing is written any more, and no file read.
 */
import { closeSync, openSync, writeSync } from "node:fs";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { settledWithin } from "../../async/abortable.ts";
import { Releases } from "../../async/releases.ts";
import { mayUsePipes } from "../../files/user_sockets.ts";
import { ServerNotRunningError } from "../errors.ts";

export interface ChildStreams {
  readonly stdin: WritableStream<Uint8Array>;
  /** Streams of bytes. */
  readonly stdout: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly stderr: ReadableStream<Uint8Array<ArrayBuffer>>;
}

interface Pipe {
  readonly socket: Socket;
  /** The file descriptor of the other end. */
  readonly end: number;
}

/** How many children Deno's threads read: four are left for the rest of this program. */
const READ_BY_THREADS = 2 * navigator.hardwareConcurrency - 2;
/** How long a pipe may take to be connected within this process, in milliseconds. */
const CONNECT_TIMEOUT_MS = 10_000;
/** The children of this process that run. */
let children = 0;

/** The three pipes of a child. Its ends are closed here once it has them. */
export class ChildPipes implements ChildStreams, Disposable {
  readonly stdin: WritableStream<Uint8Array>;
  readonly stdout: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly stderr: ReadableStream<Uint8Array<ArrayBuffer>>;
  /** The file descriptors that the child inherits. */
  readonly ends: readonly number[];
  readonly #opened: Releases;
  readonly #sockets: Releases;

  private constructor(
    pipes: readonly [Pipe, Pipe, Pipe],
    { opened, sockets }: { readonly opened: Releases; readonly sockets: Releases },
  ) {
    const [stdin, stdout, stderr] = pipes;
    this.stdin = writableTo(stdin.socket);
    this.stdout = readableOf(stdout.socket);
    this.stderr = readableOf(stderr.socket);
    this.ends = pipes.map(({ end }) => end);
    this.#opened = opened;
    this.#sockets = sockets;
  }

  /**
   * `undefined` where those of Deno do or must: on other systems, while it has threads, and without all permissions.
   *
   * @param over Resolves when the child has ended, or has not started.
   */
  static async open(over: Promise<void>): Promise<ChildPipes | undefined> {
    if (!mayUsePipes()) return undefined;
    const hasThreads = children++ < READ_BY_THREADS;
    void over.then(() => children--);
    if (hasThreads) return undefined;
    using opening = new Releases();
    const sockets = opening.use(new Releases());
    const openNext = () => openPipe(opening, sockets);
    const pipes = [await openNext(), await openNext(), await openNext()] as const;
    return new ChildPipes(pipes, { opened: opening.move(), sockets });
  }

  /** Keeps the streams open: a child has the ends. */
  keep(): void {
    this.#sockets.move();
  }

  [Symbol.dispose](): void {
    this.#opened[Symbol.dispose]();
  }
}

async function openPipe(opening: Releases, sockets: Releases): Promise<Pipe> {
  const name = `\\\\.\\pipe\\a2c-smcp-${crypto.randomUUID()}`;
  // Other users may find the name and connect, too, but only to read.
  const proof = crypto.randomUUID();
  const proved = Promise.withResolvers<Socket>();
  const connected = new Set<Socket>();
  const server = createServer((socket) => {
    connected.add(socket);
    socket.on("error", () => {});
    socket.once("data", (bytes) => {
      socket.pause();
      if (String(bytes) === proof) proved.resolve(socket);
      else socket.destroy();
    });
  });
  try {
    server.listen(name);
    await once(server, "listening");
    const end = openSync(name, "r+");
    opening.defer(() => closeSync(end));
    writeSync(end, proof);
    const socket = await settledWithin(proved.promise, CONNECT_TIMEOUT_MS);
    if (socket === undefined) throw new ServerNotRunningError({ reason: "its pipes cannot be connected" });
    connected.delete(socket);
    sockets.defer(() => void socket.destroy());
    return { socket, end };
  } finally {
    server.close();
    for (const socket of connected) socket.destroy();
  }
}

/** Closing it lets the child read the rest. */
function writableTo(socket: Socket): WritableStream<Uint8Array> {
  return new WritableStream({
    write: (bytes) =>
      new Promise((resolve, reject) => {
        socket.write(bytes, (error) => error ? reject(error) : resolve());
      }),
    close: () => socket.destroySoon(),
    abort: () => void socket.destroy(),
  });
}

/** The end of the child ends it, whatever the system calls that. */
function readableOf(socket: Socket): ReadableStream<Uint8Array<ArrayBuffer>> {
  const pieces: AsyncIterator<Uint8Array> = socket[Symbol.asyncIterator]();
  return new ReadableStream({
    type: "bytes",
    async pull(controller) {
      const { value } = await pieces.next().catch(() => ({ value: undefined }));
      if (value !== undefined) return controller.enqueue(new Uint8Array(value));
      controller.close();
      controller.byobRequest?.respond(0);
    },
    cancel: () => void socket.destroy(),
  });
}
