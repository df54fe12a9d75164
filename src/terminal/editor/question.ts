/** Questions to whoever sits at the terminal: their forms, and what an answer means. */
import { printable, printableLine } from "../safe_text.ts";

/** A question with an answer of one line. */
export interface Question {
  /** What is asked; all but its last line stands above. Strangers' words are made harmless. */
  readonly text: string;
  /** Whether the answer stays invisible. */
  readonly isHidden?: boolean | undefined;
  /** The answer that an empty line means. */
  readonly default?: string | undefined;
  /** Says what is wrong with an answer, which is then asked for again; nothing by default. */
  readonly check?: ((answer: string) => string | undefined) | undefined;
  /** Withdraws the question. */
  readonly signal?: AbortSignal | undefined;
}

/** A question with a few possible answers. */
export interface Choice extends Omit<Question, "isHidden" | "check"> {
  readonly options: readonly string[];
}

/** Asks a question; `undefined` when it was refused or withdrawn. */
export type Ask = (question: Question) => Promise<string | undefined>;

/** What stands above a question, and what stands before its answer. */
export interface QuestionText {
  readonly above: string | undefined;
  readonly prompt: string;
}

/** Writes a question with its default, which is not shown when the answer would not be. */
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

/** Asks for one of the options: by its number, or by itself. */
export async function choose(ask: Ask, { text, options, ...rest }: Choice): Promise<string | undefined> {
  const list = options.map((option, i) => `  ${i + 1}  ${printableLine(option)}\n`).join("");
  const find = (answer: string) => options.find((option) => option === answer) ?? options[toIndex(answer)];
  const check = (answer: string) =>
    find(answer) === undefined
      ? `"${answer}" is none of them: give a number from 1 to ${options.length}`
      : undefined;
  const answer = await ask({ ...rest, text: `${list}${text}`, check });
  return answer === undefined ? undefined : find(answer);
}

function toIndex(answer: string): number {
  return /^\s*\d+\s*$/.test(answer) ? Number(answer) - 1 : -1;
}
