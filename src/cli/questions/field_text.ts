/** Fields of a form as text at a terminal: what a person types for a value, and how a field is labelled. Pure. */
import { fieldProblem } from "../../protocol/form_answer.ts";
import type {
  ChoiceField,
  ChoicesField,
  FieldOption,
  QuestionField,
  TextField,
} from "../../protocol/question_form.ts";
import type { FieldValue } from "../../protocol/questions.ts";
import { toSafeLine } from "../../text/safe_text.ts";
import { countOf, shorten } from "../../text/text.ts";

/** The most characters of a title, an option or a value in a line; a longer one could pass for further lines. */
const MAX_SHOWN_LENGTH = 60;
/** The most options that are listed; the text of any other one can be typed. */
const MAX_LISTED_OPTIONS = 100;
/** The most characters of a name that is to be typed. */
const MAX_FIELD_NAME_LENGTH = 300;
/** The most options that are named on the line of their field. */
const MAX_NAMED_OPTIONS = 10;
/** What stands for the empty text, and for none of the options: an empty line stands for the default. */
const NOTHING = '""';

/** What a typed line means: a value, no value, or what is wrong with the line. */
export type TypedValue =
  | { readonly value: FieldValue | undefined; readonly problem?: undefined }
  | { readonly value?: undefined; readonly problem: string };

/** @param preset The value that an empty line stands for. */
export function readTyped(field: QuestionField, typed: string, preset?: FieldValue): TypedValue {
  if (typed.trim() === "" && preset === undefined) {
    return field.isRequired ? { problem: `${labelOf(field)} is required` } : { value: undefined };
  }
  const value = typed.trim() === "" ? preset : parseTyped(field, typed);
  if (value === undefined) return { problem: `${labelOf(field)} must be ${expected(field)}` };
  const problem = fieldProblem(field, value);
  return problem === undefined ? { value } : { problem: toSafeLine(`${labelOf(field)} ${problem}`) };
}

function parseTyped(field: QuestionField, typed: string): FieldValue | undefined {
  switch (field.kind) {
    case "text":
      if (typed.trim() === NOTHING) return "";
      return field.format === undefined ? typed : typed.trim();
    case "number":
      return parseNumber(typed.trim());
    case "boolean":
      return BOOLEANS.get(typed.trim().toLowerCase());
    case "choice":
      return findOption(field.options, typed)?.value;
    case "choices":
      return parseChoices(field, typed);
  }
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ["y", true],
  ["yes", true],
  ["true", true],
  ["n", false],
  ["no", false],
  ["false", false],
]);

function parseNumber(typed: string): number | undefined {
  const value = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(typed) ? Number(typed) : NaN;
  return Number.isFinite(value) ? value : undefined;
}

/** Finds an option by its value, its label or its number, in this order. */
function findOption(options: readonly FieldOption[], typed: string): FieldOption | undefined {
  const wanted = typed.trim();
  return options.find(({ value }) => value === wanted) ?? options.find(({ label }) => label === wanted) ??
    options.find(({ label }) => label.toLowerCase() === wanted.toLowerCase()) ??
    (/^\d{1,6}$/.test(wanted) ? options[Number(wanted) - 1] : undefined);
}

/** Reads options between commas. An option that contains a comma is chosen by its number, or alone. */
function parseChoices({ options }: ChoicesField, typed: string): string[] | undefined {
  if (typed.trim() === NOTHING) return [];
  const whole = findOption(options, typed);
  if (whole !== undefined) return [whole.value];
  const chosen = typed.split(",").filter((part) => part.trim() !== "").map((part) =>
    findOption(options, part)?.value
  );
  return chosen.every((value) => value !== undefined) ? [...new Set(chosen)] : undefined;
}

/** What a line must be, for the message about a line that is something else. */
function expected(field: QuestionField): string {
  switch (field.kind) {
    case "text":
      return "a text";
    case "number":
      return field.isInteger ? "a whole number, such as 3" : "a number, such as 1.5";
    case "boolean":
      return "y or n";
    case "choice":
      return `a number from 1 to ${field.options.length}, or one of the options`;
    case "choices":
      return `numbers from 1 to ${field.options.length}, or options, with commas between them`;
  }
}

/** The value that a field has unless it is given another one. */
export function defaultOf(field: QuestionField): FieldValue | undefined {
  return field.kind === "choices" ? field.default && [...field.default] : field.default;
}

export function labelOf({ title, name }: QuestionField): string {
  return `"${shorten(toSafeLine(title ?? "") || toSafeLine(name), MAX_SHOWN_LENGTH)}"`;
}

