/** A program that is in a package of its own: started as a child with this terminal, or asked for its options. */
import { Command, Option } from "commander";
import { importWords } from "../own_imports.ts";
import { failureText, printError, toFailure } from "./outcome.ts";
import { InterruptedError, listenForInterrupt } from "./program.ts";

/** How often to check that the launcher still runs, in milliseconds. */
const LAUNCHER_CHECK_MS = 500;
/** Stands before the id of the process that started a program. */
const LAUNCHER = "--launcher";
/** In the place of that id: print the options, and do not run. */
const DECLARE = "declare";

interface Declaration {
  readonly description: string;
  readonly options: readonly Pick<Option, "flags" | "description" | "argChoices">[];
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

/** The command line of another program, as far as completion needs it; without options where it is not installed. */
export async function readDeclaration(name: string, find: () => string): Promise<Command> {
  const command = new Command(name);
  let args: string[];
  try {
    args = wordsOf(find(), DECLARE);
  } catch {
    return command;
  }
  const { stdout } = await new Deno.Command(Deno.execPath(), { args, stderr: "inherit" }).output();
  const { description, options }: Declaration = JSON.parse(new TextDecoder().decode(stdout));
  command.description(description);
  for (const { flags, description, argChoices } of options) {
    const option = new Option(flags, description);
    command.addOption(argChoices === undefined ? option : option.choices(argChoices));
  }
  return command;
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
  if (launcher === DECLARE) {
    const command = create();
    const options = command.options.map(({ flags, description, argChoices }) => ({
      flags,
      description,
      argChoices,
    }));
    console.log(JSON.stringify({ description: command.description(), options } satisfies Declaration));
    return 0;
  }
  endWithLauncher(Number(launcher));
  return await run(rest, `a2c-smcp ${name}`);
}
