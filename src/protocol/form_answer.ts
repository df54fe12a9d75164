/** Checks the answer to a form: each value against its field. Pure. */
import { countOf, isDate, shorten } from "../text/text.ts";
import type {
  ChoicesField,
  FieldOption,
  NumberField,
  QuestionField,
  TextField,
  TextFormat,
} from "./question_form.ts";
import type { FieldValue } from "./questions.ts";

const MAX_LISTED = 10;
const MAX_QUOTED_NAME_LENGTH = 128;
const MAX_PROBLEMS = 20;

const EMAIL = /^[^\s@]+@[^\s@]+$/;
const DATE_TIME = /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i;

/** How a text of each format must look. */
const FORMATS: Readonly<
  Record<TextFormat, { readonly isValid: (text: string) => boolean; readonly what: string }>
> = {
  email: { isValid: (text) => EMAIL.test(text), what: "an email address" },
  uri: { isValid: (text) => URL.canParse(text), what: "a URL" },
  date: { isValid: isDate, what: "a date such as 2026-01-31" },
  "date-time": { isValid: isDateTime, what: "a date and time such as 2026-01-31T12:00:00Z" },
};

/** A complete answer, or what is wrong with it, one sentence for each field. */
export type CheckedContent =
  | { readonly content: Record<string, FieldValue>; readonly problems?: undefined }
  | { readonly content?: undefined; readonly problems: readonly string[] };

/**
 * Checks the answer to a form. A field without a value takes its default.
 *
 * @param content the values by name
 */
export function checkContent(
  fields: readonly QuestionField[],
  content: Readonly<Record<string, unknown>>,
): CheckedContent {
  const problems: string[] = [];
  const values: [string, FieldValue][] = [];
  for (const field of fields) {
    const value = valueOf(field, content);
    const problem = value === undefined ? missing(field) : fieldProblem(field, value);
    if (problem !== undefined) problems.push(`${quoted(field.name)} ${problem}`);
    else if (value !== undefined) values.push([field.name, value as FieldValue]);
  }
  const known = new Set(fields.map(({ name }) => name));
  for (const name of Object.keys(content)) {
    if (!known.has(name)) problems.push(`${quoted(name)} is not a field of the form`);
  }
  return problems.length === 0
    ? { content: Object.fromEntries(values) }
    : { problems: problems.slice(0, MAX_PROBLEMS) };
}

/** What is wrong with the value of a field, such as `must be at least 3`; `undefined` for a valid one. */
export function fieldProblem(field: QuestionField, value: unknown): string | undefined {
  switch (field.kind) {
    case "text":
      return typeof value === "string" ? textProblem(field, value) : "must be a text";
    case "number":
      return typeof value === "number" && Number.isFinite(value)
        ? numberProblem(field, value)
        : wrongNumber(field);
    case "boolean":
      return typeof value === "boolean" ? undefined : "must be true or false";
    case "choice":
      return field.options.some((option) => option.value === value)
        ? undefined
        : `must be one of ${list(field)}`;
    case "choices":
      return choicesProblem(field, value);
  }
}

/** Null means absent, as people and programs write either. */
function valueOf(field: QuestionField, content: Readonly<Record<string, unknown>>): unknown {
  const given = Object.hasOwn(content, field.name) ? content[field.name] ?? undefined : undefined;
  if (given !== undefined || field.default === undefined) return given;
  return field.kind === "choices" ? [...field.default ?? []] : field.default;
}

function missing({ isRequired }: QuestionField): string | undefined {
  return isRequired ? "is missing" : undefined;
}

function textProblem(
  { format, minLength = 0, maxLength = Infinity }: TextField,
  text: string,
): string | undefined {
  const length = [...text].length;
  if (length < minLength) return `must have at least ${countOf(minLength, "character")}`;
  if (length > maxLength) return `must have at most ${countOf(maxLength, "character")}`;
  if (format === undefined || FORMATS[format].isValid(text)) return undefined;
  return `must be ${FORMATS[format].what}`;
}

function numberProblem(field: NumberField, value: number): string | undefined {
  const { isInteger, minimum = -Infinity, maximum = Infinity } = field;
  if (isInteger && !Number.isInteger(value)) return wrongNumber(field);
  if (value < minimum) return `must be at least ${minimum}`;
  return value > maximum ? `must be at most ${maximum}` : undefined;
}

function wrongNumber({ isInteger }: NumberField): string {
  return isInteger ? "must be a whole number" : "must be a number";
}

function choicesProblem(field: ChoicesField, value: unknown): string | undefined {
  const { options, minItems = 0, maxItems = Infinity } = field;
  const allowed = new Set<unknown>(options.map((option) => option.value));
  if (!Array.isArray(value) || !value.every((item) => allowed.has(item))) {
    return `must be a list of ${list(field)}`;
  }
  if (new Set(value).size < value.length) return "must not have a value twice";
  if (value.length < minItems) return `must have at least ${countOf(minItems, "value")}`;
  return value.length > maxItems ? `must have at most ${countOf(maxItems, "value")}` : undefined;
}

function list({ options }: { readonly options: readonly FieldOption[] }): string {
  const shown = options.slice(0, MAX_LISTED).map(({ value }) => quoted(value));
  const more = options.length - shown.length;
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].join(", ");
}

function quoted(name: string): string {
  return JSON.stringify(shorten(name, MAX_QUOTED_NAME_LENGTH));
}

export function isDateTime(text: string): boolean {
  const [, date] = DATE_TIME.exec(text) ?? [];
  return date !== undefined && isDate(date);
}
