/** Questions at the terminal: how they are written, what an answer means, and one dialogue at a time. */
import { onAbort } from "../../async/abortable.ts";
import type { TerminalBottom } from "../bottom_line.ts";
import { printable, printableLine } from "../../text/safe_text.ts";
import type { Dialogue, DialogueEnd, Question } from "./line_editor.ts";
import { TypedLine, writeNow } from "./typed_line.ts";

export interface QuestionText {
  /** The lines above the prompt. */
  readonly above: string | undefined;
  readonly prompt: string;
}

/** Writes a question with its default in brackets; the default of a hidden answer is not shown. */
export function toQuestionText({ text, isHidden = false, default: preset }: Question): QuestionText {
  const lines = printable(text).trimEnd().split("\n");
  const last = printableLine(lines.pop() ?? "");
  const shown = preset === undefined || isHidden
    ? last
    : `${last.replace(/[:?]$/, "")} [${printableLine(preset)}]`;
  return {
    above: lines.length === 0 ? undefined : lines.join("\n"),
    prompt: /[:?]$/.test(shown) ? `${shown} ` : `${shown}: `,
  };
}

/** Keys that are pressed so soon after a question was withdrawn are ignored, in milliseconds. */
const SETTLE_MS = 1_000;

type AskedQuestion = Dialogue["first"];

interface WaitingDialogue {
  readonly dialogue: Dialogue;
  readonly resolve: (end: DialogueEnd) => void;
}

export interface QuestionStage {
  readonly bottom: TerminalBottom;
  /** Called when {@linkcode QuestionQueue.line} has changed. */
  readonly onChange: () => void;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
}

/** Shows one question at a time, dialogue after dialogue in the order in which they were begun. */
export class QuestionQueue {
  readonly #stage: QuestionStage;
  readonly #waiting: WaitingDialogue[] = [];
  #shown: AskedQuestion | undefined;
  #line: TypedLine | undefined;
  /** Earlier keys may be meant for a question that was withdrawn. */
  #settledAtMs = -Infinity;
  /** Whether the user had begun to answer the question that was withdrawn. */
  #wasTyping = false;

  constructor(stage: QuestionStage) {
    this.#stage = stage;
  }

  /** The answer that is being typed; `undefined` while no question is shown. */
  get line(): TypedLine | undefined {
    return this.#line;
  }

  /**
   * Whether a key is meant for the line that is shown now. After a question was withdrawn, keys are ignored until one
   * second has passed without any: the user has not yet read the question that took its place, and the rest of a
   * password must not go into a command line.
   */
  takesKey(): boolean {
    const nowMs = this.#stage.now();
    if (nowMs >= this.#settledAtMs || this.#line === undefined && !this.#wasTyping) return true;
    this.#settledAtMs = nowMs + SETTLE_MS;
    return false;
  }

  async converse(dialogue: Dialogue): Promise<DialogueEnd> {
    const { first, signal } = dialogue;
    if (signal?.aborted) return "withdrawn";
    const { promise, resolve } = Promise.withResolvers<DialogueEnd>();
    const waiting = { dialogue, resolve };
    using _ = onAbort(signal, () => this.#withdraw(waiting));
    if (this.#waiting.push(waiting) === 1) this.#open(first);
    return await promise;
  }

  /** Ends the dialogue that is shown without an answer; `mark` is printed after what was typed. */
  leave(end: "declined" | "cancelled", mark = ""): void {
    this.#line?.abandon(mark);
    this.#stage.bottom.leavePrompt();
    this.#finish(end);
  }

  end(): void {
    const left = this.#waiting.splice(0);
    this.#line = undefined;
    this.#stage.onChange();
    for (const { resolve } of left) resolve("cancelled");
  }

  #open(question: AskedQuestion): void {
    const { above, prompt } = toQuestionText(question);
    const nowMs = this.#stage.now();
    if (nowMs < this.#settledAtMs) this.#settledAtMs = nowMs + SETTLE_MS;
    if (above !== undefined) this.#stage.bottom.writeAbove(() => writeNow(`${above}\n`));
    this.#shown = question;
    this.#line = new TypedLine({
      prompt: () => prompt,
      isHidden: question.isHidden,
      onLine: (line) => this.#take(question, line === "" ? question.default ?? "" : line),
    });
    this.#stage.onChange();
  }

  #take(question: AskedQuestion, answer: string): void {
    this.#stage.bottom.leavePrompt();
    const complaint = question.check?.(answer);
    if (complaint !== undefined) {
      this.#stage.bottom.writeAbove(() => writeNow(`${printable(complaint)}\n`));
      return this.#stage.onChange();
    }
    // The next question opens at once, so that no key in between goes into the command line.
    const following = this.#waiting[0]?.dialogue.next(answer);
    if (following === undefined) this.#finish("answered");
    else this.#open(following);
  }

  #withdraw(waiting: WaitingDialogue): void {
    const index = this.#waiting.indexOf(waiting);
    if (index > 0) {
      this.#waiting.splice(index, 1);
      waiting.resolve("withdrawn");
    } else if (index === 0) {
      const { prompt } = toQuestionText(this.#shown ?? waiting.dialogue.first);
      this.#wasTyping = this.#line !== undefined && this.#line.text !== "";
      this.#settledAtMs = this.#stage.now() + SETTLE_MS;
      const why: unknown = waiting.dialogue.signal?.reason;
      const mark = typeof why === "string" ? printable(why) : "withdrawn";
      this.#stage.bottom.writeAbove(() => writeNow(`${prompt}(${mark})\n`));
      this.#finish("withdrawn");
    }
  }

  #finish(end: DialogueEnd): void {
    const done = this.#waiting.shift();
    this.#line = this.#shown = undefined;
    const [following] = this.#waiting;
    if (following === undefined) this.#stage.onChange();
    else this.#open(following.dialogue.first);
    done?.resolve(end);
  }
}
