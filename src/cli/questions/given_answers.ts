/** Answers that were given on the command line: `--answer NAME=VALUE` and `--answers JSON`. */
import { checkContent, type CheckedContent } from "../../protocol/form_answer.ts";
import type { QuestionField } from "../../protocol/question_form.ts";
import type { FieldValue } from "../../protocol/questions.ts";
import { defaultOf, readTyped } from "./field_text.ts";

export type GivenContent =
  | { readonly content: Record<string, FieldValue>; readonly problems?: undefined }
  /** What is missing or wrong, one sentence for each field; and the answers that are right. */
  | {
    readonly content?: undefined;
    readonly problems: readonly string[];
    readonly presets: Readonly<Record<string, FieldValue>>;
  };

/** The answers of a command line. A form takes those whose names are its fields. */
export class GivenAnswers {
  readonly #texts: Readonly<Record<string, string>>;
  readonly #values: Readonly<Record<string, unknown>>;
  readonly #unused: Set<string>;

  /**
   * @param given `texts` as they were typed, read by the kind of each field; `values` from JSON, or `undefined` without
   *   `--answers`.
   */
  constructor({ texts, values }: GivenInput) {
    this.#texts = texts;
    this.#values = values ?? {};
    this.#unused = new Set([...Object.keys(texts), ...Object.keys(this.#values)]);
    this.isEmpty = this.#unused.size === 0 && values === undefined;
  }

  /** Whether there are none; `--answers '{}'` is one: the defaults of each form. */
  readonly isEmpty: boolean;

  /** The names that no form has had as a field. */
  get unused(): readonly string[] {
    return [...this.#unused];
  }

  fill(fields: readonly QuestionField[]): GivenContent {
    const problems: string[] = [];
    const values: [string, FieldValue][] = [];
    for (const field of fields) {
      const { content = {}, problems: wrong = [] } = this.#fillField(field);
      problems.push(...wrong);
      values.push(...Object.entries(content));
    }
    const content = Object.fromEntries(values);
    return problems.length === 0 ? { content } : { problems, presets: content };
  }

  #fillField(field: QuestionField): CheckedContent {
    const { name } = field;
    this.#unused.delete(name);
    const text = Object.hasOwn(this.#texts, name) ? this.#texts[name] : undefined;
    if (text === undefined) {
      return checkContent([field], Object.hasOwn(this.#values, name) ? { [name]: this.#values[name] } : {});
    }
    const { value, problem } = readTyped(field, text, defaultOf(field));
    if (problem !== undefined) return { problems: [problem] };
    return checkContent([field], value === undefined ? {} : { [name]: value });
  }
}

export interface GivenInput {
  readonly texts: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, unknown>> | undefined;
}
