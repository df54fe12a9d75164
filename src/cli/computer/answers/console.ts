/** The command that opens the page of a Computer. */
import type { CommandAnswer } from "../../answers/answer.ts";
import { answerConsole, type ConsoleFlags } from "../../answers/console.ts";
import { UsageError } from "../../outcome.ts";
import type { CommandContext } from "../hosted_computer.ts";

export async function openConsole(
  { hosted: { console }, conversation }: CommandContext,
  flags: ConsoleFlags,
): Promise<CommandAnswer> {
  if (console === undefined) {
    throw new UsageError("Cannot open the console: this Computer runs for one command alone");
  }
  return await answerConsole(console, { ...flags, openPage: (url) => conversation.open(url) });
}
