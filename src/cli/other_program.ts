/** How another process starts a program: one of these sources, or one in a package of its own, with this terminal. */
import { fromFileUrl, isAbsolute, join } from "@std/path";
import { importWords } from "../own_imports.ts";
import { failureText, printError, toFailure, UsageError } from "./outcome.ts";
import { InterruptedError, listenForInterrupt, type ProgramName } from "./program.ts";

/** How often to check that the launcher still runs, in milliseconds. */
const LAUNCHER_CHECK_MS = 500;
/** Stands before the id of the process that started a program. */
const LAUNCHER = "--launcher";

/** The words that start a program of these sources from any folder and environment, as this process was started. */
export function programCommand(
  name: ProgramName,
): { readonly command: string; readonly args: readonly string[] } {
  const { href, protocol, pathname } = new URL(Deno.mainModule);
  const program = protocol === "file:" ? fromFileUrl(href) : href;
  const word = pathname.endsWith(`/${name}.ts`) ? [] : [name];
  return { command: lastingDenoPath(), args: ["run", "-A", "--quiet", ...importWords(), program, ...word] };
}

/** What starts programs from a cache of its own, and how a path leads through that. */
const CACHING_LAUNCHERS = [
  ["npx", /\/_npx\//],
  ["pnpm dlx", /\/pnpm(?:-cache)?\/dlx[^/]*\//],
  ["bunx", /\/\.?bunx-[^/]*\//],
] as const;

/**
 * Refuses to write down how this program is started when it is in a cache, which is cleared at times.
 *
 * @param what what is not done then, such as `install the service`
 * @throws {UsageError} the program is in such a cache.
 */
export function refuseCachedProgram(what: string): void {
  const [launcher] = CACHING_LAUNCHERS.find(([, path]) => path.test(Deno.mainModule)) ?? [];
  if (launcher === undefined) return;
  throw new UsageError(
    `Cannot ${what} from the cache of ${launcher}, which is cleared at times: run "npm install --global a2c-smcp" first, ` +
      `and "a2c-smcp" in place of "${launcher} a2c-smcp"`,
  );
}

/** This Deno as the PATH has it: the path of the file itself may have the number of a version in it. */
function lastingDenoPath(): string {
  const own = Deno.execPath();
  const isWindows = Deno.build.os === "windows";
  const folders = (Deno.env.get("PATH") ?? "").split(isWindows ? ";" : ":").filter((folder) => folder !== "");
  return folders.map((folder) => join(folder, isWindows ? "deno.exe" : "deno"))
    .find((path) => isAbsolute(path) && isSameFile(path, own)) ?? own;
}

function isSameFile(path: string, other: string): boolean {
  try {
    return Deno.realPathSync(path) === Deno.realPathSync(other);
  } catch {
    return false;
  }
}

/** Ends this process as SIGTERM does when its launcher was killed, which cannot pass that signal on. */
export function endWithLauncher(launcher: number): void {
  if (!(launcher > 0) || Deno.build.os === "windows") return;
  const timer = setInterval(() => {
    if (Deno.ppid === launcher) return;
    clearInterval(timer);
    Deno.kill(Deno.pid, "SIGTERM");
  }, LAUNCHER_CHECK_MS);
}

/** Runs a program with these words on this terminal, and returns its exit code. It gets the signals of this process. */
export async function runOtherProgram(find: () => string, args: readonly string[]): Promise<number> {
  using interruption = listenForInterrupt();
  let words: string[];
  try {
    words = ["run", "-A", "--quiet", ...importWords(), find(), LAUNCHER, `${Deno.pid}`, ...args];
  } catch (error) {
    const failure = toFailure(error);
    printError(failureText(failure));
    return failure.exitCode;
  }
  const child = new Deno.Command(Deno.execPath(), { args: words }).spawn();
  const { signal } = interruption;
  signal.addEventListener("abort", () => {
    if (signal.reason instanceof InterruptedError) child.kill(signal.reason.signal);
  });
  return (await child.status).code;
}

/**
 * Runs a program that {@linkcode runOtherProgram} may have started, with what it is then called: `a2c-smcp NAME`.
 */
export async function runLaunched(
  args: readonly string[],
  { name, run }: {
    readonly name: string;
    readonly run: (args: readonly string[], commandLine?: string) => Promise<number>;
  },
): Promise<number> {
  const [first, launcher, ...rest] = args;
  if (first !== LAUNCHER) return await run(args);
  endWithLauncher(Number(launcher));
  return await run(rest, `a2c-smcp ${name}`);
}
