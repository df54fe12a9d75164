/** Starts and controls the process of the Computer of the soak. */
import { fromFileUrl } from "@std/path";
import type { Command, Line, OwnMeasure } from "./commands.ts";
import { type ChildProcess, childrenOf, descriptorsOf, residentMib } from "./proc.ts";
import { RUN_VARIABLE } from "./scenery.ts";

const PROGRAM = fromFileUrl(new URL("./computer.ts", import.meta.url));
/** The time limit of a command. A start or a stop takes a few seconds at most. */
const COMMAND_TIMEOUT_MS = 30_000;

/** A command was not answered within its time limit. */
export class HungCommandError extends Error {
  override readonly name = "HungCommandError";
  readonly code = "HUNG_COMMAND";
}

/** The measurements of the process of the Computer. */
export interface Measure extends OwnMeasure {
  readonly rssMib: number;
  readonly descriptors: ReadonlyMap<string, number>;
  readonly descriptorCount: number;
  readonly zombies: number;
}

/** Callbacks for the log lines and failures of the Computer. */
export interface ComputerListener {
  onLog(line: Extract<Line, { log: string }>): void;
  onFailed(message: string): void;
}

/** Started with {@linkcode ComputerProcess.start}. Exits after its stdin is closed, unless something keeps it alive. */
export class ComputerProcess {
  readonly #process: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  readonly #listener: ComputerListener;
  readonly #reading: Promise<void>;
  #nextId = 0;

  private constructor(process: Deno.ChildProcess, listener: ComputerListener) {
    this.#process = process;
    this.#input = process.stdin.getWriter();
    this.#listener = listener;
    this.#reading = this.#read();
  }

  static start(run: string, listener: ComputerListener): ComputerProcess {
    const process = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--quiet", "--v8-flags=--expose-gc", PROGRAM],
      env: { [RUN_VARIABLE]: run },
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    return new ComputerProcess(process, listener);
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** The running child processes: the MCP servers and their guard. */
  get children(): ChildProcess[] {
    return childrenOf(this.pid);
  }

  /**
   * Sends a command and resolves to its answer.
   *
   * @throws {HungCommandError} after half a minute.
   * @throws {Error} with the message of the Computer.
   */
  async send(command: Command): Promise<unknown> {
    const id = this.#nextId++;
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting.set(id, waiting);
    const timer = setTimeout(() => {
      waiting.reject(new HungCommandError(`Cannot ${command.do}: no answer in ${COMMAND_TIMEOUT_MS} ms`));
    }, COMMAND_TIMEOUT_MS);
    try {
      await this.#input.write(new TextEncoder().encode(`${JSON.stringify({ id, ...command })}\n`));
      return await waiting.promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(id);
    }
  }

  /** Collects garbage, then measures the process from inside and from outside. */
  async measure(): Promise<Measure> {
    const own = await this.send({ do: "measure" }) as OwnMeasure;
    const descriptors = descriptorsOf(this.pid);
    const descriptorCount = descriptors.values().reduce((sum, count) => sum + count, 0);
    return {
      ...own,
      rssMib: await residentMib(this.pid),
      descriptors,
      descriptorCount,
      zombies: this.children.filter(({ isZombie }) => isZombie).length,
    };
  }

  /** Closes stdin. Resolves to the exit code, or to `undefined` if the process does not exit within `ms`. */
  async end(ms: number): Promise<number | undefined> {
    await this.#input.close();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<undefined>((resolve) => timer = setTimeout(() => resolve(undefined), ms));
    const status = await Promise.race([this.#process.status, late]);
    clearTimeout(timer);
    if (status !== undefined) await this.#reading;
    return status?.code;
  }

  kill(): void {
    this.#process.kill("SIGKILL");
  }

  async #read(): Promise<void> {
    let rest = "";
    for await (const chunk of this.#process.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#receive(JSON.parse(line));
    }
    for (const { reject } of this.#waiting.values()) {
      reject(new TypeError("Cannot get an answer: the process ended"));
    }
  }

  #receive(line: Line): void {
    if ("log" in line) return this.#listener.onLog(line);
    if ("failed" in line) return this.#listener.onFailed(line.failed);
    const waiting = this.#waiting.get(line.id);
    if ("answer" in line) waiting?.resolve(line.answer);
    else waiting?.reject(new Error(line.error));
  }
}
