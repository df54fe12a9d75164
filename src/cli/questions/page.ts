/** A page that an MCP server wants a person to open: its address is shown, and never opened or fetched. Pure. */
import type { Dialogue } from "../../terminal/editor/line_editor.ts";
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

export class PageDialogue implements Dialogue {
  readonly #page: ShownPage;
  readonly #columns: number;
  #isAccepted = false;

  constructor(page: ShownPage, { columns }: { readonly columns: number }) {
    this.#page = page;
    this.#columns = columns;
  }

  get signal(): AbortSignal {
    return this.#page.signal;
  }

  get first(): Dialogue["first"] {
    const text = [
      ...pageHead(this.#page, this.#columns),
      "Open it if you trust this host, and come back. [d]one, [N]o (decline): ",
    ].join("\n");
    return { text, check: checkWord(WORDS, "d or n") };
  }

  readonly next = (answer: string): undefined => {
    this.#isAccepted = WORDS.get(answer.trim().toLowerCase()) ?? false;
  };

  get isAccepted(): boolean {
    return this.#isAccepted;
  }
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
