/** Ensures that no child process outlives its Computer, even if the Computer is killed. */
import { settledWithin } from "../../async/abortable.ts";
import { Throttle } from "../../async/throttle.ts";
import { type Logger, silentLogger } from "../../log.ts";
import { describeError } from "../../text/text.ts";
import { Jobs } from "./jobs.ts";

/** The shortest time between two searches for processes that left their group, in milliseconds. */
const SWEEP_INTERVAL_MS = 200;
/** How often a guard that was killed is replaced at once. */
const MAX_REPLACEMENTS = 10;
/** How long the first MCP server waits for the guard of Windows, in milliseconds: a Deno that starts. */
const MAX_START_MS = 30_000;

const isWindows = Deno.build.os === "windows";
/** The words for Deno that start the guard of Windows. */
const JOB_GUARD = [
  ...["run", "--quiet", "--no-prompt", "--no-config", "--no-lock", "--allow-ffi"],
  import.meta.resolve("./jobs.ts"),
];

/** Whether this process can end its children by itself. The permission is not requested. */
function mayHoldJobs(): boolean {
  return isWindows && Deno.permissions.querySync({ name: "ffi" }).state === "granted";
}

/** The environment variable that marks a child and its descendants. */
export type TreeEnvironment = Readonly<Record<string, string>>;

/**
 * Some MCP servers do not notice that their stdin has closed. So a small process, the guard, holds a pipe from this
 * process, knows the process groups of all children, and kills them when the pipe closes: on exit, on a crash, on SIGKILL.
 * On Linux it also finds processes that left their group, by their environment. It starts with the first child, and again
 * if it is killed. On Windows each child is in a job, which this process holds if it may (`--allow-ffi`), and otherwise a
 * guard, whose end then ends the children too.
 */
export class ProcessGuard {
  readonly #log: Logger;
  /** The common prefix of all marks of this guard. */
  readonly #family = `${crypto.randomUUID()}.`;
  readonly #sweep = new Throttle(() => this.#sweepNow(), SWEEP_INTERVAL_MS);
  #lastTree = 0;
  #process: Deno.ChildProcess | undefined;
  #input: WritableStreamDefaultWriter<Uint8Array> | undefined;
  #writes: Promise<void> = Promise.resolve();
  /** Settles when the guard of Windows has started. */
  #started: Promise<unknown> = Promise.resolve();
  #replacements = 0;
  #jobs: Jobs | undefined;
  /** The process groups, and their marks if any. */
  readonly #groups = new Map<number, string | undefined>();
  /** Marks of ended groups, whose remaining processes have not been searched yet. */
  readonly #left = new Set<string>();

  constructor(logger: Logger = silentLogger) {
    this.#log = logger;
  }

  get pid(): Promise<number | undefined> {
    return this.#writes.then(() => this.#process?.pid);
  }

  /** Creates the mark of a new child, which its environment must contain. */
  environment(): TreeEnvironment {
    return { [TREE_VARIABLE]: `${this.#family}${++this.#lastTree}.` };
  }

