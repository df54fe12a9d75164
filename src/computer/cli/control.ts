/** How another process of the same user asks a Computer that runs: words in, what is to be printed out, over a socket. */
import { COLORS, PLAIN } from "../../cli/terminal/palette.ts";
import type { Screen } from "../../cli/terminal/screen.ts";
import { abortable } from "../../async/abortable.ts";
import type { Logger } from "../../log.ts";
import { describeError, isRecord } from "../../protocol/errors.ts";
import { PACKAGE_VERSION } from "../../version.ts";

/** How long a process may take to say what it wants, in milliseconds. */
const REQUEST_TIMEOUT_MS = 10_000;
/** The longest request, in bytes. */
const MAX_REQUEST_BYTES = 1024 * 1024;

/** What a process asks. */
export interface ControlRequest {
  /** Of the asking package: words mean the same only where it is the same. */
  readonly version: string;
  /** A command with its arguments. */
  readonly words: readonly string[];
  readonly json: boolean;
  /** The width of the terminal to draw for; none without it. */
  readonly columns?: number | undefined;
  readonly colors?: boolean | undefined;
}

/** What the Computer says, one JSON line each: any number of `progress`, then one `output`. */
export type ControlReply =
  | { readonly progress: string }
  | { readonly output: string; readonly error: string; readonly exitCode: number };

/** Runs words as if they were typed, until `signal` is aborted. */
export type RunWords = (
  words: readonly string[],
  context: {
    readonly json: boolean;
    readonly screen: Screen | undefined;
    readonly signal: AbortSignal;
    readonly progress: (text: string) => void;
  },
) => Promise<{ readonly output: string; readonly error: string; readonly exitCode: number }>;

/** Listens for other processes; one that does not behave harms nobody else. */
export class ControlServer implements AsyncDisposable {
  readonly #listener: Deno.UnixListener;
  readonly #path: string;
  readonly #run: RunWords;
  readonly #log: Logger;
  readonly #closing = new AbortController();
  readonly #conversations = new Set<Promise<void>>();
  readonly #listening: Promise<void>;

  private constructor(path: string, listener: Deno.UnixListener, options: { run: RunWords; log: Logger }) {
    this.#path = path;
    this.#listener = listener;
    this.#run = options.run;
    this.#log = options.log;
    this.#listening = this.#listen();
  }

  /**
   * Listens at a path, in place of whatever was left there by a Computer that did not end as it should.
   *
   * @throws {TypeError} when a Computer of this name runs already.
   */
  static async open(
    path: string,
    options: { readonly run: RunWords; readonly log: Logger },
  ): Promise<ControlServer> {
    if (await answers(path)) {
      throw new TypeError("Cannot listen for commands: a Computer of this name runs already");
    }
    await Deno.remove(path).catch(() => {});
    const listener = Deno.listen({ transport: "unix", path });
    await Deno.chmod(path, 0o600);
    return new ControlServer(path, listener, options);
  }

  /** Listens no longer; commands that run are aborted. Idempotent. */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    this.#listener.close();
    await this.#listening;
    await Promise.all(this.#conversations);
    await Deno.remove(this.#path).catch(() => {});
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #listen(): Promise<void> {
    for await (const connection of this.#listener) {
      const conversation = this.#converse(connection)
        .catch((error) =>
          this.#log.debug("a command from outside was not answered", { error: describeError(error) })
        )
        .finally(() => this.#conversations.delete(conversation));
      this.#conversations.add(conversation);
    }
  }

  async #converse(connection: Deno.UnixConn): Promise<void> {
    const gone = new AbortController();
    const signal = AbortSignal.any([gone.signal, this.#closing.signal]);
    const writer = connection.writable.getWriter();
    const reply = (message: ControlReply) =>
      writer.write(new TextEncoder().encode(`${JSON.stringify(message)}\n`)).catch(() => gone.abort());
    const lines = readLines(connection.readable, MAX_REQUEST_BYTES);
    try {
      const first = await abortable(
        lines.next(),
        AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]),
      );
      const request = parseRequest(first.value);
      // Whoever hangs up wants no answer any more.
      lines.next().then(() => gone.abort(), () => gone.abort());
      await reply(await this.#answer(request, { signal, progress: (progress) => void reply({ progress }) }));
    } finally {
      await writer.close().catch(() => {});
      try {
        connection.close();
      } catch {
        // Closed already, by the other side.
      }
    }
  }

  async #answer(
    request: ControlRequest,
    context: { readonly signal: AbortSignal; readonly progress: (text: string) => void },
  ): Promise<ControlReply> {
    const { version, words, json, columns, colors } = request;
    if (version !== PACKAGE_VERSION) {
      return {
        output: "",
        error: `error: the Computer that runs is version ${PACKAGE_VERSION}`,
        exitCode: 1,
      };
    }
    const screen = columns === undefined ? undefined : { columns, palette: colors === true ? COLORS : PLAIN };
    return await this.#run(words, { ...context, json, screen });
  }
}

/** Whether somebody listens at a path. */
export async function answers(path: string): Promise<boolean> {
  try {
    (await Deno.connect({ transport: "unix", path })).close();
    return true;
  } catch {
    return false;
  }
}

/** The lines of a stream, none longer than `maxBytes`. */
export async function* readLines(
  stream: ReadableStream<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > maxBytes) throw new RangeError(`Cannot read a line of more than ${maxBytes} bytes`);
    yield* lines;
  }
}

function parseRequest(line: unknown): ControlRequest {
  const request: unknown = typeof line === "string" ? JSON.parse(line) : undefined;
  if (!isRecord(request) || !Array.isArray(request["words"])) throw new TypeError("Cannot read the request");
  const { version, words, json, columns, colors } = request;
  return {
    version: String(version),
    words: words.map(String),
    json: json === true,
    columns: typeof columns === "number" ? columns : undefined,
    colors: colors === true,
  };
}
