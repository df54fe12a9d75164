/** The promise that no child outlives its Computer, however the Computer dies. */
import { type Logger, silentLogger } from "../log.ts";
import { describeError } from "../protocol/errors.ts";

/**
 * Reads `add PID` and `del PID` lines; when its input ends, kills the process groups that are left. It ignores the
 * signals that end a terminal's foreground group, and has a group of its own.
 */
const GUARD_SCRIPT = `
trap '' INT TERM HUP
groups=
while read -r verb pid; do
  case $verb in
    add) groups="$groups $pid" ;;
    del) rest=; for g in $groups; do [ "$g" = "$pid" ] || rest="$rest $g"; done; groups=$rest ;;
  esac
done
for g in $groups; do kill -s KILL -- "-$g" 2>/dev/null; done
exit 0`;

/**
 * Some MCP servers do not notice that their stdin has closed. So a small process holds a pipe from this one, knows
 * the process groups of all children, and kills them when the pipe closes: on exit, on a crash, on SIGKILL. Started
 * with the first child. On Windows there is no such shell, and children are killed on an orderly stop only.
 */
export class ProcessGuard implements AsyncDisposable {
  readonly #log: Logger;
  #process: Deno.ChildProcess | undefined;
  #input: WritableStreamDefaultWriter<Uint8Array> | undefined;
  #writes: Promise<void> = Promise.resolve();
  readonly #groups = new Set<number>();

  constructor(logger: Logger = silentLogger) {
    this.#log = logger;
  }

  /** Kills the process group of `pid` if this process ends before {@linkcode ProcessGuard.remove} is called. */
  add(pid: number): void {
    this.#groups.add(pid);
    this.#write(`add ${pid}\n`);
  }

  /** Forgets a group whose processes are gone. */
  remove(pid: number): void {
    if (this.#groups.delete(pid)) this.#write(`del ${pid}\n`);
  }

  /** Ends the guard, which kills whatever was not removed. Idempotent. */
  async close(): Promise<void> {
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

  #write(line: string): void {
    if (Deno.build.os === "windows") return;
    this.#writes = this.#writes
      .then(() => this.#open().write(new TextEncoder().encode(line)))
      .catch((error) => {
        this.#log.error("the guard of child processes is gone", { error: describeError(error) });
      });
  }

  #open(): WritableStreamDefaultWriter<Uint8Array> {
    if (this.#input !== undefined && this.#process !== undefined) return this.#input;
    this.#process = new Deno.Command("sh", {
      args: ["-c", GUARD_SCRIPT],
      stdin: "piped",
      stdout: "null",
      stderr: "null",
      detached: true,
    }).spawn();
    this.#input = this.#process.stdin.getWriter();
    return this.#input;
  }
}
