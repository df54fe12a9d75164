/** The command that opens the page of a Computer. */
import type { CommandAnswer } from "../../answers/answer.ts";
import { UsageError } from "../../outcome.ts";
import type { CommandContext } from "../hosted_computer.ts";

export interface ConsoleFlags {
  /** Whether the page is opened in the browser of this machine. */
  readonly open: boolean;
  readonly stop: boolean;
}

export async function openConsole(
  { hosted: { console }, conversation }: CommandContext,
  { open, stop }: ConsoleFlags,
): Promise<CommandAnswer> {
  if (console === undefined) {
    throw new UsageError("Cannot open the console: this Computer runs for one command alone");
  }
  if (stop) {
    const wasOpen = await console.close();
    return {
      value: { closed: wasOpen },
      text: wasOpen ? "the console is closed" : "the console was not open",
    };
  }
  const url = await console.open();
  const opened = open && await conversation.open(url);
  return { value: { url, opened }, text: url };
}
