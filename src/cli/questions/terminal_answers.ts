/** Answers questions by asking a person at a terminal: forms, pages to open, and calls to run. */
import type { Answer, FieldValue } from "../../protocol/questions.ts";
import { isLoopback } from "../../protocol/server_address.ts";
import {
  type Dialogue,
  type DialogueEnd,
  type LineEditor,
  NoTerminalError,
} from "../../terminal/editor/line_editor.ts";
import { consoleColumns } from "../../terminal/screen.ts";
import { quoteText } from "../../terminal/shapes.ts";
import { countOf } from "../../text/text.ts";
import { escapeUnseen, inWrittenOrder } from "../../text/safe_text.ts";
import type { UseEditor } from "../../terminal/editor/lazy_editor.ts";
import { checkWord, FormDialogue } from "./form.ts";
import {
  describeAsker,
  describeTimeLeft,
  type ShownApproval,
  type ShownPage,
  type ShownQuestion,
  toShownName,
} from "./shown_question.ts";

type Prompt = Pick<LineEditor, "converse">;

export interface AskingOptions {
  /** Values that an empty line stands for, in place of the defaults of a form. */
  readonly presets?: Readonly<Record<string, FieldValue>> | undefined;
}

/** Asks a person; `undefined` when there is none. */
export type AskPerson = (question: ShownQuestion, options?: AskingOptions) => Promise<Answer | undefined>;

export function askBy(useEditor: UseEditor): AskPerson {
  return (question, options) =>
    useEditor(async (editor) => {
      try {
        return await askAt(editor, question, options);
      } catch (error) {
        if (error instanceof NoTerminalError) return undefined;
        throw error;
      }
    });
}

/** Asks a question. Ctrl-C and the end of the call cancel it, Ctrl-D declines it. */
export async function askAt(
  editor: Prompt,
  question: ShownQuestion,
  { presets }: AskingOptions = {},
): Promise<Answer> {
  const columns = consoleColumns();
  switch (question.mode) {
    case "form": {
      const dialogue = new FormDialogue(question, { columns, presets });
      const end = await editor.converse(dialogue);
      const { content } = dialogue;
      return content === undefined ? withoutAccept(end) : { action: "accept", content };
    }
    case "url":
      return await askToOpen(editor, question, { columns });
    case "approval": {
      const { end, decision } = await askToRun(editor, toCall(question));
      return decision === "no" ? withoutAccept(end) : { action: "accept" };
    }
  }
}

/** A dialogue that was answered ended with a no. */
function withoutAccept(end: DialogueEnd): Answer {
  return { action: end === "answered" || end === "declined" ? "decline" : "cancel" };
}

const PAGE_WORDS: ReadonlyMap<string, boolean> = new Map([
  ["d", true],
  ["done", true],
  ["y", true],
  ["yes", true],
  ["n", false],
  ["no", false],
]);

/** Asks the person to open a page, and whether they have been there. This program never opens or fetches it. */
export async function askToOpen(
  editor: Prompt,
  page: ShownPage,
  { columns }: { readonly columns: number },
): Promise<Answer> {
  let isAccepted = false;
  const text = [
    ...pageHead(page, columns),
    "Open it if you trust this host, and come back. [d]one, [N]o (decline): ",
  ].join("\n");
  const next = (answer: string) => {
    isAccepted = PAGE_WORDS.get(answer.trim().toLowerCase()) ?? false;
    return undefined;
  };
  const first = { text, check: checkWord(PAGE_WORDS, "d or n") };
  const end = await editor.converse({ first, next, signal: page.signal });
  return isAccepted ? { action: "accept" } : withoutAccept(end);
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
    ...(protocol === "https:" || isLoopback(hostname)
      ? []
      : ["Careful: the connection to this host is not encrypted."]),
    href,
    `This program does not open it. Ctrl-D declines, Ctrl-C cancels. The call waits ${
      describeTimeLeft(timeLeftMs)
    }.`,
  ];
}

/** The characters of a call's arguments that are shown first, and with each `more`. */
const FIRST_PAGE_LENGTH = 1_000;
const NEXT_PAGE_LENGTH = 4_000;
/** The meaning of an answer to the whole call; an empty line means no. */
const CALL_WORDS: ReadonlyMap<string, "yes" | "no"> = new Map([
  ["y", "yes"],
  ["yes", "yes"],
  ["n", "no"],
  ["no", "no"],
]);
const CALL_WORDS_WITH_ALWAYS: ReadonlyMap<string, "yes" | "always" | "no"> = new Map([
  ...CALL_WORDS,
  ["a", "always"],
  ["always", "always"],
]);
/** Before the last page, an answer that means yes shows the next page. */
const MORE_WORDS: ReadonlyMap<string, "yes" | "always" | "no" | "more"> = new Map([
  ...CALL_WORDS_WITH_ALWAYS,
  ["m", "more"],
  ["more", "more"],
]);

export interface CallToRun {
  /** Who calls which tool, safe to print: `Agent "bot" calls "delete" of "files"`. */
  readonly call: string;
  /** The tool alone, safe to print, for the pages after the first one. */
  readonly callAgain: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  readonly hasAlways: boolean;
}

/**
 * Asks whether a call may run. The whole call is shown, with nothing replaced or left out; a call that is longer than a
 * page can be allowed only after its last page was shown.
 */
export async function askToRun(
  editor: Prompt,
  { call, callAgain, params, signal, hasAlways }: CallToRun,
): Promise<{ readonly decision: "yes" | "always" | "no"; readonly end: DialogueEnd }> {
  const text = JSON.stringify(params);
  const words = hasAlways ? CALL_WORDS_WITH_ALWAYS : CALL_WORDS;
  let decision: "yes" | "always" | "no" = "no";
  let shownLength = 0;
  const left = () => Math.max(0, text.length - shownLength);
  const nextPage = (head: string, length: number): Dialogue["first"] => {
    const shown = inWrittenOrder(escapeUnseen(text.slice(shownLength, shownLength + length)));
    shownLength += length;
    if (left() > 0) {
      const options = `${countOf(left(), "more character")} left to show before it can run. [m]ore, [N]o: `;
      return { text: `${head}${shown}…\n${options}`, check: checkWord(MORE_WORDS, "m or n") };
    }
    return {
      text: `${head}${shown}\nRun it? [y]es, ${hasAlways ? "[a]lways, " : ""}[N]o: `,
      check: checkWord(words, hasAlways ? "y, a or n" : "y or n"),
    };
  };
  const next = (typed: string) => {
    const answer = typed.trim().toLowerCase();
    if (left() === 0) {
      decision = words.get(answer) ?? "no";
      return undefined;
    }
    if ((MORE_WORDS.get(answer) ?? "no") === "no") return undefined;
    return nextPage(`${callAgain}, continued: `, NEXT_PAGE_LENGTH);
  };
  const end = await editor.converse({ first: nextPage(`${call} with `, FIRST_PAGE_LENGTH), next, signal });
  return { decision, end };
}

function toCall({ asker, params, signal }: ShownApproval): CallToRun {
  const { computer, server, tool } = asker;
  const callAgain = server === undefined
    ? toShownName(tool)
    : `${toShownName(tool)} of ${toShownName(server)}`;
  const who = computer === undefined ? "The Computer" : `Computer ${toShownName(computer)}`;
  return { call: `${who} asks whether to run ${callAgain}`, callAgain, params, signal, hasAlways: false };
}
