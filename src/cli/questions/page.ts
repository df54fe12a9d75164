/** A page that an MCP server wants a person to open: its address is shown, and never opened or fetched. Pure. */
import type { DialogueEnd, LineEditor } from "../../terminal/editor/line_editor.ts";
import { quoteText } from "../../terminal/shapes.ts";
import { checkWord } from "./form.ts";
import { describeAsker, describeTimeLeft, type ShownPage } from "./shown_question.ts";

const WORDS: ReadonlyMap<string, boolean> = new Map([
  ["d", true],
  ["done", true],
  ["y", true],
  ["yes", true],
  ["n", false],
  ["no", false],
]);
const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/** Asks the person to open the page; resolves to whether they have been there, as far as the dialogue was answered. */
export async function askToOpen(
  editor: Pick<LineEditor, "converse">,
  page: ShownPage,
  { columns }: { readonly columns: number },
): Promise<{ readonly end: DialogueEnd; readonly isAccepted: boolean }> {
  let isAccepted = false;
  const text = [
    ...pageHead(page, columns),
    "Open it if you trust this host, and come back. [d]one, [N]o (decline): ",
  ].join("\n");
  const next = (answer: string) => {
    isAccepted = WORDS.get(answer.trim().toLowerCase()) ?? false;
    return undefined;
  };
  const first = { text, check: checkWord(WORDS, "d or n") };
  const end = await editor.converse({ first, next, signal: page.signal });
  return { end, isAccepted };
}

/** The lines above the question: who asks, what for, and where the address leads. The address is one unbroken line. */
function pageHead({ asker, message, url, timeLeftMs }: ShownPage, columns: number): string[] {
  // The form that a browser opens: a host in other scripts appears in ASCII letters, and so does the rest.
  const { href, host, hostname, protocol, username } = new URL(url);
  return [
    `${describeAsker(asker, "asks you to open a page")}:`,
    ...quoteText(message, { columns }),
    `Host: ${host}`,
    ...(hostname.includes("xn--") ? ["Careful: the name of this host is not written in ASCII letters."] : []),
    ...(username === "" ? [] : ["Careful: what stands before the @ is a user name, and not the host."]),
    ...(protocol === "https:" || LOOPBACK.test(hostname)
      ? []
      : ["Careful: the connection to this host is not encrypted."]),
    href,
    `This program does not open it. Ctrl-D declines, Ctrl-C cancels. The call waits ${
      describeTimeLeft(timeLeftMs)
    }.`,
  ];
}
