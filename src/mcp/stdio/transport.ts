/** The transport to an MCP server that runs as a child process. */
import { settledWithin } from "../../async/abortable.ts";
import { delay } from "../../async/backoff.ts";
import type { Logger } from "../../log.ts";
import type { MCPServerStdioConfig, Resolved, SandboxSettings } from "../../protocol/config.ts";
import { parseJson } from "../../json/json.ts";
import { describeError } from "../../text/text.ts";
import { childEnvironment } from "./environment.ts";
import { ConfigurationError, ServerNotRunningError } from "../errors.ts";
import type { ProcessGuard, TreeEnvironment } from "./guard.ts";
import { sandboxed, thisSystem } from "./sandbox.ts";
import {
  type GroupLeader,
  isConfigurationError,
  killGroup,
  spawnFailure,
  spawnGroupLeader,
} from "./spawn.ts";
import { ChildPipes } from "./windows_pipes.ts";
import {
  type Inflow,
  readMessages,
  readUnparsable,
  type RpcMessage,
  toUnreadable,
  type Transport,
} from "../json_rpc.ts";
import type { Journal } from "../journal.ts";
import type { MessageLimits, ServerLimits } from "../limits.ts";
import { MessageBytes, type Oversized } from "../message_bytes.ts";
import { LARGE_MESSAGE_BYTES, readLargeMessage } from "../../json/large_message.ts";
import { textEncodingOf } from "./text_encoding.ts";

/** How long output is read after the exit while a descendant holds the pipe open, in milliseconds. */
const DRAIN_GRACE_MS = 500;
/** One in this many invalid lines on stdout is logged. */
const STRAY_LINES_PER_WARNING = 1_000;
/** The bytes of output that are read at once. */
const READ_BYTES = 65_536;
/** The bytes of output that are split into lines at once: each byte may be a line. */
const MAX_PIECE_BYTES = 8_192;
/** The length to which an invalid line is cut, in characters. The logger masks secrets before it cuts further. */
const MAX_STRAY_LENGTH = 20_000;
/** The length of the end of stderr that is kept, in characters. */
const STDERR_TAIL_LENGTH = 8_192;
const NEWLINE = 0x0a;
const REPLACEMENT = "\ufffd";
/** The bytes of a line that are checked at once. */
const CHECKED_BYTES = 65_536;

/** The parameters of the configuration, with its inputs filled in. */
export type StdioParameters = Resolved<MCPServerStdioConfig>["server_parameters"];

export interface StdioContext {
  readonly guard: ProcessGuard;
  readonly log: Logger;
  readonly journal?: Pick<Journal, "stderr" | "stderrEnded">;
  readonly limits: MessageLimits & Pick<ServerLimits, "stopGraceMs">;
  readonly inflow: Inflow;
  /** What the process may reach; everything by default. */
  readonly sandbox?: SandboxSettings | null | undefined;
}

