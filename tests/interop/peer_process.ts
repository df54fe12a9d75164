/**
 * A child process that plays a role of another SDK and speaks JSON lines (`_driver.py` has the form). Needs `--allow-run`.
 *
 * @module
 */

import { isRecord } from "../../src/json/json.ts";

/** Something a driver reported unasked. */
export interface PeerEvent {
  readonly event: string;
  readonly data: unknown;
}

/** A command line for a driver: its `command` and whatever that command takes. */
export interface PeerCommand {
  readonly command: string;
  readonly [argument: string]: unknown;
}

/** How long to wait. */
export interface WaitOptions {
  readonly timeoutMs?: number;
}

/** A driver that did not come up, left, or answered a command with an error. */
export class PeerError extends Error {
  override readonly name = "PeerError";
  readonly code = "INTEROP_PEER";
  /** What the driver added to its failure, such as the fields of a version mismatch. */
  readonly payload: unknown;

  constructor(message: string, payload?: unknown) {
    super(message);
    this.payload = payload;
  }
}

/** A program to start. */
export interface PeerProgram {
  /** What it is, for messages, such as `the Python agent`. */
  readonly title: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Only ever reached by a failure; enough for a machine with ten times more work than it can do. */
const READY_TIMEOUT_MS = 120_000;
const COMMAND_TIMEOUT_MS = 120_000;
const EVENT_TIMEOUT_MS = 120_000;
const EXIT_TIMEOUT_MS = 5_000;
const STDERR_TAIL_LINES = 40;

interface Waiter {
  readonly matches: (event: PeerEvent) => boolean;
  readonly resolve: (event: PeerEvent) => void;
  readonly reject: (error: PeerError) => void;
}

interface Answer {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: PeerError) => void;
}

/** One running driver. */
export class PeerProcess implements AsyncDisposable {
  readonly #title: string;
  readonly #child: Deno.ChildProcess;
  readonly #stdin: WritableStreamDefaultWriter<Uint8Array>;
  readonly #stdout: ReadableStreamDefaultReader<Uint8Array>;
  readonly #stderr: ReadableStreamDefaultReader<Uint8Array>;
  readonly #reading: Promise<unknown>;
  readonly #isReady = Promise.withResolvers<Readonly<Record<string, unknown>>>();
  readonly #answers = new Map<number, Answer>();
  readonly #waiters = new Set<Waiter>();
  readonly #stderrTail: string[] = [];
  #ready: Readonly<Record<string, unknown>> = {};
  #unread: PeerEvent[] = [];
  #lastId = 0;
  #gone: PeerError | undefined;
  #closing: Promise<void> | undefined;

  /** Starts a program; {@linkcode untilReady} has to be awaited before anything else. */
  protected constructor({ title, command, args, cwd, env }: PeerProgram) {
    this.#title = title;
    this.#child = new Deno.Command(command, {
      args: [...args],
      ...cwd === undefined ? {} : { cwd },
      ...env === undefined ? {} : { env },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#stdin = this.#child.stdin.getWriter();
    this.#stdout = this.#child.stdout.getReader();
    this.#stderr = this.#child.stderr.getReader();
    const stdout = readLines(this.#stdout, (line) => this.#receive(line)).then(
      () => "its output ended",
      String,
    );
    this.#reading = Promise.all([
      stdout.then((why) => this.#fail(new PeerError(`Cannot talk to ${title}: ${why}`))),
      readLines(this.#stderr, (line) => this.#log(line)),
    ]);
  }

  /** Starts a driver and waits until it is up; rejects with what it said when it does not come up. */
  static async startProgram(program: PeerProgram, options: WaitOptions = {}): Promise<PeerProcess> {
    const peer = new PeerProcess(program);
    await peer.untilReady(options);
    return peer;
  }

  /** Waits until the driver is up, and closes it when it does not come up. */
  protected async untilReady({ timeoutMs = READY_TIMEOUT_MS }: WaitOptions): Promise<void> {
    try {
      this.#ready = await within(this.#isReady.promise, timeoutMs, `${this.#title} to come up`);
    } catch (error) {
      await this.close();
      throw this.#explain(error);
    }
  }

  /** What the driver said when it came up: `url` and `port`, or `sid`, `name` and `office`. */
  get ready(): Readonly<Record<string, unknown>> {
    return this.#ready;
  }

  /** The last lines that the driver logged. */
  get log(): string {
    return this.#stderrTail.join("\n");
  }

