/** What holds for a command and all below it. */
import type { Command } from "commander";

/** A command and all commands below it. */
export function* everyCommand(command: Command): Generator<Command> {
  yield command;
  for (const below of command.commands) yield* everyCommand(below);
}
