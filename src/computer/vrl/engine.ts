/** Compiles and runs VRL scripts (Vector Remap Language) with the original engine, as WebAssembly in a worker. */
import { Worker } from "node:worker_threads";
import { abortable } from "../../async/abortable.ts";
import { Deadline } from "../../async/deadline.ts";
import { Limiter } from "../../async/limiter.ts";
import { describeError } from "../../text/text.ts";
import type { VrlAnswer, VrlDiagnostic, VrlRequest, VrlWorkerSettings } from "./worker.ts";

/** How long the engine may take to load, or to compile a script, in milliseconds: its program has 12 MB, and no call waits. */
const START_TIMEOUT_MS = 30_000;
const RUN_TIMEOUT_MS = 2_000;
const MAX_EVENT_LENGTH = 4 * 1024 * 1024;
/** The most memory of the engine, in bytes. It starts with 1 MiB, but a script may double a text repeatedly. */
const MAX_ENGINE_BYTES = 256 * 1024 * 1024;
/** The most memory of the worker besides the engine, for input and output, in MiB. */
const MAX_HEAP_MB = 256;
/** The part of that memory for new objects, in MiB. */
const MAX_YOUNG_HEAP_MB = 32;
const MAX_FINDINGS = 3;
/** A lone surrogate as `JSON.stringify()` writes it, or an escaped backslash before such letters. */
const LONE_SURROGATE = /\\ud[89a-f]/;

/** A script that failed. The message names the place in the script and never quotes the event. */
export class VrlError extends Error {
  override readonly name = "VrlError";
  readonly code = "VRL";
}

/**
 * Compiles and runs scripts, one at a time. The engine is loaded at the first use and takes much memory; it has no access
 * to the environment, files or the network. After a script that takes too long or breaks the engine, the engine is
 * loaded again for the next script.
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
   * @throws {TypeError} when the script is not valid VRL; the message lists the compiler's findings and their places.
   * @throws {VrlError} when the engine cannot be loaded.
   */
  async compile(script: string, options: { readonly signal?: AbortSignal | undefined } = {}): Promise<void> {
    const answer = await this.#ask({ script }, { ...options, timeoutMs: START_TIMEOUT_MS });
    if (answer.status === "compiled" && answer.errors.length === 0) return;
    const why = answer.status === "compiled"
      ? describeDiagnostics(answer.errors, script)
      : "the compiler crashed";
    throw new TypeError(`Cannot compile the VRL script: ${why}`);
  }

  /**
   * Runs a script on an event and gives the changed event, as JSON.
   *
   * @throws {VrlError} when the event is too large, or the script fails or takes too long.
   */
  async run(
    script: string,
    event: unknown,
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<string> {
    const request = { script, event: toEventText(event) };
    const answer = await this.#ask(request, { ...options, timeoutMs: this.#runTimeoutMs });
    if (answer.status === "done") return answer.event;
    const why = answer.status === "failed" ? describeFailure(answer.message, script) : "the engine crashed";
    throw new VrlError(`Cannot run the VRL script: ${why}`);
  }

  close(): void {
    this.#closing.abort(new VrlError("Cannot use the VRL engine: closed"));
    this.#discard();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** An abort ends only the wait: the engine finishes the script before it takes the next one. */
  async #ask(
    request: VrlRequest,
    { signal, timeoutMs }: { readonly signal?: AbortSignal | undefined; readonly timeoutMs: number },
  ): Promise<VrlAnswer> {
    return await abortable(
      this.#turns.run(async () => {
        signal?.throwIfAborted();
        this.#closing.signal.throwIfAborted();
        return await this.#askWorker(request, timeoutMs);
      }),
      signal,
    );
  }

  async #askWorker(request: VrlRequest, timeoutMs: number): Promise<VrlAnswer> {
    try {
      const worker = this.#worker ??= await this.#start();
      using deadline = new Deadline(timeoutMs, {
        reason: () => new VrlError(`Cannot run the VRL script: not finished in ${timeoutMs} ms`),
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

/** A worker with a loaded engine, which runs one script at a time. */
class VrlWorker {
  readonly #worker = new Worker(workerUrl(), {
    name: "vrl",
    workerData: { maxEngineBytes: MAX_ENGINE_BYTES } satisfies VrlWorkerSettings,
    // A worker thread that exceeds the limits ends alone; a web worker would end this process.
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB, maxYoungGenerationSizeMb: MAX_YOUNG_HEAP_MB },
  });
  readonly #ready = Promise.withResolvers<void>();
  #answer = Promise.withResolvers<VrlAnswer>();

  constructor() {
    // Rejects also when no start waits for it any more.
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
    // The worker may have ended already.
    this.#worker.terminate().catch(() => {});
  }

  #fail(why: string): void {
    this.#ready.reject(new VrlError(`Cannot load the VRL engine: ${why}`));
    this.#answer.resolve({ status: "broken", message: why });
  }
}

/** A worker thread starts from a file, or from a line that imports the module when the package is not on disk. */
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
  // The engine accepts only well-formed text, and a tool may have cut an emoji in half.
  return LONE_SURROGATE.test(text) ? JSON.stringify(event, toWellFormed) : text;
}

function toWellFormed(_key: string, value: unknown): unknown {
  return typeof value === "string" ? value.toWellFormed() : value;
}

/** The first findings with their places. */
export function describeDiagnostics(diagnostics: readonly VrlDiagnostic[], script: string): string {
  const listed = diagnostics.slice(0, MAX_FINDINGS).map(({ message, labels }) => {
    const [first] = labels;
    const place = first === undefined ? "" : `${placeOf(first.span[0], script)}: `;
    const details = labels.map((label) => label.message.replaceAll("\n", " ")).filter((text) =>
      text !== message
    );
    return place + message + (details.length === 0 ? "" : ` (${details.join("; ")})`);
  });
  const more = diagnostics.length - listed.length;
  return listed.join("; ") + (more > 0 ? `; and ${more} more` : "");
}

/** The place and function of a failure, without the words of the engine, which quote the event. */
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
