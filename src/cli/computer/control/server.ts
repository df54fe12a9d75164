/** How other processes of the same user ask a Computer that runs: words in, what is to be printed out, over a socket. */
import { abortable, settledWithin } from "../../../async/abortable.ts";
import type { Logger } from "../../../log.ts";
import { COLORS, PLAIN, type Screen } from "../../../terminal/screen.ts";
import { describeError } from "../../../text.ts";
import { PACKAGE_VERSION } from "../../../version.ts";
import {
  type ControlAnswer,
  type ControlReply,
  type ControlRequest,
  parseRequest,
  readLines,
  toLine,
} from "./message.ts";
import { isListening } from "./path.ts";

/** How many processes are answered at a time; others wait for their turn. */
const MAX_CONVERSATIONS = 64;
/** How long whoever is being answered may take to read it when the Computer ends, in milliseconds. */
const FAREWELL_MS = 1_000;

/** How long a process may take to say what it wants, in milliseconds. */
const REQUEST_TIMEOUT_MS = 10_000;
/** The longest request, in bytes. */
const MAX_REQUEST_BYTES = 1024 * 1024;
/** How much of an answer is written at a time, in bytes. */
const PIECE_BYTES = 1024 * 1024;
/** How long a process may take to read such a piece, in milliseconds. */
const READ_TIMEOUT_MS = 30_000;

/** Runs words as if they were typed, until `signal` is aborted. */
export type RunWords = (
  words: readonly string[],
  context: {
    readonly json: boolean;
    readonly screen: Screen | undefined;
    readonly signal: AbortSignal;
    readonly progress: (text: string) => void;
  },
) => Promise<ControlAnswer>;

/** Listens for other processes; one that does not behave harms nobody else. */
export class ControlServer implements AsyncDisposable {
  readonly #listener: Deno.UnixListener;
  readonly #path: string;
  readonly #run: RunWords;
  readonly #log: Logger;
  readonly #closing = new AbortController();
  readonly #conversations = new Map<ControlConversation, Promise<void>>();
  readonly #listening: Promise<void>;

  private constructor(path: string, listener: Deno.UnixListener, options: { run: RunWords; log: Logger }) {
    this.#path = path;
    this.#listener = listener;
    this.#run = options.run;
    this.#log = options.log;
    this.#listening = this.#listen().catch((error) =>
      this.#log.error("commands from outside are heard no longer", { error: describeError(error) })
    );
  }

  /**
   * Listens at a path, in place of whatever was left there by a Computer that did not end as it should.
   *
   * @throws {TypeError} when a Computer listens there.
   */
  static async open(
    path: string,
    options: { readonly run: RunWords; readonly log: Logger },
  ): Promise<ControlServer> {
    const listener = await listenAt(path);
    await Deno.chmod(path, 0o600);
    return new ControlServer(path, listener, options);
  }

  /** Listens no longer; commands that run are aborted, and told so. Idempotent. */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort(new DOMException("The Computer ends", "AbortError"));
    this.#listener.close();
    await settledWithin(Promise.all(this.#conversations.values()), FAREWELL_MS);
    for (const conversation of this.#conversations.keys()) conversation.end();
    await Promise.all([this.#listening, ...this.#conversations.values()]);
    await Deno.remove(this.#path).catch(() => {});
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #listen(): Promise<void> {
    for await (const connection of this.#listener) {
      const conversation = new ControlConversation(connection);
      const held = conversation.hold(this.#run, this.#closing.signal)
        .catch((error) =>
          this.#log.debug("a command from outside was not answered", { error: describeError(error) })
        )
        .finally(() => this.#conversations.delete(conversation));
      this.#conversations.set(conversation, held);
      if (this.#conversations.size >= MAX_CONVERSATIONS) await Promise.race(this.#conversations.values());
    }
  }
}

/** A conversation, from the connection to its end. */
class ControlConversation {
  readonly #connection: Deno.UnixConn;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  /** Whether something that was written has not been taken yet. */
  #isBusy = false;

  constructor(connection: Deno.UnixConn) {
    this.#connection = connection;
    this.#writer = connection.writable.getWriter();
  }

  /**
   * Reads the request and answers it. Whoever hangs up, or ends `signal`, aborts the command.
   *
   * @throws when there is no request, or nobody reads the answer.
   */
  async hold(run: RunWords, closing: AbortSignal): Promise<void> {
    const gone = new AbortController();
    const signal = AbortSignal.any([gone.signal, closing]);
    const lines = readLines(this.#connection.readable, MAX_REQUEST_BYTES);
    try {
      const inTime = AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]);
      const request = parseRequest((await abortable(lines.next(), inTime)).value ?? undefined);
      lines.next().then(() => gone.abort(), () => gone.abort());
      const progress = (text: string) => this.#tell({ progress: text }, gone);
      await this.#write(await answer(request, { run, signal, progress }));
    } finally {
      this.end();
    }
  }

  /** Hangs up. Idempotent. */
  end(): void {
    try {
      this.#connection.close();
    } catch {
      // Closed already, by the other side or before.
    }
  }

  /** Progress that nobody has read yet needs no successor. */
  #tell(reply: ControlReply, gone: AbortController): void {
    if (this.#isBusy) return;
    this.#write(reply).catch(() => gone.abort());
  }

  async #write(reply: ControlReply): Promise<void> {
    this.#isBusy = true;
    const bytes = toLine(reply);
    for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
      const written = this.#writer.write(bytes.subarray(start, start + PIECE_BYTES)).then(() => true);
      written.catch(() => {});
      if (await settledWithin(written, READ_TIMEOUT_MS) !== true) {
        throw new TypeError(`Cannot answer: nobody has read for ${READ_TIMEOUT_MS} ms`);
      }
    }
    this.#isBusy = false;
  }
}

async function answer(
  request: ControlRequest,
  context: {
    readonly run: RunWords;
    readonly signal: AbortSignal;
    readonly progress: (text: string) => void;
  },
): Promise<ControlAnswer> {
  const { version, words, json, columns, colors } = request;
  const { run, ...rest } = context;
  if (version !== PACKAGE_VERSION) {
    const error =
      `error: Cannot ask the Computer that runs: it is version ${PACKAGE_VERSION}, this is ${version}`;
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
      "Cannot listen for commands: a Computer of this name runs already; give this one another --name",
    );
  }
  await Deno.remove(path).catch(() => {});
  return Deno.listen({ transport: "unix", path });
}
