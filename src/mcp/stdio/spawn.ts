/** Finds a program, starts it as the leader of a process group, and signals that group. */
import { onAbort } from "../../async/abortable.ts";
import { isAbsolute, resolve } from "@std/path";
import { describeError } from "../../text/text.ts";
import { batchLine, type CommandLine, PROGRAM_ENDINGS, shellLine } from "./windows_command.ts";
import type { ChildPipes, ChildStreams } from "./windows_pipes.ts";

const isWindows = Deno.build.os === "windows";

export interface SpawnOptions {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
  /** The pipes of the child; those of Deno by default. */
  readonly pipes?: ChildPipes | undefined;
}

export type GroupLeader = ChildStreams & Pick<Deno.ChildProcess, "pid" | "status">;

/**
 * Spawns a command with all three pipes, in a new process group. On Windows it shares the console of this process, if there
 * is one: without any, each batch file would open a window.
 *
 * @throws The errors of {@linkcode Deno.Command.spawn}, and `TypeError` for an argument that a batch file cannot get.
 */
export function spawnGroupLeader(command: string, { args, env, cwd, pipes }: SpawnOptions): GroupLeader {
  const line = isWindows ? windowsLine(command, { args, env, cwd }) : { program: command, args, env };
  // Private member: a file descriptor in place of the word, as `node:child_process` in Deno gives it to the same function.
  const [stdin, stdout, stderr] = (pipes?.ends ?? []) as readonly unknown[] as readonly "piped"[];
  const child = new Deno.Command(line.program, {
    args: [...line.args],
    env: { ...env, ...line.env },
    clearEnv: true,
    ...(cwd === undefined ? {} : { cwd }),
    stdin: stdin ?? "piped",
    stdout: stdout ?? "piped",
    stderr: stderr ?? "piped",
    detached: !isWindows,
    windowsRawArguments: "isRaw" in line && line.isRaw,
  }).spawn();
  if (pipes === undefined) return child;
  pipes.keep();
  return {
    pid: child.pid,
    status: child.status,
    stdin: pipes.stdin,
    stdout: pipes.stdout,
    stderr: pipes.stderr,
  };
}

/** A command that is not found, or that this process may not look for, is left to the system. */
function windowsLine(command: string, { args, env, cwd }: SpawnOptions): CommandLine {
  const { PATH = "", PATHEXT } = env;
  const places = { path: PATH, cwd: cwd ?? ".", extensions: PATHEXT };
  const { found = command } = findProgram(command, places);
  if (/\.(?:bat|cmd)$/i.test(found)) return batchLine(found, args, windowsShell());
  return { program: found, args, isRaw: false, env: {} };
}

function windowsShell(): string {
  return Deno.env.get("COMSPEC") ?? "cmd.exe";
}

/** Explains why a command did not start, with a cure for the most common mistakes. */
export function spawnFailure(command: string, cause: unknown): string {
  if (!(cause instanceof Deno.errors.NotFound) || /\bcwd\b/.test(cause.message)) return describeError(cause);
  if (/\s/.test(command.trim())) {
    return 'no such program; put its arguments into "args"';
  }
  return /[\\/]/.test(command) ? "no such file" : "no such command on the PATH";
}

/** Returns whether the configuration is the cause: no such command or directory, no permission, an invalid argument. */
export function isConfigurationError(error: unknown): boolean {
  const { NotFound, PermissionDenied, NotCapable, NotADirectory } = Deno.errors;
  return [NotFound, PermissionDenied, NotCapable, NotADirectory, TypeError].some((kind) =>
    error instanceof kind
  );
}

/** Signals the process group that `pid` leads; on Windows only the process. Ignores a group that is gone. */
export function killGroup(pid: number, signal: Deno.Signal): void {
  try {
    Deno.kill(isWindows ? pid : -pid, signal);
  } catch {
    // No such group, or only zombies, which some systems refuse to signal.
  }
}

/** Runs a shell line in a separate process group, so that an abort ends all processes of the line. */
export async function runShell(line: string, signal: AbortSignal): Promise<Deno.CommandOutput> {
  signal.throwIfAborted();
  const { program, args, env }: Omit<CommandLine, "isRaw"> = isWindows
    ? shellLine(line, windowsShell())
    : { program: "sh", args: ["-c", line], env: {} };
  const process = new Deno.Command(program, {
    args: [...args],
    env,
    stdin: "null",
    stdout: "piped",
    stderr: "null",
    detached: !isWindows,
    windowsRawArguments: isWindows,
  }).spawn();
  using _ = onAbort(signal, () => killGroup(process.pid, "SIGKILL"));
  const output = await process.output();
  signal.throwIfAborted();
  return output;
}

export interface ProgramPlaces {
  readonly path: string;
  /** The base of a relative command. */
  readonly cwd: string;
  /** The value of `PATHEXT`, on Windows. */
  readonly extensions?: string | undefined;
}

/**
 * Returns whether a command exists: as a path, or as a name in a directory of the `PATH`; `undefined` without the
 * permission to look.
 */
export function hasProgram(command: string, places: ProgramPlaces): boolean | undefined {
  const { found, isSure } = findProgram(command, places);
  return found !== undefined || (isSure ? false : undefined);
}

/** The file of a command, if there is one; `isSure` is false without the permission to look everywhere. */
export function findProgram(
  command: string,
  { path, cwd, extensions = PROGRAM_ENDINGS }: ProgramPlaces,
): { readonly found?: string; readonly isSure: boolean } {
  const isPath = /[\\/]/.test(command) || isAbsolute(command);
  const folders = isPath ? [cwd] : path.split(isWindows ? ";" : ":").filter((folder) => folder !== "");
  const endings = isWindows ? endingsOf(command, extensions) : [""];
  let isSure = true;
  for (const folder of folders) {
    for (const ending of endings) {
      const file = resolve(cwd, folder, command + ending);
      const isFound = isProgram(file);
      if (isFound === true) return { found: file, isSure: true };
      isSure &&= isFound !== undefined;
    }
  }
  return { isSure };
}

/** What may follow a command on Windows: nothing where it has an ending, since `npx` without one is a script for `sh`. */
function endingsOf(command: string, extensions: string): string[] {
  const known = PROGRAM_ENDINGS.toLowerCase().split(";");
  const endings = extensions.toLowerCase().split(";").filter((ending) => known.includes(ending));
  return endings.some((ending) => command.toLowerCase().endsWith(ending)) ? ["", ...endings] : endings;
}

function isProgram(file: string): boolean | undefined {
  try {
    const { isFile, mode } = Deno.statSync(file);
    return isFile && (isWindows || ((mode ?? 0) & 0o111) !== 0);
  } catch (error) {
    return error instanceof Deno.errors.NotCapable ? undefined : false;
  }
}