  /** Resolves when nothing that is added from now on outlives this process, on Windows too. Never rejects. */
  async ready(): Promise<void> {
    if (!isWindows || mayHoldJobs()) return;
    this.#write("");
    await this.#writes;
    await settledWithin(this.#started, MAX_START_MS);
  }

  /**
   * Kills the process group of `pid` if this process ends before {@linkcode ProcessGuard.remove} is called.
   *
   * @param tree The mark from {@linkcode ProcessGuard.environment}.
   */
  add(pid: number, tree: TreeEnvironment = {}): void {
    const value = tree[TREE_VARIABLE];
    this.#groups.set(pid, value === undefined ? undefined : `${TREE_VARIABLE}=${value}`);
    if (mayHoldJobs()) this.#jobs ??= new Jobs();
    if (this.#jobs !== undefined) this.#jobs.add(pid);
    else this.#write(`add ${pid}\n`);
  }

  /** Removes a group that has ended, and kills in the background the processes that left it. */
  remove(pid: number): void {
    const mark = this.#groups.get(pid);
    if (!this.#groups.delete(pid)) return;
    if (this.#jobs !== undefined) return this.#jobs.remove(pid);
    this.#write(`del ${pid}\n`);
    if (mark === undefined || isWindows) return;
    this.#left.add(mark);
    this.#sweep.request();
  }

  /** Ends the guard, which kills all groups that were not removed and all marked processes. Idempotent. */
  async close(): Promise<void> {
    this.#sweep.close();
    this.#jobs?.[Symbol.dispose]();
    this.#jobs = undefined;
    await this.#writes;
    const process = this.#process;
    if (process === undefined) return;
    this.#process = undefined;
    await this.#input?.close().catch(() => {});
    await process.status;
  }

  #sweepNow(): void {
    if (this.#left.size === 0) return;
    this.#write(`sweep ${[...this.#left].join(" ")}\n`);
    this.#left.clear();
  }

  #write(line: string): void {
    this.#writes = this.#writes
      .then(() => this.#open().write(new TextEncoder().encode(line)))
      .catch((error) => {
        this.#log.error("failed to write to the guard of child processes", { error: describeError(error) });
      });
  }

  #open(): WritableStreamDefaultWriter<Uint8Array> {
    if (this.#input !== undefined && this.#process !== undefined) return this.#input;
    const pipes = { stdin: "piped", stdout: "piped", stderr: "null", detached: true } as const;
    const process = isWindows
      ? new Deno.Command(Deno.execPath(), { args: JOB_GUARD, ...pipes }).spawn()
      : new Deno.Command("sh", {
        args: ["-c", GUARD_SCRIPT, "sh", `${TREE_VARIABLE}=${this.#family}`],
        // A host program that has a guard too may mark this process, and must not kill this guard.
        clearEnv: true,
        env: { PATH: Deno.env.get("PATH") ?? "" },
        ...pipes,
      }).spawn();
    this.#process = process;
    this.#input = process.stdin.getWriter();
    this.#started = process.stdout.getReader().read();
    process.status.then(() => this.#onEnd(process)).catch(() => {});
    // It may replace a guard that was killed.
    const groups = [...this.#groups.keys()].map((pid) => `add ${pid}\n`);
    this.#input.write(new TextEncoder().encode(groups.join(""))).catch(() => {});
    return this.#input;
  }

  #onEnd(process: Deno.ChildProcess): void {
    if (this.#process !== process) return;
    this.#process = undefined;
    this.#input?.abort().catch(() => {});
    if (++this.#replacements > MAX_REPLACEMENTS) {
      return this.#log.error(
        "the guard of child processes exited too often: the next MCP server starts another one",
      );
    }
    this.#log.warn("the guard of child processes exited: starting another one");
    this.#write("");
  }
}

/** The variable that marks the processes of one MCP server. */
export const TREE_VARIABLE = "A2C_SMCP_TREE";

/**
 * A program for `sh`. Its argument is the common prefix of all marks, `VARIABLE=PREFIX`. Its input are lines:
 *
 * - `add PID`, `del PID`: adds or removes a process group that is killed when the input ends;
 * - `sweep MARK…`: kills at once all processes with one of these marks in their environment.
 *
 * At the end it kills all processes with a mark of this prefix. It ignores the signals that end the foreground group of a
 * terminal, and is started in its own group. A process that should outlive its MCP server must remove the variable from its
 * environment. Without `/proc` or `grep`, a sweep finds nothing.
 */
export const GUARD_SCRIPT = `
trap '' INT TERM HUP
family=$1
groups=

# Repeats, since a process may have started another one before it was killed.
sweep() {
  for round in 1 2 3; do
    found=
    for file in $(grep -lsF "$@" /proc/[0-9]*/environ); do
      pid=\${file#/proc/}
      kill -s KILL "\${pid%/environ}" 2>/dev/null && found=1
    done
    [ -n "$found" ] || return 0
  done
}

while read -r verb words; do
  case $verb in
    add) groups="$groups $words" ;;
    del)
      rest=
      for group in $groups; do [ "$group" = "$words" ] || rest="$rest $group"; done
      groups=$rest
      ;;
    sweep)
      set --
      for mark in $words; do set -- "$@" -e "$mark"; done
      sweep "$@"
      ;;
  esac
done
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
sweep -e "$family"
exit 0`;
