/** Who answers what a command asks while it runs: somebody at a terminal, or a program. */
import { onAbort } from "../../async/abortable.ts";
import { isRecord } from "../../json/json.ts";
import type { Answer, FieldValue } from "../../protocol/questions.ts";
import type { AskPerson } from "../questions/terminal_answers.ts";
import type { Message } from "../line_channel.ts";
import type { ControlQuestion, ControlReply } from "./message.ts";

/** The most questions that are open at a time; a command asks one after another. */
const MAX_QUESTIONS = 16;

export interface AskedLine {
  /** Its last line becomes the prompt. It need not be safe to print. */
  readonly text: string;
  readonly signal: AbortSignal;
}

export interface Person {
  /** Prints text that is safe for a terminal and does not end with a line feed. */
  readonly print: (text: string) => void;
  /**
   * Asks for a line; `undefined` when the question was withdrawn, or nobody can answer any more.
   *
   * @throws {ExitRequest} when the person declines it, by Ctrl-C or Ctrl-D.
   */
  readonly ask: (question: AskedLine) => Promise<string | undefined>;
  /** Opens a page in the browser of this machine; resolves to whether there is one. Never rejects. */
  readonly open: (url: string) => Promise<boolean>;
  /** Answers a question of an MCP server; `undefined` when nobody can answer. */
  readonly answer: AskPerson;
}

/** Nobody can be asked: a program answers by further commands. */
export const NOBODY: Person = {
  print: () => {},
  ask: () => Promise.resolve(undefined),
  open: () => Promise.resolve(false),
  answer: () => Promise.resolve(undefined),
};

/** A person whose terminal belongs to another process. */
export class RemotePerson implements Person {
  readonly #send: (reply: ControlReply) => void;
  readonly #questions = new Map<number, (answer: unknown) => void>();
  #lastId = 0;

  constructor(send: (reply: ControlReply) => void) {
    this.#send = send;
  }

  readonly print = (text: string): void => this.#send({ print: text });

  readonly ask = async ({ text, signal }: AskedLine): Promise<string | undefined> => {
    const answer = await this.#exchange({ line: text }, signal);
    return typeof answer === "string" ? answer : undefined;
  };

  readonly open = async (url: string): Promise<boolean> => {
    return await this.#exchange({ page: url }) === true;
  };

  readonly answer: AskPerson = async ({ signal, ...form }, options = {}) => {
    return readAnswer(await this.#exchange({ form, options }, signal));
  };

  /** Takes an answer; returns false when no question has its id. */
  take({ id, answer = null }: Message): boolean {
    if (typeof id !== "number") return false;
    const resolve = this.#questions.get(id);
    this.#questions.delete(id);
    resolve?.(answer);
    return resolve !== undefined || id <= this.#lastId;
  }

  /** Answers all open questions with nothing, because the process has gone. */
  leave(): void {
    for (const resolve of this.#questions.values()) resolve(null);
    this.#questions.clear();
  }

  async #exchange(question: ControlQuestion, signal?: AbortSignal): Promise<unknown> {
    if (signal?.aborted || this.#questions.size >= MAX_QUESTIONS) return null;
    const id = ++this.#lastId;
    const { promise, resolve } = Promise.withResolvers<unknown>();
    this.#questions.set(id, resolve);
    using _ = onAbort(signal, () => {
      const why: unknown = signal?.reason;
      if (this.#questions.has(id)) this.#send({ withdrawn: id, ...typeof why === "string" && { why } });
      this.#questions.delete(id);
      resolve(null);
    });
    this.#send({ question, id });
    return await promise;
  }
}

/** The answer to a question of an MCP server, whose content is checked where the MCP server asked. */
function readAnswer(answer: unknown): Answer | undefined {
  if (!isRecord(answer)) return undefined;
  const { action, content } = answer;
  if (action === "decline" || action === "cancel") return { action };
  if (action !== "accept") return undefined;
  return isRecord(content) ? { action, content: content as Record<string, FieldValue> } : { action };
}
