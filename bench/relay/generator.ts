/** Starts and controls a load generator. */
import type { LoadCommand, LoadOutcome } from "./load.ts";
import { cpuSecondsOf } from "./processes.ts";

/** The process of a load generator. */
export class Generator implements AsyncDisposable {
  readonly #process: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #lines: AsyncIterator<string>;

  constructor() {
    this.#process = new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "--no-check", "-A", new URL("load.ts", import.meta.url).pathname],
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    this.#input = this.#process.stdin.getWriter();
    this.#lines = linesOf(this.#process.stdout);
  }

  /** Runs a command after the earlier ones. Rejects if the generator fails. */
  async run(command: LoadCommand): Promise<LoadOutcome> {
    await this.#input.write(new TextEncoder().encode(`${JSON.stringify(command)}\n`));
    const { value } = await this.#lines.next();
    if (value === undefined) throw new TypeError("Cannot make load: the generator has ended");
    const outcome: LoadOutcome = JSON.parse(value);
    if (outcome.error !== undefined) throw new TypeError(outcome.error);
    return outcome;
  }

  /** The processor time that it has used so far, in seconds. */
  cpuSeconds(): Promise<number> {
    return cpuSecondsOf(this.#process.pid);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#input.close();
    await this.#process.status;
    await this.#lines.return?.();
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
    const whole = (rest + chunk).split("\n");
    rest = whole.pop() ?? "";
    yield* whole;
  }
}
