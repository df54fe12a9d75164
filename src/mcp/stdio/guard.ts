/** The promise that no child outlives its Computer, however the Computer dies. */
import { Throttle } from "../../async/throttle.ts";
import { type Logger, silentLogger } from "../../log.ts";
import { describeError } from "../../text.ts";

/** The shortest time between two searches for processes that servers have left behind, in milliseconds. */
const SWEEP_INTERVAL_MS = 200;
/** So often a guard that died is replaced at once; then somebody does not want one. */
const MAX_REPLACEMENTS = 10;

/** The environment that marks a child and all that it starts. */
export type TreeEnvironment = Readonly<Record<string, string>>;

/**
 * Some MCP servers do not notice that their stdin has closed. So a small process holds a pipe from this one, knows
 * the process groups of all children, and kills them when the pipe closes: on exit, on a crash, on SIGKILL. On Linux
 * it also finds what has left its group, by its environment. Started with the first child, and again when it dies. On
 * Windows there is no such shell, and children are killed on an orderly stop only.
 */
export class ProcessGuard implements AsyncDisposable {
  readonly #log: Logger;
  /** The beginning of every mark of this guard's. */
  readonly #family = `${TREE_VARIABLE}=${crypto.randomUUID()}.`;
  readonly #sweep = new Throttle(() => this.#sweepNow(), SWEEP_INTERVAL_MS);
  #lastTree = 0;
  #process: Deno.ChildProcess | undefined;
  #input: WritableStreamDefaultWriter<Uint8Array> | undefined;
  #writes: Promise<void> = Promise.resolve();
  #replacements = 0;
  /** The mark of each group, if it has one. */
  readonly #groups = new Map<number, string | undefined>();
  /** Marks of groups that are gone, whose strays have not been looked for. */
  readonly #left = new Set<string>();

  constructor(logger: Logger = silentLogger) {
    this.#log = logger;
  }

  /** The guard's own process, once it is started. */
  get pid(): Promise<number | undefined> {
    return this.#writes.then(() => this.#process?.pid);
  }

  /** What the environment of a new child must hold for the guard to find what leaves its process group. */
  environment(): TreeEnvironment {
    const [name = "", value = ""] = `${this.#family}${++this.#lastTree}.`.split("=");
    return { [name]: value };
  }

  /**
   * Kills the process group of `pid` if this process ends before {@linkcode ProcessGuard.remove} is called.
   *
   * @param tree The part of the child's environment that came from {@linkcode ProcessGuard.environment}.
   */
  add(pid: number, tree: TreeEnvironment = {}): void {
    const value = tree[TREE_VARIABLE];
    this.#groups.set(pid, value === undefined ? undefined : `${TREE_VARIABLE}=${value}`);
    this.#write(`add ${pid}\n`);
  }

  /** Forgets a group whose processes are gone, and kills in the background what has left it. */
  remove(pid: number): void {
    const mark = this.#groups.get(pid);
    if (!this.#groups.delete(pid)) return;
    this.#write(`del ${pid}\n`);
    if (mark === undefined) return;
    this.#left.add(mark);
    this.#sweep.request();
  }

  /** Ends the guard, which kills whatever was not removed, and looks once more for what was left. Idempotent. */
  async close(): Promise<void> {
    this.#sweep.close();
    await this.#writes;
    const process = this.#process;
    if (process === undefined) return;
    this.#process = undefined;
    await this.#input?.close().catch(() => {});
    await process.status;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #sweepNow(): void {
    if (this.#left.size === 0) return;
    this.#write(`sweep ${[...this.#left].join(" ")}\n`);
    this.#left.clear();
  }

  #write(line: string): void {
    if (Deno.build.os === "windows") return;
    this.#writes = this.#writes
      .then(() => this.#open().write(new TextEncoder().encode(line)))
      .catch((error) => {
        this.#log.error("cannot reach the guard of child processes", { error: describeError(error) });
      });
  }

  #open(): WritableStreamDefaultWriter<Uint8Array> {
    if (this.#input !== undefined && this.#process !== undefined) return this.#input;
    const process = new Deno.Command("sh", {
      args: ["-c", GUARD_SCRIPT, "sh", this.#family],
      // Whoever hosts this Computer may mark its own children, and must not find the guard among them.
      clearEnv: true,
      env: { PATH: Deno.env.get("PATH") ?? "" },
      stdin: "piped",
      stdout: "null",
      stderr: "null",
      detached: true,
    }).spawn();
    this.#process = process;
    this.#input = process.stdin.getWriter();
    process.status.then(() => this.#onEnd(process)).catch(() => {});
    // It may be the successor of one that died.
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
        "the guard of child processes died too often; the next MCP server starts another",
      );
    }
    this.#log.warn("the guard of child processes died and is replaced");
    this.#write("");
  }
}

/** The variable by which the processes of one MCP server are told from all others, wherever they go. */
export const TREE_VARIABLE = "A2C_SMCP_TREE";

/**
 * A program for `sh`. Its argument is the beginning of every mark `VARIABLE=VALUE` that it may ever have to look for;
 * its input are lines:
 *
 * - `add PID`, `del PID`: a process group to be killed when the input ends, or no more;
 * - `sweep MARK…`: kills now what carries one of these marks in its environment.
 *
 * In the end it kills whatever carries a mark that begins so. It ignores the signals that end a terminal's foreground
 * group, and is started with a group of its own. A process that is to outlive its MCP server takes the variable out
 * of its environment. Where there is no `/proc`, or no `grep`, a sweep finds nothing.
 */
export const GUARD_SCRIPT = `
trap '' INT TERM HUP
family=$1
groups=

# What is killed may have started something meanwhile.
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
