/** VRL scripts (Vector Remap Language), run by the genuine engine as WebAssembly in a worker of its own. */
import { Worker } from "node:worker_threads";
import { abortable } from "../../async/abortable.ts";
import { Deadline } from "../../async/deadline.ts";
import { Limiter } from "../../async/limiter.ts";
import { describeError } from "../../text.ts";
import type { VrlAnswer, VrlDiagnostic, VrlRequest, VrlWorkerSettings } from "./worker.ts";

/** How long the engine may take to load, in milliseconds: it is 12 MB of program. */
const START_TIMEOUT_MS = 30_000;
/** How long a script may run, in milliseconds. */
const RUN_TIMEOUT_MS = 2_000;
/** The largest event, as JSON text of so many characters. */
const MAX_EVENT_LENGTH = 4 * 1024 * 1024;
/** The most memory of the engine itself, in bytes; it begins with 1 MiB, and a script may double a text again and again. */
const MAX_ENGINE_BYTES = 256 * 1024 * 1024;
/** The most memory of what goes into the engine and comes out of it, in MiB. */
const MAX_HEAP_MB = 256;
/** How much of that is for what is new, in MiB. */
const MAX_YOUNG_HEAP_MB = 32;
/** The most findings that are told. */
const MAX_FINDINGS = 3;
/** A lone surrogate as `JSON.stringify()` writes it, or an escaped backslash before such letters. */
const LONE_SURROGATE = /\\ud[89a-f]/;

/** A script that did not run to its end; the message says where, and never what it was given. */
export class VrlError extends Error {
  override readonly name = "VrlError";
  readonly code = "VRL";
}

/**
 * Compiles and runs scripts, one at a time. The engine is loaded at the first use and takes some 100 MB; it sees no
 * environment, no files and no network. A script that takes too long, or that the engine stumbles over, costs its own
 * result alone: the engine is loaded anew for the next.
 */
export class VrlEngine implements Disposable {
  readonly #runTimeoutMs: number;
  readonly #turns = new Limiter(1);
  readonly #closing = new AbortController();
  #worker: VrlWorker | undefined;

  /** `runTimeoutMs`: how long a script may run; 2,000 by default. */
  constructor(options: { readonly runTimeoutMs?: number } = {}) {
    this.#runTimeoutMs = options.runTimeoutMs ?? RUN_TIMEOUT_MS;
  }

  /**
   * Compiles a script.
   *
   * @throws {TypeError} with the compiler's findings and their places when it is no VRL.
   * @throws {VrlError} when the engine cannot be loaded.
   */
  async compile(script: string, options: { readonly signal?: AbortSignal | undefined } = {}): Promise<void> {
    const answer = await this.#ask({ script }, options.signal);
    if (answer.status === "compiled" && answer.errors.length === 0) return;
    const why = answer.status === "compiled"
      ? describeDiagnostics(answer.errors, script)
      : "the compiler cannot cope with it";
    throw new TypeError(`Cannot compile the VRL script: ${why}`);
  }

  /**
   * Runs a script on an event and gives the event that it made, as JSON.
   *
   * @throws {VrlError} when the event is too large, the script fails, or it takes too long.
   */
  async run(
    script: string,
    event: unknown,
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<string> {
    const answer = await this.#ask({ script, event: toEventText(event) }, options.signal);
    if (answer.status === "done") return answer.event;
    const why = answer.status === "failed"
      ? describeFailure(answer.message, script)
      : "the engine cannot cope with this result";
    throw new VrlError(`Cannot run the VRL script: ${why}`);
  }

  /** Ends the engine. Idempotent. */
  close(): void {
    this.#closing.abort(new VrlError("Cannot use the VRL engine: closed"));
    this.#discard();
  }

  /** The same as {@linkcode VrlEngine.close}. */
  [Symbol.dispose](): void {
    this.close();
  }

  /** Whoever asks may stop waiting; what runs goes on, so that the next has the engine for itself. */
  async #ask(request: VrlRequest, signal: AbortSignal | undefined): Promise<VrlAnswer> {
    return await abortable(
      this.#turns.run(async () => {
        signal?.throwIfAborted();
        this.#closing.signal.throwIfAborted();
        return await this.#askWorker(request);
      }),
      signal,
    );
  }

  async #askWorker(request: VrlRequest): Promise<VrlAnswer> {
    try {
      const worker = this.#worker ??= await this.#start();
      using deadline = new Deadline(this.#runTimeoutMs, {
        reason: () => new VrlError(`Cannot run the VRL script: no end in ${this.#runTimeoutMs} ms`),
        signal: this.#closing.signal,
      });
      const answer = await abortable(worker.ask(request), deadline.signal);
      if (answer.status === "broken") this.#discard();
      return answer;
    } catch (error) {
      this.#discard();
      throw error;
    }
  }

  async #start(): Promise<VrlWorker> {
    using deadline = new Deadline(START_TIMEOUT_MS, {
      reason: () => new VrlError(`Cannot load the VRL engine: no answer in ${START_TIMEOUT_MS} ms`),
      signal: this.#closing.signal,
    });
    const worker = new VrlWorker();
    try {
      await abortable(worker.ready, deadline.signal);
      return worker;
    } catch (error) {
      worker.close();
      throw error;
    }
  }

  #discard(): void {
    this.#worker?.close();
    this.#worker = undefined;
  }
}