/**
 * A child process in its own process group. The transport closes when the child exits, even if a descendant still holds its
 * stdout. Closing the transport ends the whole group: it closes stdin, then sends SIGTERM, then SIGKILL.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport["onmessage"];
  readonly #parameters: StdioParameters;
  readonly #context: StdioContext;
  #stderrTail = "";
  #process: GroupLeader | undefined;
  #input: WritableStreamDefaultWriter<Uint8Array> | undefined;
  #ended: Promise<void> = Promise.resolve();
  #exit: string | undefined;
  /** Why this program ended the process, if it did. */
  #stopReason: string | undefined;
  #strayLines = 0;
  /** The bytes that were written and not read by the child. */
  #unreadBytes = 0;

  constructor(parameters: StdioParameters, context: StdioContext) {
    this.#parameters = parameters;
    this.#context = context;
  }

  /** How the process ended, or `undefined` while it runs. */
  get exit(): string | undefined {
    return this.#exit;
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** The end of what the process wrote to stderr. */
  get stderrTail(): string {
    return this.#stderrTail;
  }

  async start(): Promise<void> {
    const over = Promise.withResolvers<void>();
    try {
      await this.#start(over);
    } catch (error) {
      over.resolve();
      throw error;
    }
  }

  async #start(over: PromiseWithResolvers<void>): Promise<void> {
    using pipes = await ChildPipes.open(over.promise);
    if (this.#stopReason !== undefined) throw new ServerNotRunningError({ reason: this.#stopReason });
    const { guard } = this.#context;
    const tree = guard.environment();
    const process = this.#spawn(tree, pipes);
    this.#process = process;
    guard.add(process.pid, tree);
    this.#input = process.stdin.getWriter();
    const output = process.stdout.getReader({ mode: "byob" });
    const errors = process.stderr.getReader();
    const drained = Promise.allSettled([this.#readOutput(output), this.#readErrors(errors)]);
    this.#ended = process.status.then(async (status) => {
      const exit = status.signal === null ? `exit code ${status.code}` : `signal ${status.signal}`;
      this.#exit = this.#stopReason ?? exit;
      killGroup(process.pid, "SIGKILL");
      guard.remove(process.pid);
      // The pipes end with the group, unless a descendant has left it.
      await settledWithin(drained, DRAIN_GRACE_MS);
      const ends = [output.cancel(), errors.cancel(), this.#input?.close()];
      await settledWithin(Promise.allSettled(ends), DRAIN_GRACE_MS);
      over.resolve();
      this.onclose?.();
    });
  }

  async send(message: RpcMessage): Promise<void> {
    if (this.#input === undefined || this.#exit !== undefined) {
      throw new ServerNotRunningError({ reason: this.#exit ?? "not started" });
    }
    const bytes = new TextEncoder().encode(`${this.#encode(message)}\n`);
    this.#killIfNotReading();
    this.#unreadBytes += bytes.length;
    try {
      await this.#input.write(bytes);
    } catch (cause) {
      // Its exit says more than the pipe that it broke.
      await settledWithin(this.#ended, DRAIN_GRACE_MS);
      throw new ServerNotRunningError({ reason: this.#exit ?? "its stdin is closed", cause });
    } finally {
      this.#unreadBytes -= bytes.length;
    }
  }

  /** Kills a child that does not read its stdin, since unread requests fill the memory of this process. */
  #killIfNotReading(): void {
    const { limits: { maxMessageBytes }, log } = this.#context;
    if (this.#unreadBytes <= maxMessageBytes) return;
    log.warn("MCP server killed: it does not read its stdin", { unread_bytes: this.#unreadBytes });
    this.#kill("it does not read its stdin");
    throw new ServerNotRunningError({ reason: "it does not read its stdin" });
  }

  #kill(reason: string): void {
    this.#stopReason ??= reason;
    if (this.#process !== undefined) killGroup(this.#process.pid, "SIGKILL");
  }

  async close(): Promise<void> {
    this.#stopReason ??= "closed";
    const process = this.#process;
    if (process === undefined) return;
    // Not awaited: closing waits for earlier writes, which a child may never read.
    this.#input?.close().catch(() => {});
    const { stopGraceMs } = this.#context.limits;
    if (!await this.#endsWithin(stopGraceMs)) {
      killGroup(process.pid, "SIGTERM");
      if (!await this.#endsWithin(stopGraceMs)) killGroup(process.pid, "SIGKILL");
    }
    await this.#ended;
  }

  #spawn(tree: TreeEnvironment, pipes: ChildPipes | undefined): GroupLeader {
    const { command, args, env, cwd } = this.#parameters;
    const { sandbox } = this.#context;
    const plain = { command, args, env: childEnvironment(Deno.env.toObject(), env), cwd: cwd ?? undefined };
    const own = Object.keys(env ?? {});
    const program = sandbox ? sandboxed(plain, { sandbox, own, system: thisSystem(plain) }) : plain;
    try {
      return spawnGroupLeader(program.command, { ...program, env: { ...program.env, ...tree }, pipes });
    } catch (cause) {
      // No memory, processes or file handles are left: a retry may succeed.
      if (!isConfigurationError(cause)) {
        throw new ServerNotRunningError({ reason: describeError(cause), cause });
      }
      throw new ConfigurationError(`Cannot start command "${command}": ${spawnFailure(command, cause)}`, {
        reason: "its program cannot be started",
        cause,
      });
    }
  }

  /** Writes JSON in ASCII, which is the same in all supported encodings. */
  #encode(message: RpcMessage): string {
    const json = JSON.stringify(message);
    if (/^utf-?8$/i.test(this.#parameters.encoding)) return json;
    return json.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  }

  async #readOutput(output: ReadableStreamBYOBReader): Promise<void> {
    const { limits, inflow } = this.#context;
    const decoder = new LineDecoder(this.#parameters, limits, (line) => this.#receiveOversized(line));
    try {
      for await (const chunk of chunksOf(output)) {
        for (let start = 0; start < chunk.length; start += MAX_PIECE_BYTES) {
          if (!inflow.isReady) await inflow.ready();
          const piece = chunk.subarray(start, start + MAX_PIECE_BYTES);
          const { lines, undecodable } = decoder.push(piece);
          for (const line of undecodable) this.#receiveInvalid(line);
          for (const line of lines) {
            if (!inflow.isReady) await inflow.ready();
            if (typeof line === "string") this.#receive(line);
            else await this.#receiveLarge(line, decoder);
          }
        }
      }
    } catch (error) {
      const reason = describeError(error);
      this.#context.log.warn("MCP server killed: its output cannot be read", { error: reason });
      this.#kill(reason);
    }
  }

  async #readErrors(errors: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    for (let read = await errors.read(); !read.done; read = await errors.read()) {
      const text = decoder.decode(read.value, { stream: true });
      this.#stderrTail = (this.#stderrTail + text).slice(-STDERR_TAIL_LENGTH);
      this.#context.journal?.stderr(text);
    }
    this.#context.journal?.stderrEnded();
  }

  #receive(line: string): void {
    if (line.trim() === "") return this.#context.inflow.take(line.length);
    // A quick check for most invalid lines.
    const value = /^\s*[{[]/.test(line) ? parseJson(line) : undefined;
    this.#pass(value, line);
  }

  /** Passes on the messages of a line. Whoever waits for an answer that cannot be parsed learns it at once. */
  #pass(value: unknown, line: string): void {
    const messages = readMessages(value);
    if (messages.length === 0) this.#reportStray(line);
    if (value === undefined) messages.push(...readUnparsable(line));
    for (const message of messages) this.onmessage?.(message);
  }

  async #receiveLarge(bytes: Uint8Array<ArrayBuffer>, decoder: LineDecoder): Promise<void> {
    const head = decoder.decode(bytes.subarray(0, MAX_STRAY_LENGTH)).text;
    const tail = decoder.decode(bytes.subarray(-MAX_STRAY_LENGTH)).text;
    let value: unknown = await readLargeMessage(bytes);
    if (value === undefined) {
      const { text, isValid } = decoder.decode(bytes);
      bytes.buffer.transfer(0);
      if (!isValid) return this.#receiveInvalid(text);
      // Decoding, parsing and handling a large message each block the event loop for a while.
      await delay(0);
      value = parseJson(text);
      await delay(0);
    }
    this.#pass(value, head + tail);
  }

  /** Fails the request at once whose answer is not valid text. */
  #receiveInvalid(line: string): void {
    const text = `the answer of the MCP server is not valid ${this.#parameters.encoding}`;
    const [parsed] = readMessages(parseJson(line));
    const isAnswer = parsed !== undefined && !("method" in parsed) && parsed.id !== undefined;
    const [failure] = isAnswer ? [toUnreadable(parsed.id ?? "", text)] : readUnparsable(line, text);
    if (failure === undefined) return this.#reportStray(line);
    this.#context.log.warn(`${text}: set "encoding_error_handler" to "replace" to accept it`);
    this.onmessage?.(failure);
  }

  /** Fails the request at once whose answer is above a limit. */
  #receiveOversized({ flaw, ends }: Oversized): void {
    const { inflow, log } = this.#context;
    log.warn("dropped a message of the MCP server", { error: flaw.message });
    const text = new TextDecoder().decode(ends);
    for (const failure of readUnparsable(text, flaw.message)) this.onmessage?.(failure);
    if (inflow.takeOversized()) throw flaw;
  }

  /** Logs the first invalid line on stdout, then every thousandth, with their count: many servers print there. */
  #reportStray(line: string): void {
    this.#context.inflow.take(line.length);
    if (this.#strayLines++ % STRAY_LINES_PER_WARNING !== 0) return;
    this.#context.log.warn("MCP server wrote a line to stdout that is not a JSON-RPC message", {
      line: line.slice(0, MAX_STRAY_LENGTH).toWellFormed(),
      count: this.#strayLines,
    });
  }

  async #endsWithin(ms: number): Promise<boolean> {
    return await settledWithin(this.#ended.then(() => true), ms) ?? false;
  }
}

/** Reads all chunks into the same memory: a new buffer for each chunk would be garbage for a while. */
async function* chunksOf(output: ReadableStreamBYOBReader): AsyncGenerator<Uint8Array> {
  let room = new Uint8Array(READ_BYTES);
  for (;;) {
    const { done, value } = await output.read(room);
    if (done) return;
    yield value;
    room = new Uint8Array(value.buffer);
  }
}

/** The lines that a chunk completes. */
export interface DecodedLines {
  /** Whole lines: a large one as its bytes, the others as text. */
  readonly lines: (string | Uint8Array<ArrayBuffer>)[];
  /** Lines that are not valid text, with replacement characters. */
  readonly undecodable: string[];
}

export interface DecodedLine {
  readonly text: string;
  /** Whether the text may be used: it is valid, or replacements are allowed. */
  readonly isValid: boolean;
}

/**
 * Splits bytes into lines and decodes each line separately, so that an invalid line does not affect others. Throws a
 * `RangeError` for a line that exceeds a limit or, where somebody wants to know of it, does not end.
 */
export class LineDecoder {
  readonly #lenientDecoder: TextDecoder;
  readonly #onInvalid: "strict" | "ignore" | "replace";
  readonly #line: MessageBytes;
  /** Whether large lines are returned as bytes: only UTF-8, unless invalid bytes must be removed. */
  readonly #keepsLargeLines: boolean;

  constructor(
    encoding: Pick<StdioParameters, "encoding" | "encoding_error_handler">,
    limits: MessageLimits,
    onOversized?: (line: Oversized) => void,
  ) {
    const { encoding: name, encoding_error_handler: onError } = encoding;
    const label = textEncodingOf(name);
    this.#lenientDecoder = new TextDecoder(label);
    this.#onInvalid = onError;
    this.#line = new MessageBytes(limits, onOversized);
    this.#keepsLargeLines = label === "utf-8" && onError !== "ignore";
  }

  /** Returns the lines that `chunk` completes. */
  push(chunk: Uint8Array): DecodedLines {
    const lines: DecodedLines["lines"] = [];
    const undecodable: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#line.push(chunk.subarray(start, end));
      if (!this.#line.settle()) {
        start = end + 1;
        continue;
      }
      if (this.#line.length >= LARGE_MESSAGE_BYTES && this.#keepsLargeLines) {
        lines.push(this.#line.take());
      } else {
        const { text, isValid } = this.decode(this.#line.view());
        if (isValid) lines.push(text);
        else undecodable.push(text);
        this.#line.clear();
      }
      start = end + 1;
    }
    if (start < chunk.length) this.#line.push(chunk.subarray(start));
    return { lines, undecodable };
  }

  decode(bytes: Uint8Array): DecodedLine {
    const text = this.#lenientDecoder.decode(bytes);
    if (this.#onInvalid === "ignore") return { text: text.replaceAll(REPLACEMENT, ""), isValid: true };
    return { text, isValid: this.#onInvalid === "replace" || this.#isValid(bytes, text) };
  }

  /**
   * Returns whether the bytes are valid. A strict decoder is slow and takes twice the memory of the text, so only a text
   * with replacement characters, which the server may have written itself, is decoded again, in pieces.
   */
  #isValid(bytes: Uint8Array, text: string): boolean {
    if (!text.includes(REPLACEMENT)) return true;
    const decoder = new TextDecoder(this.#lenientDecoder.encoding, { fatal: true });
    try {
      for (let start = 0; start < bytes.length; start += CHECKED_BYTES) {
        decoder.decode(bytes.subarray(start, start + CHECKED_BYTES), { stream: true });
      }
      decoder.decode();
      return true;
    } catch {
      return false;
    }
  }
}
