/**
 * Runs one command and ends: on a Computer that runs already, or on one that is started for this command. What a
 * Computer needs is loaded only when one is started: a command for a running Computer loads no MCP SDK and no Socket.IO.
 */
import type { Command } from "commander";
import { showProgress } from "../../terminal/progress.ts";
import { currentScreen } from "../../terminal/screen.ts";
import { ComputerNotRunningError, ExitCode, ExitRequest, printError, UsageError } from "../outcome.ts";
import { withoutSharedOptions } from "../program.ts";
import type { CommandCall } from "./command.ts";
import { askComputer } from "./ask_computer.ts";
import { personAt } from "../control/conversation.ts";
import type { ComputerCliOptions } from "./open_computer.ts";
import { LazyEditor } from "../../terminal/editor/lazy_editor.ts";
import { ask } from "../../terminal/editor/line_editor.ts";

export interface OnceContext {
  readonly program: Command;
  readonly args: readonly string[];
  readonly signal: AbortSignal;
}

/**
 * With `--config`, `--documents` or `--skills` a Computer is started for the command. Otherwise a running Computer is asked; when none
 * runs, one is started with the config that the environment names.
 */
export async function runOnce(call: CommandCall, context: OnceContext): Promise<void> {
  const { program, signal } = context;
  const options = program.opts<ComputerCliOptions>();
  if (call.here !== undefined) return await call.here({ options, signal });
  const runAlone = async () => await (await import("./alone.ts")).runAlone(call, { options, signal });
  const isOwn = options.documents !== undefined || options.skills !== undefined;
  if (isOwn || program.getOptionValueSource("config") === "cli") return await runAlone();
  try {
    await runElsewhere(call, context);
  } catch (error) {
    if (!(error instanceof ComputerNotRunningError) || options.config === undefined) throw error;
    await runAlone();
  }
}

async function runElsewhere(
  { name, asksFor, toWords }: CommandCall,
  { program, args, signal }: OnceContext,
): Promise<void> {
  const options = program.opts<ComputerCliOptions>();
  // Variables may be meant for the Agent.
  const typed = (option: "url" | "office") =>
    program.getOptionValueSource(option) === "cli" ? options[option] : undefined;
  using progress = showProgress("");
  progress.update(`asking the Computer for ${name}`);
  const words = [...await toWords?.(signal) ?? withoutSharedOptions(program, args)];
  if (asksFor !== undefined) words.push(await readValue(asksFor, signal));
  const answer = await askComputer({
    name: options.name,
    nameSource: program.getOptionValueSource("name") === "env" ? "A2C_NAME" : "--name",
    place: { server: typed("url"), office: typed("office") },
    words,
    json: options.json,
    screen: currentScreen(),
    signal,
    progress: (text) => progress.update(text),
    person: personAt(new LazyEditor({ isPlain: options.json }).use),
  });
  progress[Symbol.dispose]();
  if (answer.output !== "") console.log(answer.output);
  if (answer.error !== "") printError(answer.error);
  if (answer.exitCode !== 0) throw new ExitRequest(answer.exitCode);
}

/** Reads a value that must not be on a command line: typed at the terminal and not shown, or from a pipe. */
async function readValue(input: string, signal: AbortSignal): Promise<string> {
  const value = Deno.stdin.isTerminal()
    ? await askHidden(input, signal)
    : (await new Response(Deno.stdin.readable).text()).replace(/\r?\n$/, "");
  if (value === "") throw new UsageError(`Cannot set input "${input}": empty value`);
  return value;
}

async function askHidden(input: string, signal: AbortSignal): Promise<string> {
  const text = `value of input "${input}": `;
  const value = await new LazyEditor().use((editor) => ask(editor, { text, isHidden: true, signal }));
  if (value === undefined) throw new ExitRequest(ExitCode.INTERRUPTED);
  return value;
}
