/** How a command talks with a person, or a program, while it runs: at a prompt, alone, and from another process. */
import type { Answer } from "../../protocol/questions.ts";
import { ask, type LineEditor, NoTerminalError } from "../../terminal/editor/line_editor.ts";
import { printAbove } from "../../terminal/bottom_line.ts";
import { printable, toSafeJson } from "../../text/safe_text.ts";
import type { UseEditor } from "../../terminal/editor/lazy_editor.ts";
import { openBrowser } from "../browser.ts";
import { ExitCode, ExitRequest } from "../outcome.ts";
import type { ShownQuestion } from "../questions/shown_question.ts";
import type { AskingOptions } from "../questions/terminal_answers.ts";
import type { AskedLine, Person } from "./person.ts";

export interface Told {
  readonly text: string;
  readonly value: unknown;
}

export class Conversation {
  readonly #person: Person;
  readonly #json: boolean;

  constructor(person: Person, { json }: { readonly json: boolean }) {
    this.#person = person;
    this.#json = json;
  }

  tell({ text, value }: Told): void {
    this.#person.print(this.#json ? toSafeJson(value) : printable(text));
  }

  /** Asks for a line, as {@linkcode Person.ask} does. A program is asked without words: it knows what it may answer. */
  async ask({ text, signal }: AskedLine): Promise<string | undefined> {
    if (signal.aborted) return undefined;
    return await this.#person.ask({ text: this.#json ? "" : text, signal });
  }

  /** Answers a question of an MCP server, as {@linkcode Person.answer} does. A program is not asked: its answers are options. */
  async answer(question: ShownQuestion, options?: AskingOptions): Promise<Answer | undefined> {
    return this.#json ? undefined : await this.#person.answer(question, options);
  }

  async open(url: string): Promise<boolean> {
    return await this.#person.open(url);
  }
}

/** The person at the terminal of this process, or the program that writes its standard input. */
export function personAt(useEditor: UseEditor): Person {
  return {
    print: printAbove,
    ask: ({ text, signal }) => useEditor((editor) => askEditor(editor, { text, signal })),
    answer: async (question, options) => {
      // Loaded only now, because few commands are asked anything.
      const { askBy } = await import("../questions/terminal_answers.ts");
      return await askBy(useEditor)(question, options);
    },
    open: openBrowser,
  };
}

async function askEditor(editor: LineEditor, { text, signal }: AskedLine): Promise<string | undefined> {
  try {
    const answer = await ask(editor, { text, signal });
    if (answer === undefined && !signal.aborted) throw new ExitRequest(ExitCode.INTERRUPTED);
    return answer;
  } catch (error) {
    if (!(error instanceof NoTerminalError)) throw error;
    return await editor.read({ signal });
  }
}
