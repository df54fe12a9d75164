/** A program that is in a package of its own: started as a child with this terminal, or asked for completions. */
import type { Command } from "commander";
import { importWords } from "../own_imports.ts";
import { failureText, printError, toFailure } from "./outcome.ts";
import { InterruptedError, listenForInterrupt } from "./program.ts";
import { suggestedLines } from "./shell_completion.ts";

/** How often to check that the launcher still runs, in milliseconds. */
const LAUNCHER_CHECK_MS = 500;
/** Stands before the id of the process that started a program. */
const LAUNCHER = "--launcher";
/** In the place of that id: print what may stand in the place of the last word, and do not run. */
const SUGGEST = "suggest";

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
    words = wordsOf(find(), `${Deno.pid}`, args);
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

/** What another program suggests, as {@linkcode suggestedLines}; nothing where it is not installed. */
export async function suggestedByOther(find: () => string, words: readonly string[]): Promise<string> {
  let args: string[];
  try {
    args = wordsOf(find(), SUGGEST, words);
  } catch {
    return "";
  }
  const { stdout } = await new Deno.Command(Deno.execPath(), { args, stderr: "inherit" }).output();
  return new TextDecoder().decode(stdout).trimEnd();
}

function wordsOf(program: string, launcher: string, args: readonly string[] = []): string[] {
  return ["run", "-A", "--quiet", ...importWords(), program, LAUNCHER, launcher, ...args];
}

/**
 * Runs a program that {@linkcode runOtherProgram} may have started, with what it is then called: `a2c-smcp NAME`.
 */
export async function runLaunched(
  args: readonly string[],
  { name, create, run }: {
    readonly name: string;
    readonly create: () => Command;
    readonly run: (args: readonly string[], commandLine?: string) => Promise<number>;
  },
): Promise<number> {
  const [first, launcher, ...rest] = args;
  if (first !== LAUNCHER) return await run(args);
  if (launcher === SUGGEST) {
    console.log(await suggestedLines(create(), rest));
    return 0;
  }
  endWithLauncher(Number(launcher));
  return await run(rest, `a2c-smcp ${name}`);
}
