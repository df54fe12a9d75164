/** Questions that wait for the person at the terminal, one after the other. */
import type { TerminalBottom } from "../bottom_line.ts";
import { writeNow } from "./line_output.ts";
import { printable } from "../safe_text.ts";
import { type Question, toQuestionText } from "./question.ts";
import { TypedLine } from "./typed_line.ts";

/** Keys so soon after a question was withdrawn are meant for that one, in milliseconds. */
const SETTLE_MS = 1_000;

interface WaitingQuestion {
  readonly question: Question;
  readonly resolve: (answer: string | undefined) => void;
}

/** Where questions are shown. */
export interface QuestionStage {
  readonly bottom: TerminalBottom;
  /** Another line is to be shown than before. */
  readonly onChange: () => void;
  /** A clock in milliseconds. */
  readonly now: () => number;
}

/** Shows one question at a time. */
export class QuestionQueue {
  readonly #stage: QuestionStage;
  readonly #waiting: WaitingQuestion[] = [];
  #line: TypedLine | undefined;
  /** Until then keys may be meant for a question that was withdrawn. */
  #settledAtMs = -Infinity;
  /** Whether an answer to that one had been begun. */
  #wasTyping = false;

  constructor(stage: QuestionStage) {
    this.#stage = stage;
  }

  /** The answer that is being typed. */
  get line(): TypedLine | undefined {
    return this.#line;
  }

  /**
   * Whether a key is meant for what is shown now. Nobody who was about to answer the question before has read the one
   * that took its place, and the rest of a secret belongs into no command line. A key that is not taken lengthens the
   * wait.
   */
  takesKey(): boolean {
    const nowMs = this.#stage.now();
    if (nowMs >= this.#settledAtMs || this.#line === undefined && !this.#wasTyping) return true;
    this.#settledAtMs = nowMs + SETTLE_MS;
    return false;
  }

  /** Asks when it is its turn; resolves to `undefined` when the question is refused or withdrawn. */
  async ask(question: Question): Promise<string | undefined> {
    const { signal } = question;
    if (signal?.aborted) return undefined;
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    const waiting = { question, resolve };
    const onAbort = () => this.#withdraw(waiting);
    signal?.addEventListener("abort", onAbort, { once: true });
    if (this.#waiting.push(waiting) === 1) this.#open(question);
    try {
      return await promise;
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
  }

  /** The person does not answer the question that is shown; `mark` stays behind it on the screen. */
  refuse(mark = ""): void {
    this.#line?.abandon(mark);
    this.#stage.bottom.leavePrompt();
    this.#next(undefined);
  }

  /** Nobody will answer any more. */
  end(): void {
    const left = this.#waiting.splice(0);
    this.#line = undefined;
    this.#stage.onChange();
    for (const { resolve } of left) resolve(undefined);
  }

  #open(question: Question): void {
    const { above, prompt } = toQuestionText(question);
    const nowMs = this.#stage.now();
    if (nowMs < this.#settledAtMs) this.#settledAtMs = nowMs + SETTLE_MS;
    if (above !== undefined) this.#stage.bottom.writeAbove(() => writeNow(`${above}\n`));
    this.#line = new TypedLine({
      prompt: () => prompt,
      isHidden: question.isHidden,
      onLine: (line) => this.#take(question, line === "" ? question.default ?? "" : line),
    });
    this.#stage.onChange();
  }

  #take(question: Question, answer: string): void {
    this.#stage.bottom.leavePrompt();
    const complaint = question.check?.(answer);
    if (complaint === undefined) return this.#next(answer);
    this.#stage.bottom.writeAbove(() => writeNow(`${printable(complaint)}\n`));
    this.#stage.onChange();
  }

  #withdraw(waiting: WaitingQuestion): void {
    const index = this.#waiting.indexOf(waiting);
    if (index > 0) {
      this.#waiting.splice(index, 1);
      waiting.resolve(undefined);
    } else if (index === 0) {
      const { prompt } = toQuestionText(waiting.question);
      this.#wasTyping = this.#line !== undefined && this.#line.text !== "";
      this.#settledAtMs = this.#stage.now() + SETTLE_MS;
      this.#stage.bottom.writeAbove(() => writeNow(`${prompt}(withdrawn)\n`));
      this.#next(undefined);
    }
  }

  /** The one that is shown is done. */
  #next(answer: string | undefined): void {
    const done = this.#waiting.shift();
    this.#line = undefined;
    const [following] = this.#waiting;
    if (following === undefined) this.#stage.onChange();
    else this.#open(following.question);
    done?.resolve(answer);
  }
}
