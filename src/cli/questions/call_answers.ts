/** Who answers the questions of one call: the options of the command line, the person who typed it, or nobody. */
import type { Answer, FieldValue } from "../../protocol/questions.ts";
import { toSafeLine } from "../../text/safe_text.ts";
import { shorten } from "../../text/text.ts";
import { defaultOf, describeField, readTyped } from "./field_text.ts";
import {
  type AnswerShown,
  describeAsker,
  type Note,
  type ShownForm,
  type ShownQuestion,
} from "./shown_question.ts";
import type { AskingOptions, AskPerson } from "./terminal_answers.ts";
import { checkContent, type CheckedContent } from "../../protocol/form_answer.ts";
import type { QuestionField } from "../../protocol/question_form.ts";

const MAX_MESSAGE_LENGTH = 300;
const MAX_NOTES = 100;

export interface CallPerson {
  readonly ask: AskPerson;
  /** Whether questions are to be asked here even if no option of the call answers one. */
  readonly isHere: boolean;
  /** Tells something during the call, where nothing shows its progress. */
  readonly tell: (note: Note) => void;
}

export interface AnswerOptions extends GivenInput {
  readonly isApproved: boolean;
  /** Whether to offer answers even if nobody is there. */
  readonly isOffered: boolean;
}

/** Answers the questions of a call: by its options if they suffice, else by the person. Without either it declines. */
export class CallAnswers {
  readonly #options: AnswerOptions;
  readonly #given: GivenAnswers;
  readonly #person: CallPerson;
  readonly #notes: Note[] = [];

  constructor(options: AnswerOptions, person: CallPerson) {
    this.#options = options;
    this.#given = new GivenAnswers(options);
    this.#person = person;
  }

  /** Answers a question; `undefined` when the call should not offer to answer any. */
  get answer(): AnswerShown | undefined {
    const { isApproved, isOffered } = this.#options;
    const isAnswering = this.#person.isHere || isApproved || isOffered || !this.#given.isEmpty;
    return isAnswering ? (question) => this.#answer(question) : undefined;
  }

  /** The questions that were declined because nobody was there, and the answers that no question asked for. */
  get notes(): readonly Note[] {
    const { unused } = this.#given;
    const names = unused.map((name) => toSafeLine(JSON.stringify(name))).join(", ");
    const note = { text: `No question asked for ${names}`, value: { unused_answers: unused } };
    return unused.length === 0 ? this.#notes : [...this.#notes, note];
  }

  async #answer(question: ShownQuestion): Promise<Answer> {
    const { answer, problems = [], presets } = this.#answerByOptions(question);
    if (answer !== undefined) return answer;
    const asked = { ...question, problems: [...question.problems, ...problems] };
    const given = await this.#person.ask(asked, { presets });
    if (given !== undefined) return given;
    if (this.#notes.length < MAX_NOTES) this.#notes.push(declinedNote(question, problems));
    return { action: "decline" };
  }

  #answerByOptions(question: ShownQuestion): AnswerByOptions {
    if (question.mode === "approval") {
      return this.#options.isApproved ? { answer: { action: "accept" } } : {};
    }
    // Answers that were refused once would be refused again.
    if (question.mode !== "form" || this.#given.isEmpty || question.problems.length > 0) return {};
    const filled = this.#given.fill(question.fields);
    return filled.problems === undefined ? { answer: { action: "accept", content: filled.content } } : filled;
  }
}

/** The answer, or why the options do not give one, and what they give. */
interface AnswerByOptions extends AskingOptions {
  readonly answer?: Answer;
  readonly problems?: readonly string[] | undefined;
}

function declinedNote(question: ShownQuestion, problems: readonly string[]): Note {
  const { asker: { computer, server: mcp_server, tool }, message, mode } = question;
  const why = problems.length === 0 ? "nobody can be asked here" : toSafeLine(problems.join("; "));
  const asked = shorten(toSafeLine(message), MAX_MESSAGE_LENGTH);
  const shared = { mode, ...(computer === undefined ? {} : { computer }), mcp_server, tool, message };
  const { what, remedy, members } = describeQuestion(question);
  return {
    text: `${describeAsker(question.asker, what)}: ${
      asked === "" ? "" : `"${asked}". `
    }Declined: ${why}. ${remedy}`,
    value: { question: { ...shared, ...members }, answer: "decline", problems },
  };
}

interface QuestionWords {
  readonly what?: string;
  readonly remedy: string;
  readonly members: Readonly<Record<string, unknown>>;
}

function describeQuestion(question: ShownQuestion): QuestionWords {
  switch (question.mode) {
    case "form":
      return { remedy: howToAnswer(question), members: { schema: question.schema } };
    case "url": {
      const url = new URL(question.url).href;
      return {
        what: "asks you to open a page",
        remedy: `Run the command at a terminal to answer. Page: ${url}`,
        members: { url },
      };
    }
    case "approval":
      return {
        what: "has a tool that needs an approval,",
        remedy: "Approve with --approve",
        members: { params: question.params },
      };
  }
}

function howToAnswer({ fields }: ShownForm): string {
  if (fields.length === 0) return "Accept with --answers '{}'";
  return `Answer with --answer NAME=VALUE: ${fields.map((field) => describeField(field)).join(", ")}`;
}

type GivenContent =
  | { readonly content: Record<string, FieldValue>; readonly problems?: undefined }
  /** What is missing or wrong, one sentence for each field; and the answers that are right. */
  | {
    readonly content?: undefined;
    readonly problems: readonly string[];
    readonly presets: Readonly<Record<string, FieldValue>>;
  };

/** The answers of a command line. A form takes the answers with the names of its fields. */
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

interface GivenInput {
  readonly texts: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, unknown>> | undefined;
}
