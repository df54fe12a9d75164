/** A form at a terminal: one question for each field, then a look at all answers before they are sent. Pure. */
import type { QuestionField } from "../../protocol/question_form.ts";
import type { FieldValue } from "../../protocol/questions.ts";
import type { Dialogue } from "../../terminal/editor/line_editor.ts";
import { alignColumns, quoteText } from "../../terminal/shapes.ts";
import { countOf } from "../../text/text.ts";
import { defaultOf, labelOf, longTexts, optionLines, promptOf, readTyped, valueText } from "./field_text.ts";
import { describeAsker, describeTimeLeft, type ShownForm } from "./shown_question.ts";

/** The most lines of a field's description that are shown, of a long title, and of a long default. */
const MAX_TEXT_LINES = 10;
const MAX_PROBLEMS = 10;

type Asked = Dialogue["first"];

export interface FormStart {
  readonly columns: number;
  /** Values that an empty line stands for, in place of the defaults. */
  readonly presets?: Readonly<Record<string, FieldValue>> | undefined;
}

export class FormDialogue implements Dialogue {
  readonly #form: ShownForm;
  readonly #columns: number;
  readonly #values = new Map<string, FieldValue | undefined>();
  /** The index of the field that is asked for; after the last one comes the review. */
  #at = 0;
  #isAccepted = false;

  constructor(form: ShownForm, { columns, presets = {} }: FormStart) {
    this.#form = form;
    this.#columns = columns;
    for (const [name, value] of Object.entries(presets)) this.#values.set(name, value);
  }

  get signal(): AbortSignal {
    return this.#form.signal;
  }

  get first(): Asked {
    const head = formHead(this.#form, this.#columns);
    const { text, check } = this.#question();
    return { text: `${head.join("\n")}\n${text}`, check };
  }

  readonly next = (answer: string): Asked | undefined => {
    const field = this.#field;
    if (field === undefined) return this.#decide(answer);
    const { value } = readTyped(field, answer, this.#presetOf(field));
    this.#values.set(field.name, value);
    this.#at++;
    const isOnlyField = this.#form.fields.length === 1;
    if (this.#field === undefined && isOnlyField) return this.#accept();
    return this.#question();
  };

  /** The answers; `undefined` unless the person has agreed to send them. */
  get content(): Record<string, FieldValue> | undefined {
    if (!this.#isAccepted) return undefined;
    const names = new Set(this.#form.fields.map(({ name }) => name));
    const given = [...this.#values].flatMap(([name, value]): [string, FieldValue][] =>
      value === undefined || !names.has(name) ? [] : [[name, value]]
    );
    return Object.fromEntries(given);
  }

  get #field(): QuestionField | undefined {
    return this.#form.fields[this.#at];
  }

  /** Earlier answers come before the default. */
  #presetOf(field: QuestionField): FieldValue | undefined {
    return this.#values.get(field.name) ?? defaultOf(field);
  }

  #question(): Asked {
    const field = this.#field;
    if (field === undefined) return this.#review();
    const preset = this.#presetOf(field);
    const count = this.#form.fields.length;
    const number = count === 1 ? "" : `${this.#at + 1}/${count} `;
    const texts = [...longTexts(field, preset), field.description ?? ""];
    const quoted = texts.flatMap((text) =>
      quoteText(text, { columns: this.#columns, maxLines: MAX_TEXT_LINES })
    );
    const above = [...quoted, ...optionLines(field)];
    return {
      text: [...above.filter((line) => line !== ""), `${number}${promptOf(field, preset)}`].join("\n"),
      check: (typed) => readTyped(field, typed, preset).problem,
    };
  }

  #review(): Asked {
    const { fields } = this.#form;
    if (fields.length === 0) {
      return { text: "Accept? [y]es, [N]o: ", check: checkWord(REVIEW_WORDS, "y or n") };
    }
    const rows = fields.map((field) => {
      const value = this.#values.get(field.name);
      return ["", labelOf(field), value === undefined ? "—" : valueText(field, value)];
    });
    const lines = alignColumns(rows, { width: this.#columns - 1, flexible: 2 });
    const text = `${lines.join("\n")}\nSend these answers? [Y]es, [c]hange, [n]o (decline): `;
    return { text, check: checkWord(REVIEW_WORDS, "y, c or n") };
  }

  /** Takes the answer to the review. An empty line sends answers, but accepts nothing that has no fields. */
  #decide(answer: string): Asked | undefined {
    const { fields } = this.#form;
    const word = REVIEW_WORDS.get(answer.trim().toLowerCase() || (fields.length === 0 ? "n" : "y"));
    if (word === "yes") return this.#accept();
    if (word === "no" || fields.length === 0) return undefined;
    this.#at = 0;
    return this.#question();
  }

  #accept(): undefined {
    this.#isAccepted = true;
  }
}

type ReviewWord = "yes" | "no" | "change";

const REVIEW_WORDS: ReadonlyMap<string, ReviewWord> = new Map([
  ["y", "yes"],
  ["yes", "yes"],
  ["n", "no"],
  ["no", "no"],
  ["c", "change"],
  ["change", "change"],
]);

/** Complains of a word that is not in the table; an empty line is the default. */
export function checkWord(words: ReadonlyMap<string, unknown>, expected: string) {
  return (typed: string): string | undefined => {
    const word = typed.trim().toLowerCase();
    return word === "" || words.has(word) ? undefined : `Invalid answer: enter ${expected}`;
  };
}

function formHead(form: ShownForm, columns: number): string[] {
  const { asker, message, problems, fields, timeLeftMs } = form;
  const shownProblems = problems.slice(0, MAX_PROBLEMS).flatMap((problem) =>
    quoteText(problem, { columns, maxLines: 2 })
  );
  const count = fields.length > 1 ? `${countOf(fields.length, "field")}. ` : "";
  return [
    `${describeAsker(asker)}:`,
    ...quoteText(message, { columns }),
    ...(shownProblems.length === 0 ? [] : ["Not yet right:", ...shownProblems]),
    `${count}Ctrl-D declines, Ctrl-C cancels. The call waits ${describeTimeLeft(timeLeftMs)}. ` +
    "Enter no passwords or keys.",
  ];
}
