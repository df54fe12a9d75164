/** The command that opens the page of a program. */
import type { ProgramConsole } from "../console.ts";
import type { CommandAnswer } from "./answer.ts";

export interface ConsoleFlags {
  /** Whether the page is opened in the browser of this machine. */
  readonly open: boolean;
  readonly stop: boolean;
}

/** @param openPage Opens a page in the browser of who has asked; resolves to whether there is one. */
export async function answerConsole(
  console: ProgramConsole,
  { open, stop, openPage }: ConsoleFlags & { readonly openPage: (url: string) => Promise<boolean> },
): Promise<CommandAnswer> {
  if (stop) {
    const wasOpen = await console.close();
    return {
      value: { closed: wasOpen },
      text: wasOpen ? "the console is closed" : "the console was not open",
    };
  }
  const url = await console.open();
  const opened = open && await openPage(url);
  return { value: { url, opened }, text: url };
}
