/** The Servers to compare: how each one is started, or why it is left out. */
import { readPort } from "../fixtures/read_port.ts";
import { OURS } from "./options.ts";
import { cpuSecondsOf, residentBytesOf } from "./processes.ts";

const folder = new URL("./", import.meta.url);
const root = new URL("../../", import.meta.url);
/** The output folder of cargo, which git ignores; cargo's own setting can name one that several checkouts share. */
const rustTarget = Deno.env.get("CARGO_TARGET_DIR") ?? new URL(".bench-rust", root).pathname;
const python = new URL(`.venv-interop/bin/python`, root);

/**
 * The message limit of all Servers. Ours also refuses what more bytes than that would wait for a receiver, and the answers of
 * 256 large calls in flight do.
 */
const MAX_PAYLOAD_BYTES = 256 * 1024 * 1024;
/** How long a Server may take to exit after SIGTERM, in milliseconds. */
const CLOSE_MS = 5_000;
/** How long a Server may take to report the size of its heap, in milliseconds. */
const HEAP_MS = 30_000;
/** The line that `memory.ts` writes. */
const HEAP_LINE = /^bench heap bytes (\d+)$/m;

/** A program to run. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** One of the Servers. */
export interface Contender {
  /** The name for `--only`. */
  readonly name: string;
  /** The name in tables and charts. */
  readonly title: string;
  /** The protocol version that it requires. */
  readonly version: string;
  /** Whether it can report its heap, because it runs in Deno. */
  readonly hasHeap: boolean;
  /** The most idle connections that it gets, if connecting more of them takes minutes. */
  readonly maxConnections?: number;
  /** The program to run, or the reason why there is none. A build may take minutes. */
  prepare(): Promise<Program | { readonly missing: string }>;
}

/** A module that runs in Deno and can report its heap. */
export function denoProgram(module: URL, args: readonly string[] = []): Program {
  const flags = ["--quiet", "--no-check", "-A", "--v8-flags=--expose-gc"];
  const preload = `--preload=${new URL("memory.ts", folder).pathname}`;
  return { command: Deno.execPath(), args: ["run", ...flags, preload, module.pathname, ...args] };
}

/** Our Server with these options and all of its checks. */
export function ourProgram(options: readonly string[] = []): Program {
  const fixed = ["--port", "0", "--log-level", "error", "--max-payload", `${MAX_PAYLOAD_BYTES}`];
  return denoProgram(new URL("server.ts", root), [...fixed, ...options]);
}

/** The text of `server.ts --help`, which shows whether an option exists. */
export async function helpOfOurServer(): Promise<string> {
  const { stdout } = await run({ command: Deno.execPath(), args: ["run", "-A", "server.ts", "--help"] });
  return stdout;
}

/** All contenders; the first is the one with which the others are compared. */
export function listContenders(): Contender[] {
  return [
    {
      name: "bare",
      title: "bare forwarder",
      version: "0.2.0",
      hasHeap: true,
      prepare: () => Promise.resolve(denoProgram(new URL("bare_forwarder.ts", folder))),
    },
    {
      name: OURS,
      title: "our Server",
      version: "0.2.0",
      hasHeap: true,
      prepare: () => Promise.resolve(ourProgram()),
    },
    {
      name: "python",
      maxConnections: 2_000,
      title: "official, Python",
      version: "0.2.0",
      hasHeap: false,
      prepare: preparePython,
    },
    { name: "rust", title: "official, Rust", version: "0.4.0", hasHeap: false, prepare: prepareRust },
  ];
}

async function preparePython(): Promise<Program | { missing: string }> {
  const { stdout, stderr, code } = await run({ command: "sh", args: ["tests/interop/install.sh"] });
  if (code !== 0 || await Deno.lstat(python).catch(() => undefined) === undefined) {
    return { missing: stdout.trim() || `tests/interop/install.sh failed: ${lastLinesOf(stderr)}` };
  }
  const env = { A2C_SMCP_LOG_SILENT: "1" };
  return { command: python.pathname, args: [new URL("python_server.py", folder).pathname], env };
}

async function prepareRust(): Promise<Program | { missing: string }> {
  const manifest = new URL("rust/Cargo.toml", folder).pathname;
  const args = ["build", "--release", "--locked", "--manifest-path", manifest];
  const target = ["--target-dir", rustTarget];
  try {
    const { code, stderr } = await run({ command: "cargo", args: [...args, ...target] });
    if (code !== 0) {
      return { missing: `cargo build failed: ${lastLinesOf(stderr)}` };
    }
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { missing: "no cargo on PATH" };
    throw error;
  }
  return { command: `${rustTarget}/release/rust-server`, args: [] };
}

function lastLinesOf(text: string): string {
  return text.trim().split("\n").slice(-3).join(" ");
}

async function run({ command, args }: Program): Promise<{ code: number; stdout: string; stderr: string }> {
  const { code, stdout, stderr } = await new Deno.Command(command, { args: [...args], cwd: root }).output();
  return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
}

/** A process of one of the Servers. */
export class RunningServer implements AsyncDisposable {
  readonly port: number;
  readonly #process: Deno.ChildProcess;
  #stderr = "";
  #onStderr: () => void = () => {};

  private constructor(process: Deno.ChildProcess, port: number) {
    this.#process = process;
    this.port = port;
  }

  /** Starts a Server and waits until it listens. */
  static async start({ command, args, env = {} }: Program): Promise<RunningServer> {
    const process = new Deno.Command(command, {
      args: [...args],
      cwd: root,
      env,
      stdout: "piped",
      stderr: "piped",
    })
      .spawn();
    const errors: string[] = [];
    const stderr = process.stderr.pipeThrough(new TextDecoderStream());
    const port = await readPort(process.stdout).catch(async (cause) => {
      for await (const text of stderr) errors.push(text);
      throw new TypeError(`Cannot start ${command}: ${errors.join("").trim()}`, { cause });
    });
    const server = new RunningServer(process, port);
    server.#watch(stderr).catch((error) => console.error(error));
    return server;
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** The processor time that it has used so far, in seconds. */
  cpuSeconds(): Promise<number> {
    return cpuSecondsOf(this.pid);
  }

  /** The resident memory, in bytes. */
  residentBytes(): Promise<number> {
    return residentBytesOf(this.pid);
  }

  /** Collects all garbage, and resolves to the size of the JavaScript heap in bytes. */
  async heapBytes(): Promise<number> {
    this.#stderr = "";
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    this.#onStderr = () => {
      const found = HEAP_LINE.exec(this.#stderr)?.[1];
      if (found !== undefined) resolve(Number(found));
    };
    const late = () => reject(new TypeError("Cannot read the heap of a Server: no answer"));
    const timer = setTimeout(late, HEAP_MS);
    this.#process.kill("SIGUSR2");
    return await promise.finally(() => clearTimeout(timer));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill("SIGTERM");
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), CLOSE_MS);
    await this.#process.stdout.cancel();
    await this.#process.status;
    clearTimeout(timer);
  }

  async #watch(stderr: ReadableStream<string>): Promise<void> {
    for await (const text of stderr) {
      // Only the size of the heap is of interest here.
      this.#stderr = (this.#stderr + text).slice(-4096);
      this.#onStderr();
    }
  }
}