  /** Runs one command and returns its result; commands run side by side. */
  async command(
    command: PeerCommand,
    { timeoutMs = COMMAND_TIMEOUT_MS }: WaitOptions = {},
  ): Promise<unknown> {
    if (this.#gone) throw this.#gone;
    const id = ++this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#answers.set(id, { resolve, reject });
    try {
      const line = new TextEncoder().encode(JSON.stringify({ ...command, id }) + "\n");
      const sent = this.#stdin.write(line).then(() => promise);
      return await within(sent, timeoutMs, `${this.#title} to answer ${command.command}`);
    } finally {
      this.#answers.delete(id);
    }
  }

  /**
   * The next event of that name (and, when given, of that content) that no earlier wait has taken.
   * Events that came before the wait are looked at first.
   */
  async nextEvent(
    event: string,
    { timeoutMs = EVENT_TIMEOUT_MS, where = () => true }: WaitOptions & {
      readonly where?: (data: unknown) => boolean;
    } = {},
  ): Promise<PeerEvent> {
    const matches = (candidate: PeerEvent) => candidate.event === event && where(candidate.data);
    const position = this.#unread.findIndex(matches);
    const [early] = position < 0 ? [] : this.#unread.splice(position, 1);
    if (early) return early;
    if (this.#gone) throw this.#gone;
    const { promise, resolve, reject } = Promise.withResolvers<PeerEvent>();
    const waiter: Waiter = { matches, resolve, reject };
    this.#waiters.add(waiter);
    try {
      return await within(promise, timeoutMs, `${this.#title} to report ${event}`);
    } finally {
      this.#waiters.delete(waiter);
    }
  }

  /** Takes all events that no wait has taken so far. */
  takeEvents(): readonly PeerEvent[] {
    return this.#unread.splice(0);
  }

  /** Ends the driver's stdin, waits for it to leave, and kills it when it does not. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    // A driver that already left has closed its end of the pipe.
    await this.#stdin.close().catch(() => {});
    const exited = Promise.all([this.#child.status, this.#reading]);
    try {
      await within(exited, EXIT_TIMEOUT_MS, `${this.#title} to leave`);
    } catch {
      this.#kill();
      await this.#child.status;
      // An MCP server that outlives its Computer may still hold the pipes.
      await Promise.all([this.#stdout.cancel(), this.#stderr.cancel()]);
      await this.#reading;
    }
  }

  #kill(): void {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It left between the wait and the kill.
    }
  }

  #receive(line: string): void {
    const message: unknown = JSON.parse(line);
    if (!isRecord(message)) return;
    if (typeof message.event === "string") {
      return this.#dispatch({ event: message.event, data: message.data });
    }
    if (isRecord(message.ready)) return this.#isReady.resolve(message.ready);
    if (typeof message.failed === "string") return this.#fail(new PeerError(message.failed, message.payload));
    const answer = typeof message.id === "number" ? this.#answers.get(message.id) : undefined;
    if (typeof message.error === "string") answer?.reject(new PeerError(message.error));
    else answer?.resolve(message.result);
  }

  #dispatch(event: PeerEvent): void {
    for (const waiter of this.#waiters) {
      if (!waiter.matches(event)) continue;
      this.#waiters.delete(waiter);
      return waiter.resolve(event);
    }
    this.#unread.push(event);
  }

  #log(line: string): void {
    this.#stderrTail.push(line);
    if (this.#stderrTail.length > STDERR_TAIL_LINES) this.#stderrTail.shift();
  }

  #fail(error: PeerError): void {
    this.#gone ??= error;
    this.#isReady.reject(this.#gone);
    // Nobody may be waiting for it any more.
    this.#isReady.promise.catch(() => {});
    for (const { reject } of [...this.#answers.values(), ...this.#waiters]) reject(this.#gone);
  }

  #explain(error: unknown): PeerError {
    const failure = error instanceof PeerError ? error : new PeerError(String(error));
    return this.log === "" ? failure : new PeerError(`${failure.message}\n${this.log}`, failure.payload);
  }
}

async function readLines(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  onLine: (line: string) => void,
): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    const lines = (rest + decoder.decode(chunk.value, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.trim() !== "") onLine(line.trimEnd());
  }
}

async function within<T>(promise: Promise<T>, timeoutMs: number, what: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const expired = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new PeerError(`Waited ${timeoutMs} ms in vain for ${what}`)), timeoutMs);
  });
  try {
    return await Promise.race([promise, expired]);
  } finally {
    clearTimeout(timer);
  }
}
