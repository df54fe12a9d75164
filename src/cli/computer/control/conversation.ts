/** One process that asks the Computer: its request, progress, and the answer. */
import { abortable, settledWithin } from "../../../async/abortable.ts";
import { COLORS, PLAIN, type Screen } from "../../../terminal/screen.ts";
import { PACKAGE_VERSION } from "../../../version.ts";
import { type ControlAnswer, type ControlReply, type ControlRequest, parseRequest } from "./message.ts";
import { readLines, toLine } from "./line_stream.ts";

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

/** A conversation, from the connection to its end. */
export class ControlConversation {
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
