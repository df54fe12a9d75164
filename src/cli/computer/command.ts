/** A command of a Computer, as it is declared and run. */
import type { Command } from "commander";
import type { CommandAnswer } from "../answers/answer.ts";
import type { CommandContext } from "./hosted_computer.ts";
import type { ComputerCliOptions } from "./open_computer.ts";
import type { AwaitedServers } from "./start.ts";

/** What a command needs before it can run. */
export type CommandNeed =
  /** A running Computer: on a newly started one the command has no effect. */
  | "running"
  /** MCP servers: without a running Computer those of the config are started. */
  | "servers"
  /** Only the configuration: nothing is started. */
  | "config";

export interface CommandCall {
  readonly name: string;
  readonly needs: CommandNeed;
  /** Runs the command; `typed` is the answer to the question for {@linkcode CommandCall.asksFor}. */
  readonly work: (context: CommandContext, typed?: string) => CommandAnswer | Promise<CommandAnswer>;
  /** The input whose value the user is asked for, because the last word was left out. */
  readonly asksFor?: string | undefined;
  /** The MCP servers that must have started, where no Computer runs yet; all by default. */
  readonly awaits?: AwaitedServers | undefined;
  /** The words for a Computer of another process, if they differ from what was typed. */
  readonly toWords?: ((signal: AbortSignal) => Promise<readonly string[]>) | undefined;
  /** What is done in the process in which it was typed, in place of `work`. */
  readonly here?: ((context: HereContext) => Promise<void>) | undefined;
  /** Whether an option names the standard input of the process in which it was typed; false by default. */
  readonly readsInput?: boolean | undefined;
  /** Whether it creates a missing config file; false by default. */
  readonly mayBeNew?: boolean | undefined;
}

export interface HereContext {
  readonly options: ComputerCliOptions;
  readonly signal: AbortSignal;
}

export type RunCommand = (call: CommandCall) => Promise<void>;

/** How a command is written, and what it does with its arguments and options. */
interface DeclaredCommand<Args extends readonly unknown[]> {
  readonly usage: string;
  readonly about: string;
  readonly needs: CommandNeed;
  /** Whether it is the command of its group that is run without a word; false by default. */
  readonly isDefault?: boolean | undefined;
  readonly here?: ((...args: Args) => CommandCall["here"]) | undefined;
  readonly work: (context: CommandContext, ...args: Args) => CommandAnswer | Promise<CommandAnswer>;
}

export function addCommand<Args extends readonly unknown[]>(
  group: Command,
  run: RunCommand,
  { usage, about, needs, isDefault = false, here, work }: DeclaredCommand<Args>,
): Command {
  const command = group.command(usage, { isDefault }).description(about);
  const { parent } = group;
  const name = parent === null ? command.name() : `${group.name()} ${command.name()}`;
  return command.action((...args: Args) =>
    run({ name, needs, here: here?.(...args), work: (context) => work(context, ...args) })
  );
}
