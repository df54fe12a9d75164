/**
 * The program of a parser process. It passes requests from standard input to a worker that runs the parsers, and ends
 * itself when a request takes too long or too much memory: a parser may never give the control back, and memory of
 * WebAssembly and buffers is counted nowhere but in the process. It has no permission but to read its own code.
 */
import { type ParseFailure, type ParseRequest, readFrames, toJson, writeFrame } from "./frames.ts";
import type { WorkerJob } from "./worker.ts";

/** How often time and memory are compared with their limits, in milliseconds. */
const WATCH_INTERVAL_MS = 50;
/** The exit code after a limit was exceeded. */
const LIMIT_EXIT_CODE = 3;

/** Passes requests on until standard input ends. */
async function run(maxMemoryBytes: number, maxMessageBytes: number): Promise<void> {
  // It has the permissions of this process.
  const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  const output = Deno.stdout.writable.getWriter();
  /** When the request that the worker works on must be answered. */
  let deadlineMs: number | undefined;
  let onAnswer: (() => void) | undefined;

  const end = async (failed: ParseFailure, message: string) => {
    deadlineMs = undefined;
    await writeFrame(output, toJson({ failed, message }));
    Deno.exit(LIMIT_EXIT_CODE);
  };
  worker.onmessage = ({ data }: MessageEvent<Uint8Array>) => {
    deadlineMs = undefined;
    void writeFrame(output, data);
    onAnswer?.();
  };
  worker.onerror = (event) => {
    event.preventDefault();
    void end("error", event.message);
  };
  setInterval(() => {
    if (deadlineMs === undefined) return;
    if (performance.now() > deadlineMs) void end("time", "the time is over");
    else if (Deno.memoryUsage().rss > maxMemoryBytes) void end("memory", "the memory is used up");
  }, WATCH_INTERVAL_MS);

  for await (const { message, bytes } of readFrames(Deno.stdin.readable, maxMessageBytes)) {
    const request = message as ParseRequest;
    const job: WorkerJob = { request, bytes };
    if (request.ask === "close") {
      worker.postMessage(job);
      continue;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    onAnswer = resolve;
    deadlineMs = performance.now() + request.timeMs;
    worker.postMessage(job, [bytes.buffer]);
    await promise;
  }
  Deno.exit();
}

if (import.meta.main) {
  const [maxMemoryBytes = NaN, maxMessageBytes = NaN] = Deno.args.map(Number);
  await run(maxMemoryBytes, maxMessageBytes);
}