/** One loaded engine; asked again only after it has answered. */
class VrlWorker {
  readonly #worker = new Worker(workerUrl(), {
    name: "vrl",
    workerData: { maxEngineBytes: MAX_ENGINE_BYTES } satisfies VrlWorkerSettings,
    // Beyond them a worker thread ends, and a web worker would end this process.
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB, maxYoungGenerationSizeMb: MAX_YOUNG_HEAP_MB },
  });
  readonly #ready = Promise.withResolvers<void>();
  #answer = Promise.withResolvers<VrlAnswer>();

  constructor() {
    // Whoever has stopped waiting is not told.
    this.#ready.promise.catch(() => {});
    this.#worker.on("error", (error) => this.#fail(describeError(error)));
    this.#worker.on("exit", () => this.#fail("the worker ended"));
    this.#worker.once("message", () => {
      this.#ready.resolve();
      this.#worker.on("message", (answer: VrlAnswer) => this.#answer.resolve(answer));
    });
  }

  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  ask(request: VrlRequest): Promise<VrlAnswer> {
    this.#answer = Promise.withResolvers<VrlAnswer>();
    this.#worker.postMessage(request);
    return this.#answer.promise;
  }

  close(): void {
    this.#worker.removeAllListeners();
    // It may be over already.
    this.#worker.terminate().catch(() => {});
  }

  #fail(why: string): void {
    this.#ready.reject(new VrlError(`Cannot load the VRL engine: ${why}`));
    this.#answer.resolve({ status: "broken", message: why });
  }
}

/** A worker thread is started from a file; where the package was not installed as files, from a line that imports it. */
function workerUrl(): URL {
  const url = new URL("./worker.ts", import.meta.url);
  return url.protocol === "file:"
    ? url
    : new URL(`data:text/javascript,import ${encodeURIComponent(JSON.stringify(url.href))}`);
}

function toEventText(event: unknown): string {
  const text = JSON.stringify(event);
  if (text.length > MAX_EVENT_LENGTH) {
    throw new VrlError("Cannot run the VRL script: the result is too large");
  }
  // The engine takes well-formed text alone; a tool may have cut an emoji in half.
  return LONE_SURROGATE.test(text) ? JSON.stringify(event, toWellFormed) : text;
}

function toWellFormed(_key: string, value: unknown): unknown {
  return typeof value === "string" ? value.toWellFormed() : value;
}

/** The first findings, each with its place. */
export function describeDiagnostics(diagnostics: readonly VrlDiagnostic[], script: string): string {
  const told = diagnostics.slice(0, MAX_FINDINGS).map(({ message, labels }) => {
    const [first] = labels;
    const place = first === undefined ? "" : `${placeOf(first.span[0], script)}: `;
    const details = labels.map((label) => label.message.replaceAll("\n", " ")).filter((text) =>
      text !== message
    );
    return place + message + (details.length === 0 ? "" : ` (${details.join("; ")})`);
  });
  const more = diagnostics.length - told.length;
  return told.join("; ") + (more > 0 ? `; and ${more} more` : "");
}

/** Where and in what a run ended; not the engine's own words, which quote what the script was given. */
export function describeFailure(message: string, script: string): string {
  const call = /function call error for "(\w+)" at \((\d+):\d+\)/.exec(message);
  if (call !== null) return `"${call[1]}" failed at ${placeOf(Number(call[2]), script)}`;
  return /\baborted\b/.test(message) ? "the script aborted" : "the script failed";
}

function placeOf(offset: number, script: string): string {
  const before = new TextDecoder().decode(new TextEncoder().encode(script).subarray(0, offset));
  const lines = before.split("\n");
  return `line ${lines.length}, column ${(lines.at(-1) ?? "").length + 1}`;
}
