/** The command that opens the page of a program. */
import type { ProgramConsole } from "../console.ts";
import type { Conversation } from "../control/conversation.ts";
import { UsageError } from "../outcome.ts";
import type { CommandAnswer } from "./answer.ts";

export interface ConsoleFlags {
  /** Whether the page is opened in the browser of whoever has asked. */
  readonly open: boolean;
  readonly stop: boolean;
}

/** @param console `undefined` where the program runs for one command alone. */
export async function answerConsole(
  console: ProgramConsole | undefined,
  { open, stop, conversation }: ConsoleFlags & { readonly conversation: Conversation },
): Promise<CommandAnswer> {
  if (console === undefined) {
    throw new UsageError("Cannot open the console: this program runs for one command alone, or still starts");
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
