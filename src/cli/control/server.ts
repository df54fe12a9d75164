/**
 * Lets other processes of this user send commands to a running Computer or Server, over a local socket.
 *
 * The channel is not HTTP, because `Deno.serve()` cannot close a single connection: a process that sends no request, or
 * does not read its answer, would keep its connection, and the answer in memory, for ever.
 */
import { abortable, settledWithin } from "../../async/abortable.ts";
import type { Logger } from "../../log.ts";
import { COLORS, PLAIN, type Screen } from "../../terminal/screen.ts";
import { describeError } from "../../text/text.ts";
import { PACKAGE_VERSION } from "../../version.ts";
import { type ControlAnswer, type ControlRequest, readRequest } from "./message.ts";
import { type Person, RemotePerson } from "./person.ts";
import { LineChannel } from "../line_channel.ts";
import { listenLocally, type LocalListener } from "../local_socket.ts";
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
/** A process that does not read loses its connection; an answer is one message, however long. */
const BOUNDS = { maxLineBytes: 1024 * 1024, maxWaitingBytes: 8 * 1024 * 1024, readTimeoutMs: 30_000 };
/** How long a process may take to read its answer when the program shuts down, in milliseconds. */
const SHUTDOWN_GRACE_MS = 1_000;

/** Who runs a command, for the audit trail. */
export interface Actor {
  readonly via: "command" | "console";
  /** An operator of a console; of a command the user, as it says itself. */
  readonly by?: string | undefined;
  readonly address?: string | undefined;
}

/** Runs the words of a command. It stops when `signal` is aborted. */
export type RunWords = (
  words: readonly string[],
  context: {
    readonly json: boolean;
    readonly screen: Screen | undefined;
    readonly signal: AbortSignal;
    readonly actor: Actor;
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
    log.info(message, { missing: (await missingFlags(name, program)).join(" ") });
  } catch (error) {
    log.warn(message, { error: describeError(error) });
  }
  return { [Symbol.asyncDispose]: () => Promise.resolve() };
}

/** Accepts the commands of other processes. A process that misbehaves loses only its own connection. */
export class ControlServer implements AsyncDisposable {
  readonly #listener: LocalListener;
  readonly #path: string;
  readonly #run: RunWords;
  readonly #log: Logger;
  readonly #closing = new AbortController();
  readonly #connections = new Map<LineChannel, Promise<void>>();
  readonly #accepting: Promise<void>;

  private constructor(path: string, listener: LocalListener, options: { run: RunWords; log: Logger }) {
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
      const connection = new LineChannel(socket, BOUNDS);
      const answered = answerOn(connection, this.#run, this.#closing.signal)
        .catch((error) =>
          this.#log.debug("cannot answer a command of another process", { error: describeError(error) })
        )
        .finally(() => this.#connections.delete(connection));
      this.#connections.set(connection, answered);
      if (this.#connections.size >= MAX_CONNECTIONS) await Promise.race(this.#connections.values());
    }
  }
}

/**
 * Reads the request and answers it. The command is aborted when the process closes the connection or sends a line that
 * answers no question, or by `closing`.
 *
 * @throws when no valid request comes in time.
 */
async function answerOn(channel: LineChannel, run: RunWords, closing: AbortSignal): Promise<void> {
  const gone = new AbortController();
  const signal = AbortSignal.any([gone.signal, closing]);
  const person = new RemotePerson((reply) => void channel.send(reply));
  const { promise, resolve } = Promise.withResolvers<ControlRequest>();
  let isAsked = false;
  void channel.receive((message) => {
    if (isAsked && !person.take(message)) return channel.close();
    if (!isAsked) resolve(readRequest(message));
    isAsked = true;
  }).finally(() => {
    person.leave();
    gone.abort();
  });
  try {
    const asked = abortable(promise, signal);
    // What came while this process stood still is read between the two.
    const request = await settledWithin(asked, REQUEST_TIMEOUT_MS / 2) ??
      await settledWithin(asked, REQUEST_TIMEOUT_MS / 2);
    if (request === undefined) throw new TypeError("Cannot answer: no request came in time");
    const progress = (text: string) => void channel.send({ progress: text });
    void channel.send(await answerRequest(request, { run, signal, progress, person }));
    await channel.flush();
  } finally {
    channel.close();
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
  const { version, words, json, columns, colors, user } = request;
  const { run, ...rest } = context;
  if (version !== PACKAGE_VERSION) {
    const error =
      `error: Cannot send a command to the running program: it is version ${PACKAGE_VERSION} and this command ` +
      `is version ${version}; restart the program`;
    return { output: "", error, exitCode: 1 };
  }
  const screen = columns === undefined ? undefined : { columns, palette: colors === true ? COLORS : PLAIN };
  return await run(words, { ...rest, json, screen, actor: { via: "command", by: user } });
}

async function listenAt(path: string): Promise<LocalListener> {
  try {
    return await listenLocally(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.AddrInUse)) throw error;
  }
  if (await isListening(path)) {
    throw new TypeError(
      `Cannot listen at "${path}": another program of this name runs already; give this one another --name`,
    );
  }
  await Deno.remove(path).catch(() => {});
  return await listenLocally(path);
}
