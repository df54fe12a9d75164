/** `computer.ts` as a program, for tests of its command line. */
import { fromFileUrl, join } from "@std/path";
import { settledWithin } from "../../src/async/abortable.ts";

/** How long a Computer may take to do what a test waits for. Only ever reached by a failure. */
const DEADLINE_MS = 60_000;

const DOOR = fromFileUrl(new URL("../../computer.ts", import.meta.url));

/** The words that start `computer.ts` with these arguments. */
export function computerWords(args: readonly string[]): string[] {
  return [Deno.execPath(), "run", "-A", "--no-check", "--quiet", DOOR, ...args];
}

/** A folder for the files of one test, and for the control sockets of its Computers; gone at the end. */
export class Workplace implements Disposable {
  readonly folder: string = Deno.realPathSync(Deno.makeTempDirSync());

  /** What keeps the test's Computers to themselves. */
  get env(): Record<string, string> {
    return { XDG_RUNTIME_DIR: this.folder, XDG_STATE_HOME: this.folder, NO_COLOR: "1" };
  }

  /** Writes a file, JSON unless it is a text, and gives its path. */
  write(name: string, content: unknown): string {
    const path = join(this.folder, name);
    Deno.writeTextFileSync(path, typeof content === "string" ? content : JSON.stringify(content, null, 2));
    return path;
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.folder, { recursive: true });
  }

  /** Runs one command to its end. */
  async run(
    args: readonly string[],
    { input, cwd }: { readonly input?: string; readonly cwd?: string } = {},
  ): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
    const process = this.start(args, input === undefined ? "null" : "piped", cwd);
    if (input !== undefined) {
      const writer = process.stdin.getWriter();
      await writer.write(new TextEncoder().encode(input));
      await writer.close();
    }
    const { code, stdout, stderr } = await process.output();
    return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
  }

  /** Starts a Computer that stays until it is told to end. */
  async serve(args: readonly string[]): Promise<RunningComputer> {
    const process = this.start(args, "null");
    const running = new RunningComputer(process);
    await running.said("joined office");
    return running;
  }

  start(args: readonly string[], stdin: "null" | "piped", cwd?: string): Deno.ChildProcess {
    const [command = "", ...rest] = computerWords(args);
    const options = { args: rest, env: this.env, stdout: "piped", stderr: "piped" } as const;
    return new Deno.Command(command, { ...options, stdin, ...(cwd === undefined ? {} : { cwd }) }).spawn();
  }
}

/** A Computer that runs. */
export class RunningComputer implements AsyncDisposable {
  readonly process: Deno.ChildProcess;
  #text = "";
  #more = Promise.withResolvers<void>();
  readonly #reading: Promise<unknown>;

  constructor(process: Deno.ChildProcess) {
    this.process = process;
    this.#reading = Promise.all([this.#read(process.stdout), this.#read(process.stderr)]);
  }

  /** Resolves once it has written this, on either stream; fails when it ends before, or takes far too long. */
  async said(text: string): Promise<void> {
    const isSaid = await settledWithin(this.#until(text), DEADLINE_MS);
    if (isSaid !== true) throw new TypeError(`Nobody said "${text}", but:\n${this.#text}`);
  }

  async #until(text: string): Promise<boolean> {
    const ended = this.#reading.then(() => true);
    while (!this.#text.includes(text)) {
      const isOver = await Promise.race([this.#more.promise.then(() => false), ended]);
      if (isOver) return this.#text.includes(text);
    }
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.process.kill("SIGTERM");
    } catch {
      // It has ended already.
    }
    await this.process.status;
    await this.#reading;
  }

  async #read(stream: ReadableStream<Uint8Array>): Promise<void> {
    for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
      this.#text += chunk;
      const more = this.#more;
      this.#more = Promise.withResolvers();
      more.resolve();
    }
  }
}
