/**
 * Lets other processes of this user send commands to a running Computer or Server, over a Unix socket.
 *
 * The channel is not HTTP, because `Deno.serve()` cannot close a single connection: a process that sends no request, or
 * does not read its answer, would keep its connection, and the answer in memory, for ever.
 */
import { abortable, settledWithin } from "../../async/abortable.ts";
import { readLines } from "../../async/lines.ts";
import type { Logger } from "../../log.ts";
import { COLORS, PLAIN, type Screen } from "../../terminal/screen.ts";
import { describeError } from "../../text/text.ts";
import { PACKAGE_VERSION } from "../../version.ts";
import {
  type ControlAnswer,
  type ControlReply,
  type ControlRequest,
  parseRequest,
  parseResponse,
  toLine,
} from "./message.ts";
import { type Person, RemotePerson } from "./person.ts";
import {
  controlFolder,
  type ControlledProgram,
  controlPath,
  isListening,
  missingFlags,
} from "../socket_folder.ts";

/** The most connections; further ones wait until one of them ends. */
const MAX_CONNECTIONS = 64;
/** How long a process may take to send its request, in milliseconds; as long can silent processes delay another one. */
const REQUEST_TIMEOUT_MS = 2_000;
const MAX_REQUEST_BYTES = 1024 * 1024;
/** How long a process may take to read a reply, in milliseconds. */
const READ_TIMEOUT_MS = 30_000;
/** How long a process may take to read its answer when the program shuts down, in milliseconds. */
const SHUTDOWN_GRACE_MS = 1_000;

/** Runs the words of a command. It stops when `signal` is aborted. */
export type RunWords = (
  words: readonly string[],
  context: {
    readonly json: boolean;
    readonly screen: Screen | undefined;
    readonly signal: AbortSignal;
    readonly progress: (text: string) => void;
    readonly person: Person;
  },
) => Promise<ControlAnswer>;

/**
 * Opens the socket of a program in the folder of this user. A problem is logged and not thrown, because the program works
 * without the commands of other processes.
 */
export async function openControl(
  program: ControlledProgram,
  { name, log, run }: { readonly name: string; readonly log: Logger; readonly run: RunWords },
): Promise<AsyncDisposable> {
  const message = "cannot accept commands of other processes";
  try {
    const folder = await controlFolder(name, program);
    if (folder !== undefined) {
      return await ControlServer.open(await controlPath(folder, name, program), { log, run });
    }
    const missing = await missingFlags(name, program);
    log.info(message, missing.length === 0 ? { reason: "Windows" } : { missing: missing.join(" ") });
  } catch (error) {
    log.warn(message, { error: describeError(error) });
  }
  return { [Symbol.asyncDispose]: () => Promise.resolve() };
}

/** Accepts the commands of other processes. A process that misbehaves loses only its own connection. */
export class ControlServer implements AsyncDisposable {
  readonly #listener: Deno.UnixListener;
  readonly #path: string;
  readonly #run: RunWords;
  readonly #log: Logger;
  readonly #closing = new AbortController();
  readonly #connections = new Map<ControlConnection, Promise<void>>();
  readonly #accepting: Promise<void>;

