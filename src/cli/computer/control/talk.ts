/** The talk of a command with a person whose terminal belongs to another process. */
import type { AskPerson } from "../../questions/terminal_answers.ts";
import type { AskedLine, Person } from "../conversation.ts";
import { parseAnswer, toWire } from "./asked_question.ts";
import type { ControlResponse, ControlTalk } from "./message.ts";

/** The most questions that are open at a time; a command asks one after another. */
const MAX_QUESTIONS = 16;

export class RemotePerson implements Person {
  readonly #send: (talk: ControlTalk) => void;
  readonly #questions = new Map<number, (line: string | null) => void>();
  #lastId = 0;

  constructor(send: (talk: ControlTalk) => void) {
    this.#send = send;
  }

  readonly print = (text: string): void => this.#send({ print: text });

  readonly ask = async ({ text, signal }: AskedLine): Promise<string | undefined> => {
    return await this.#exchange((id) => ({ question: text, id }), signal) ?? undefined;
  };

  readonly open = async (url: string): Promise<boolean> => {
    return await this.#exchange((id) => ({ page: url, id })) !== null;
  };

  readonly answer: AskPerson = async (question, { presets } = {}) => {
    const asked = toWire({ question, presets });
    return parseAnswer(await this.#exchange((id) => ({ asked, id }), question.signal));
  };

  /** Takes an answer; returns false when no question has its id. */
  take({ id, line }: ControlResponse): boolean {
    const resolve = this.#questions.get(id);
    this.#questions.delete(id);
    resolve?.(line);
    return resolve !== undefined || id <= this.#lastId;
  }

  /** Answers all open questions with nothing, because the process has gone. */
  leave(): void {
    for (const resolve of this.#questions.values()) resolve(null);
    this.#questions.clear();
  }

  async #exchange(toTalk: (id: number) => ControlTalk, signal?: AbortSignal): Promise<string | null> {
    if (signal?.aborted || this.#questions.size >= MAX_QUESTIONS) return null;
    const id = ++this.#lastId;
    const { promise, resolve } = Promise.withResolvers<string | null>();
    this.#questions.set(id, resolve);
    const onAbort = () => {
      const why: unknown = signal?.reason;
      if (this.#questions.has(id)) this.#send({ withdrawn: id, ...typeof why === "string" && { why } });
      this.#questions.delete(id);
      resolve(null);
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    this.#send(toTalk(id));
    try {
      return await promise;
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
  }
}
