/** Finds a program, starts it as the leader of a process group, and signals that group. */
import { isAbsolute, resolve } from "@std/path";
import { describeError } from "../../text/text.ts";

export interface SpawnOptions {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
}

/**
 * Spawns a command with all three pipes, in a new process group.
 *
 * @throws The errors of {@linkcode Deno.Command.spawn}.
 */
export function spawnGroupLeader(command: string, { args, env, cwd }: SpawnOptions): Deno.ChildProcess {
  return new Deno.Command(command, {
    args: [...args],
    env: { ...env },
    clearEnv: true,
    ...(cwd === undefined ? {} : { cwd }),
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
    detached: true,
  }).spawn();
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
    Deno.kill(Deno.build.os === "windows" ? pid : -pid, signal);
  } catch {
    // No such group, or only zombies, which some systems refuse to signal.
  }
}

/** Runs a shell line in a separate process group, so that an abort ends all processes of the line. */
export async function runShell(line: string, signal: AbortSignal): Promise<Deno.CommandOutput> {
  signal.throwIfAborted();
  const [shell, flag] = Deno.build.os === "windows" ? ["cmd", "/c"] as const : ["sh", "-c"] as const;
  const process = new Deno.Command(shell, {
    args: [flag, line],
    stdin: "null",
    stdout: "piped",
    stderr: "null",
    detached: true,
  }).spawn();
  const onAbort = () => killGroup(process.pid, "SIGKILL");
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    const output = await process.output();
    signal.throwIfAborted();
    return output;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
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
export function hasProgram(
  command: string,
  { path, cwd, extensions = "" }: ProgramPlaces,
): boolean | undefined {
  const isPath = /[\\/]/.test(command) || isAbsolute(command);
  const folders = isPath ? [cwd] : path.split(delimiterOf()).filter((folder) => folder !== "");
  const endings = Deno.build.os === "windows" ? ["", ...extensions.split(";")] : [""];
  let isSure = true;
  for (const folder of folders) {
    for (const ending of endings) {
      const found = isProgram(resolve(cwd, folder, command + ending));
      if (found === true) return true;
      isSure &&= found !== undefined;
    }
  }
  return isSure ? false : undefined;
}

function delimiterOf(): string {
  return Deno.build.os === "windows" ? ";" : ":";
}

function isProgram(file: string): boolean | undefined {
  try {
    const { isFile, mode } = Deno.statSync(file);
    return isFile && (Deno.build.os === "windows" || ((mode ?? 0) & 0o111) !== 0);
  } catch (error) {
    return error instanceof Deno.errors.NotCapable ? undefined : false;
  }
}
