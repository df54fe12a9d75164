/** One command as a run of its own: sent to a Computer that runs, or done by one that is started for it. */
import { ExitCode, ExitRequest, printError, UsageError } from "../outcome.ts";
import type { Command } from "commander";
import type { LineEditor } from "../../terminal/editor/line_editor.ts";
import { openLineEditor } from "../../terminal/editor/terminal_editor.ts";
import { withoutSharedOptions } from "../shared_options.ts";
import { showProgress } from "../../terminal/progress.ts";
import { currentScreen } from "../../terminal/screen.ts";
import { ServerUnreachableError } from "../../protocol/local_errors.ts";
import type { InputSource } from "../../computer/inputs/sources.ts";
import type { CommandCall } from "./commands.ts";
import { askComputer } from "./control/client.ts";
import { askedInputs } from "./questions.ts";
import { showAnswer } from "../answers/answer.ts";
import { type ComputerCliOptions, openSession } from "./session.ts";
import { waitForStart } from "./start.ts";

/** What one command needs to know of its command line. */
export interface OnceContext {
  readonly program: Command;
  /** As the process was given them. */
  readonly args: readonly string[];
  readonly signal: AbortSignal;
}

/**
 * Runs a command. `--config` asks for a Computer of its own; otherwise one that runs is asked, and where none does,
 * the config of the environment is used.
 */
export async function runOnce(call: CommandCall, context: OnceContext): Promise<void> {
  const { program } = context;
  const options = program.opts<ComputerCliOptions>();
  if (program.getOptionValueSource("config") === "cli") return await runAlone(call, options, context);
  try {
    await runElsewhere(call, options, context);
  } catch (error) {
    if (!(error instanceof ServerUnreachableError) || options.config === undefined) throw error;
    await runAlone(call, options, context);
  }
}

async function runElsewhere(
  { name, asksFor, toWords }: CommandCall,
  options: ComputerCliOptions,
  { program, args, signal }: OnceContext,
): Promise<void> {
  using progress = showProgress("");
  progress.update(`asking the Computer for ${name}`);
  const words = [...await toWords?.(signal) ?? withoutSharedOptions(program, args)];
  if (asksFor !== undefined) words.push(await readValue(asksFor, signal));
  const answer = await askComputer({
    name: options.name,
    words,
    json: options.json,
    screen: currentScreen(),
    signal,
    progress: (text) => progress.update(text),
  });
  progress[Symbol.dispose]();
  if (answer.output !== "") console.log(answer.output);
  if (answer.error !== "") printError(answer.error);
  if (answer.exitCode !== 0) throw new ExitRequest(answer.exitCode);
}

async function runAlone(
  call: CommandCall,
  options: ComputerCliOptions,
  { signal }: OnceContext,
): Promise<void> {
  const { name, needs, work, mayBeNew, awaits: awaited = {} } = call;
  if (needs === "running") {
    throw new UsageError(
      `Cannot run "${name}" with --config: it is for a Computer that runs; leave --config out to reach it`,
    );
  }
  await using terminal = new LazyEditor();
  const questions = countedInputs(askedInputs(() => terminal.open()));
  await using session = await openSession(options, {
    inputs: Deno.stdin.isTerminal() ? questions.source : undefined,
    isWatching: false,
    mayBeNew,
  });
  using progress = showProgress("");
  if (needs === "servers") {
    progress.update("starting MCP servers");
    const computer = await session.start();
    await waitForStart(computer, {
      awaited,
      timeoutSeconds: options.startTimeout,
      isAsking: () => questions.count > 0,
      log: session.options.logger,
      signal,
    });
  }
  const answer = await work({ session, signal, progress: (text) => progress.update(text) });
  progress[Symbol.dispose]();
  const presentation = { json: options.json, screen: currentScreen() };
  showAnswer(answer, { print: console.log, printError }, presentation);
}

/** Inputs, and how many of them somebody is being asked for. */
function countedInputs(ask: InputSource): { readonly source: InputSource; readonly count: number } {
  let count = 0;
  return {
    get count() {
      return count;
    },
    source: async (id, request) => {
      count++;
      try {
        return await ask(id, request);
      } finally {
        count--;
      }
    },
  };
}

/** Opens an editor when the first question comes. */
class LazyEditor implements AsyncDisposable {
  #editor: Promise<LineEditor> | undefined;

  open(): Promise<LineEditor> {
    return this.#editor ??= openLineEditor({ prompt: "" });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#editor)?.close();
  }
}

/** A value that stands in no command line: typed and not shown, or from a pipe. */
async function readValue(input: string, signal: AbortSignal): Promise<string> {
  const value = Deno.stdin.isTerminal()
    ? await askHidden(input, signal)
    : (await new Response(Deno.stdin.readable).text()).replace(/\r?\n$/, "");
  if (value === "") throw new UsageError(`Cannot set input "${input}": no value was given`);
  return value;
}

async function askHidden(input: string, signal: AbortSignal): Promise<string> {
  await using editor = await openLineEditor({ prompt: "" });
  const value = await editor.ask({ text: `value of input "${input}": `, isHidden: true, signal });
  if (value === undefined) throw new ExitRequest(ExitCode.INTERRUPTED);
  return value;
}
