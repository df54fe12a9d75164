/** Finds a program, starts it as the leader of a process group, and signals that group. */
import { isAbsolute, resolve } from "@std/path";

/** The paths of `setsid` on Linux. Other systems have none that keeps the process id. */
const LAUNCHERS: readonly string[] = Deno.build.os === "linux" ? ["/usr/bin/setsid", "/bin/setsid"] : [];

export interface SpawnOptions {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
}

/**
 * Spawns a command with all three pipes, in a new process group.
 *
 * With `detached`, Deno forks, which blocks this process while it copies its page tables: 4 ms for 100 MB of memory, 20 ms
 * for 250 MB, for each server. So if the command surely exists, `setsid` makes itself the leader and then becomes the
 * command, with the same process id. This takes 1 ms, whatever the memory.
 *
 * @throws The errors of {@linkcode Deno.Command.spawn}.
 */
export function spawnGroupLeader(command: string, options: SpawnOptions): Deno.ChildProcess {
  const { args, env, cwd } = options;
  const launcher = isRunnable(command, env["PATH"]) ? LAUNCHERS.find((path) => isRunnable(path)) : undefined;
  return new Deno.Command(launcher ?? command, {
    args: launcher === undefined ? [...args] : ["--", command, ...args],
    env: { ...env },
    clearEnv: true,
    ...(cwd === undefined ? {} : { cwd }),
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
    detached: launcher === undefined,
  }).spawn();
}

/**
 * Returns whether a command is an executable file that we may read and run without a permission prompt. For all other
 * commands, and for paths relative to the working directory, the error of Deno explains best what is wrong.
 */
function isRunnable(command: string, path = ""): boolean {
  const files = command.includes("/") ? [command] : path.split(":").map((folder) => `${folder}/${command}`);
  return LAUNCHERS.length > 0 &&
    files.some((file) => file.startsWith("/") && isGranted(file) && isExecutable(file));
}

function isGranted(path: string): boolean {
  const { permissions } = Deno;
  return permissions.querySync({ name: "read", path }).state === "granted" &&
    permissions.querySync({ name: "run", command: path }).state === "granted";
}

function isExecutable(file: string): boolean {
  try {
    const { isFile, mode } = Deno.statSync(file);
    return isFile && ((mode ?? 0) & 0o111) !== 0;
  } catch {
    return false;
  }
}

/** Signals the process group that `pid` leads; on Windows only the process. Ignores a group that is gone. */
export function killGroup(pid: number, signal: Deno.Signal): void {
  try {
    Deno.kill(Deno.build.os === "windows" ? pid : -pid, signal);
  } catch {
    // No such group, or only zombies, which some systems refuse to signal.
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