  private constructor(path: string, listener: Deno.UnixListener, options: { run: RunWords; log: Logger }) {
    this.#path = path;
    this.#listener = listener;
    this.#run = options.run;
    this.#log = options.log;
    this.#accepting = this.#accept().catch((error) =>
      this.#log.error("cannot accept commands from other processes any more", { error: describeError(error) })
    );
  }

  /**
   * Listens at a path. A socket that a killed program left there is replaced.
   *
   * @throws {TypeError} when a program listens there.
   */
  static async open(
    path: string,
    options: { readonly run: RunWords; readonly log: Logger },
  ): Promise<ControlServer> {
    const listener = await listenAt(path);
    await Deno.chmod(path, 0o600);
    return new ControlServer(path, listener, options);
  }

  /** Stops listening, aborts running commands and waits a short time for their answers to be read. Idempotent. */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort(new DOMException("The program shuts down", "AbortError"));
    this.#listener.close();
    await settledWithin(Promise.all(this.#connections.values()), SHUTDOWN_GRACE_MS);
    for (const connection of this.#connections.keys()) connection.close();
    await Promise.all([this.#accepting, ...this.#connections.values()]);
    await Deno.remove(this.#path).catch(() => {});
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #accept(): Promise<void> {
    for await (const socket of this.#listener) {
      const connection = new ControlConnection(socket);
      const answered = connection.answer(this.#run, this.#closing.signal)
        .catch((error) =>
          this.#log.debug("cannot answer a command of another process", { error: describeError(error) })
        )
        .finally(() => this.#connections.delete(connection));
      this.#connections.set(connection, answered);
      if (this.#connections.size >= MAX_CONNECTIONS) await Promise.race(this.#connections.values());
    }
  }
}

class ControlConnection {
  readonly #socket: Deno.UnixConn;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  /** Whether the process has yet to read what was written. */
  #isBusy = false;
  /** Replies are written one after another. */
  #written: Promise<void> = Promise.resolve();

  constructor(socket: Deno.UnixConn) {
    this.#socket = socket;
    this.#writer = socket.writable.getWriter();
  }

  /**
   * Reads the request and answers it. The command is aborted when the process closes the connection or sends a line
   * that answers no question, or by `closing`.
   *
   * @throws when no valid request comes in time, or the process does not read the answer in time.
   */
  async answer(run: RunWords, closing: AbortSignal): Promise<void> {
    const gone = new AbortController();
    const signal = AbortSignal.any([gone.signal, closing]);
    const lines = readLines(this.#socket.readable, MAX_REQUEST_BYTES);
    try {
      const inTime = AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]);
      const request = parseRequest((await abortable(lines.next(), inTime)).value);
      const person = new RemotePerson((reply) => this.#write(reply).catch(() => gone.abort()));
      void takeResponses(lines, person).finally(() => gone.abort());
      const progress = (text: string) => this.#writeProgress(text, gone);
      await this.#write(await answerRequest(request, { run, signal, progress, person }));
    } finally {
      this.close();
    }
  }

  close(): void {
    try {
      this.#socket.close();
    } catch {
      // Closed already, by the other side or before.
    }
  }

  /** Skips progress while the process has not read what was written before. */
  #writeProgress(text: string, gone: AbortController): void {
    if (this.#isBusy) return;
    this.#write({ progress: text }).catch(() => gone.abort());
  }

  #write(reply: ControlReply): Promise<void> {
    const written = this.#written.then(() => this.#writeNow(reply));
    this.#written = written.catch(() => {});
    return written;
  }

  async #writeNow(reply: ControlReply): Promise<void> {
    this.#isBusy = true;
    const written = this.#writer.write(toLine(reply)).then(() => true);
    written.catch(() => {});
    if (await settledWithin(written, READ_TIMEOUT_MS) !== true) {
      throw new TypeError(`Cannot answer: the process has not read for ${READ_TIMEOUT_MS} ms`);
    }
    this.#isBusy = false;
  }
}

/** Passes answers on until the process closes the connection or sends another line. Never rejects. */
async function takeResponses(lines: AsyncGenerator<string, undefined>, person: RemotePerson): Promise<void> {
  try {
    for await (const line of lines) {
      const response = parseResponse(line);
      if (response === undefined || !person.take(response)) return;
    }
  } catch {
    // The connection was closed.
  } finally {
    person.leave();
  }
}

async function answerRequest(
  request: ControlRequest,
  context: {
    readonly run: RunWords;
    readonly signal: AbortSignal;
    readonly progress: (text: string) => void;
    readonly person: Person;
  },
): Promise<ControlAnswer> {
  const { version, words, json, columns, colors } = request;
  const { run, ...rest } = context;
  if (version !== PACKAGE_VERSION) {
    const error =
      `error: Cannot send a command to the running program: it is version ${PACKAGE_VERSION} and this command ` +
      `is version ${version}; restart the program`;
    return { output: "", error, exitCode: 1 };
  }
  const screen = columns === undefined ? undefined : { columns, palette: colors === true ? COLORS : PLAIN };
  return await run(words, { ...rest, json, screen });
}

async function listenAt(path: string): Promise<Deno.UnixListener> {
  try {
    return Deno.listen({ transport: "unix", path });
  } catch (error) {
    if (!(error instanceof Deno.errors.AddrInUse)) throw error;
  }
  if (await isListening(path)) {
    throw new TypeError(
      `Cannot listen at "${path}": another program of this name runs already; give this one another --name`,
    );
  }
  await Deno.remove(path).catch(() => {});
  return Deno.listen({ transport: "unix", path });
}