/** The title and the preset in full, as far as {@linkcode promptOf} cuts them. */
export function longTexts(field: QuestionField, preset: FieldValue | undefined): string[] {
  const title = toSafeLine(field.title ?? "") || toSafeLine(field.name);
  const value = preset === undefined ? "" : fullText(field, preset);
  return [
    ...(title.length > MAX_SHOWN_LENGTH ? [title] : []),
    ...(value.length > MAX_SHOWN_LENGTH ? [`Without an answer: ${value}`] : []),
  ];
}

/** The text before the answer: label, what the field takes, and the value that an empty line stands for. */
export function promptOf(field: QuestionField, preset: FieldValue | undefined): string {
  const hints = [...(field.isRequired ? ["required"] : []), ...hintsOf(field)];
  const hint = hints.length === 0 ? "" : ` (${hints.join(", ")})`;
  return `${labelOf(field)}${hint}${preset === undefined ? "" : ` [${valueText(field, preset)}]`}: `;
}

/** A field on one line, with all that a value must be, typed or as JSON: `kind (required, rye or wheat)`. */
export function describeField(
  field: QuestionField,
  { isJson = false }: { readonly isJson?: boolean } = {},
): string {
  const name = shorten(toSafeLine(field.name), MAX_FIELD_NAME_LENGTH);
  const kind = field.kind === "choice" || field.kind === "choices"
    ? optionHints(field, isJson)
    : isJson && field.kind === "boolean"
    ? ["true or false"]
    : hintsOf(field);
  const hints = [...(field.isRequired ? ["required"] : []), ...kind];
  return hints.length === 0 ? name : `${name} (${hints.join(", ")})`;
}

function optionHints(field: ChoiceField | ChoicesField, isJson: boolean): string[] {
  const named = field.options.slice(0, MAX_NAMED_OPTIONS).map(({ value }) =>
    shorten(toSafeLine(value), MAX_SHOWN_LENGTH)
  );
  const more = field.options.length - named.length;
  const last = more === 0 ? named.splice(-1) : [countOf(more, "more option")];
  const options = [named.join(", "), ...last].filter((text) => text !== "").join(" or ");
  if (field.kind === "choice") return [options];
  return [
    options,
    isJson ? "a list" : "with commas",
    ...rangeHints(field.minItems, field.maxItems, "option"),
  ];
}

function hintsOf(field: QuestionField): string[] {
  switch (field.kind) {
    case "text":
      return textHints(field);
    case "number":
      return [field.isInteger ? "whole number" : "number", ...rangeHints(field.minimum, field.maximum)];
    case "boolean":
      return ["y/n"];
    case "choice":
      return ["number or text"];
    case "choices":
      return ["numbers or texts, with commas", ...rangeHints(field.minItems, field.maxItems, "option")];
  }
}

function textHints({ format, minLength, maxLength }: TextField): string[] {
  return [
    ...(format === undefined ? [] : [FORMAT_HINTS[format]]),
    ...rangeHints(minLength === 0 ? undefined : minLength, maxLength, "character"),
  ];
}

const FORMAT_HINTS = {
  email: "email address",
  uri: "URL",
  date: "date, such as 2026-01-31",
  "date-time": "date and time, such as 2026-01-31T12:00:00Z",
} as const;

function rangeHints(least: number | undefined, most: number | undefined, unit?: string): string[] {
  const counted = (count: number) => unit === undefined ? `${count}` : countOf(count, unit);
  if (least !== undefined && most !== undefined) return [`${least} to ${counted(most)}`];
  if (least !== undefined) return [`at least ${counted(least)}`];
  return most === undefined ? [] : [`at most ${counted(most)}`];
}

export function optionLines(field: QuestionField): string[] {
  if (field.kind !== "choice" && field.kind !== "choices") return [];
  const listed = field.options.slice(0, MAX_LISTED_OPTIONS);
  const digits = `${listed.length}`.length;
  const lines = listed.map(({ label, value }, i) =>
    `  ${`${i + 1}`.padStart(digits)}  ${shorten(toSafeLine(label) || toSafeLine(value), MAX_SHOWN_LENGTH)}`
  );
  const more = field.options.length - listed.length;
  return more === 0 ? lines : [...lines, `  … ${countOf(more, "more option")}`];
}

export function valueText(field: QuestionField, value: FieldValue): string {
  return shorten(fullText(field, value), MAX_SHOWN_LENGTH);
}

function fullText(field: QuestionField, value: FieldValue): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  const texts = Array.isArray(value) ? value : [`${value}`];
  const shown = texts.map((text) => toSafeLine(optionLabel(field, text) ?? text)).join(", ");
  return shown === "" ? NOTHING : shown;
}

function optionLabel(field: QuestionField, value: string): string | undefined {
  const { options = [] } = field.kind === "choice" || field.kind === "choices" ? field : {};
  return options.find((option) => option.value === value)?.label;
}
