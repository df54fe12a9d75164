/** A parser process, as the documents server sees it. */
import { dirname, fromFileUrl } from "@std/path";
import { settledWithin } from "../basics.ts";
import { importWords } from "@a2c-smcp/sdk/base";
import {
  MEMORY_EXIT_CODE,
  type ParseAnswer,
  type ParseRequest,
  readFrames,
  toJson,
  writeFrame,
} from "./frames.ts";

const MAX_ANSWER_BYTES = 17 * 1024 * 1024;
/** How long a process that gives no more answers may take to end by itself, in milliseconds. */
const END_MS = 1_000;
/** How much of the end of standard error is kept, in characters. */
const MAX_COMPLAINT = 2_000;

export interface ProcessLimits {
  /** The most memory of the process, in bytes: JavaScript, WebAssembly and buffers together. */
  readonly maxMemoryBytes: number;
  readonly maxFileBytes: number;
  /** The languages of text in pictures, such as `eng`; without them, it is not read. */
  readonly ocr?: string | undefined;
}

export type AnsweredRequest = Exclude<ParseRequest, { ask: "close" }>;

/** Runs parsers in a process without permissions. One request at a time. */
export class ParserProcess {
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #answers: AsyncGenerator<{ readonly message: unknown }, void>;
  readonly #complaint: Promise<string>;
  #isAlive = true;

  /** Starts a process. It needs `--allow-run` for the Deno that runs this program. */
  constructor({ maxMemoryBytes, maxFileBytes, ocr }: ProcessLimits) {
    // The sources of the parsers, and the only module of the SDK that they use.
    const code = [new URL("../", import.meta.url), new URL(import.meta.resolve("@a2c-smcp/sdk/words"))];
    const readable = code.filter(({ protocol }) => protocol === "file:").map((url) => {
      const path = fromFileUrl(url);
      const comma = path.indexOf(",");
      // Deno 2.9.6 cannot be given a path with a comma, but the folder above that has none.
      return comma === -1 ? path : dirname(path.slice(0, comma + 1));
    });
    const heapMegabytes = Math.floor(maxMemoryBytes / (1024 * 1024));
    const args = [
      "run",
      "--no-prompt",
      "--cached-only",
      "--ignore-env",
      ...importWords(),
      ...(readable.length === 0 ? [] : [`--allow-read=${readable.join(",")}`]),
      // Only so are the bytes of a package a module.
      ...(ocr === undefined ? [] : ["--unstable-raw-imports"]),
      // A small space for young objects: a process that reads many pages takes less memory, and little more time.
      `--v8-flags=--max-old-space-size=${heapMegabytes},--max-semi-space-size=2,--expose-gc`,
      new URL("./child.ts", import.meta.url).href,
      `${maxMemoryBytes}`,
      `${maxFileBytes + 64 * 1024}`,
      ...(ocr === undefined ? [] : [ocr]),
    ];
    this.#child = new Deno.Command(Deno.execPath(), {
      args,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#input = this.#child.stdin.getWriter();
    this.#answers = readFrames(this.#child.stdout, MAX_ANSWER_BYTES);
    this.#complaint = readTail(this.#child.stderr);
    void this.#child.status.then(() => this.#isAlive = false);
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** Sends a request and waits for its answer. A process that ends instead was too slow, took too much memory or failed. */
  async ask(request: AnsweredRequest, bytes?: Uint8Array): Promise<ParseAnswer> {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.#kill();
    }, request.timeMs);
    try {
      await writeFrame(this.#input, toJson(request), bytes);
      const { value } = await this.#answers.next();
      if (value !== undefined) return value.message as ParseAnswer;
    } catch {
      // A broken pipe: the process has ended.
    } finally {
      clearTimeout(timer);
    }
    return isLate ? { failed: "time", message: "the time is over" } : await this.#explainEnd();
  }

  forget(document: number): void {
    writeFrame(this.#input, toJson({ ask: "close", document } satisfies ParseRequest)).catch(() => {});
  }

  async close(): Promise<void> {
    this.#kill();
    // A generator that has not begun holds no stream yet.
    const output = this.#child.stdout.locked ? this.#answers.return() : this.#child.stdout.cancel();
    await Promise.allSettled([this.#input.abort(), output, this.#complaint]);
    await this.#child.status;
  }

  async #explainEnd(): Promise<ParseAnswer> {
    const ended = await settledWithin(this.#child.status, END_MS);
    this.#kill();
    const [complaint, { code }] = await Promise.all([this.#complaint, this.#child.status]);
    if (code === MEMORY_EXIT_CODE || /out of memory|allocation failed/i.test(complaint)) {
      return { failed: "memory", message: "the memory is used up" };
    }
    // Windows has no signals: a killed process ends with code 1 and no message, an error of Deno with code 1 and its message.
    const isKilled = Deno.build.os === "windows"
      ? ended?.code === 1 && complaint === ""
      : /^SIG(?:KILL|TERM|INT|HUP)$/.test(ended?.signal ?? "");
    if (isKilled) {
      return { failed: "killed", message: "the system has ended the process that reads it" };
    }
    return { failed: "error", message: `the parser ended: ${complaint.trim().slice(-500)}` };
  }

  #kill(): void {
    this.#isAlive = false;
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It has ended already.
    }
  }
}

async function readTail(stream: ReadableStream<Uint8Array>): Promise<string> {
  let tail = "";
  try {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      tail = (tail + text).slice(-MAX_COMPLAINT);
    }
  } catch {
    // The stream is cut when the process is killed.
  }
  return tail;
}
