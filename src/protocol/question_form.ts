/**
 * Forms of questions: the restricted JSON Schema in which MCP servers ask (flat objects of texts, numbers, booleans and
 * choices), and the check of an answer. Pure.
 */
import { isRecord, isTexts } from "../json/json.ts";

export const MAX_FORM_FIELDS = 100;
const MAX_FIELD_OPTIONS = 1_000;

/** The formats of a text. */
export type TextFormat = "email" | "uri" | "date" | "date-time";

const FORMATS: readonly TextFormat[] = ["email", "uri", "date", "date-time"];

/** The members of every field of a form. */
export interface FieldBase {
  /** The name of the value in the answer. */
  readonly name: string;
  /** The title, for display. */
  readonly title: string | undefined;
  /** What the field means, for display. */
  readonly description: string | undefined;
  /** Whether an answer must have the field. */
  readonly isRequired: boolean;
}

/** One of the values that a choice allows. */
export interface FieldOption {
  /** The value in the answer. */
  readonly value: string;
  /** The text for display. */
  readonly label: string;
}

/** A text. */
export interface TextField extends FieldBase {
  /** The discriminator of the union. */
  readonly kind: "text";
  /** How the text must look. */
  readonly format: TextFormat | undefined;
  /** The least characters. */
  readonly minLength: number | undefined;
  /** The most characters. */
  readonly maxLength: number | undefined;
  /** The value when the answer has none. */
  readonly default: string | undefined;
}

/** A number. */
export interface NumberField extends FieldBase {
  /** The discriminator of the union. */
  readonly kind: "number";
  /** Whether the number must be whole. */
  readonly isInteger: boolean;
  /** The lowest number. */
  readonly minimum: number | undefined;
  /** The highest number. */
  readonly maximum: number | undefined;
  /** The value when the answer has none. */
  readonly default: number | undefined;
}

/** A yes or no. */
export interface BooleanField extends FieldBase {
  /** The discriminator of the union. */
  readonly kind: "boolean";
  /** The value when the answer has none. */
  readonly default: boolean | undefined;
}

/** One of several values. */
export interface ChoiceField extends FieldBase {
  /** The discriminator of the union. */
  readonly kind: "choice";
  /** The allowed values. */
  readonly options: readonly FieldOption[];
  /** The value when the answer has none. */
  readonly default: string | undefined;
}

/** Any of several values. */
export interface ChoicesField extends FieldBase {
  /** The discriminator of the union. */
  readonly kind: "choices";
  /** The allowed values. */
  readonly options: readonly FieldOption[];
  /** The least values. */
  readonly minItems: number | undefined;
  /** The most values. */
  readonly maxItems: number | undefined;
  /** The value when the answer has none. */
  readonly default: readonly string[] | undefined;
}

/** A field of a form; a union discriminated by `kind`. */
export type QuestionField = TextField | NumberField | BooleanField | ChoiceField | ChoicesField;

/**
 * Reads the schema of a form. Keywords without a meaning for the form are ignored.
 *
 * @throws {TypeError} when it is not a form of MCP, with the field and the reason.
 */
export function readForm(schema: Readonly<Record<string, unknown>>): QuestionField[] {
  const { type = "object", properties, required = [] } = schema;
  if (type !== "object" || !isRecord(properties)) {
    throw new TypeError("Cannot read form: its schema is not an object with properties");
  }
  const entries = Object.entries(properties);
  if (entries.length > MAX_FORM_FIELDS) {
    throw new TypeError(`Cannot read form: more than ${MAX_FORM_FIELDS} fields`);
  }
  const names = new Set(Array.isArray(required) ? required : []);
  return entries.map(([name, property]) => {
    if (!isRecord(property)) throw unreadable(name, "not an object");
    return readField(property, {
      name,
      title: textOf(property["title"]),
      description: textOf(property["description"]),
      isRequired: names.has(name),
    });
  });
}

function readField(property: Readonly<Record<string, unknown>>, base: FieldBase): QuestionField {
  switch (property["type"]) {
    case "string":
      return readTextOrChoice(property, base);
    case "number":
    case "integer":
      return {
        ...base,
        kind: "number",
        isInteger: property["type"] === "integer",
        minimum: numberOf(property["minimum"]),
        maximum: numberOf(property["maximum"]),
        default: numberOf(property["default"]),
      };
    case "boolean":
      return {
        ...base,
        kind: "boolean",
        default: typeof property["default"] === "boolean" ? property["default"] : undefined,
      };
    case "array":
      return readChoices(property, base);
    default:
      throw unreadable(base.name, "its type is not string, number, integer, boolean or array");
  }
}

function readTextOrChoice(
  property: Readonly<Record<string, unknown>>,
  base: FieldBase,
): TextField | ChoiceField {
  const preset = textOf(property["default"]);
  const options = readOptions(property, "oneOf", base.name);
  if (options !== undefined) return { ...base, kind: "choice", options, default: preset };
  return {
    ...base,
    kind: "text",
    format: FORMATS.find((format) => format === property["format"]),
    minLength: numberOf(property["minLength"]),
    maxLength: numberOf(property["maxLength"]),
    default: preset,
  };
}

function readChoices(property: Readonly<Record<string, unknown>>, base: FieldBase): ChoicesField {
  const { items, default: preset } = property;
  const options = isRecord(items) ? readOptions(items, "anyOf", base.name) : undefined;
  if (options === undefined) throw unreadable(base.name, "its items have no list of allowed values");
  return {
    ...base,
    kind: "choices",
    options,
    minItems: numberOf(property["minItems"]),
    maxItems: numberOf(property["maxItems"]),
    default: isTexts(preset) ? preset : undefined,
  };
}

/** The allowed values: `enum`, with `enumNames` for display, or a list of `{ const, title }`. */
function readOptions(
  property: Readonly<Record<string, unknown>>,
  listed: "oneOf" | "anyOf",
  name: string,
): FieldOption[] | undefined {
  const { enum: values, enumNames: labels, [listed]: titled } = property;
  const given = values ?? titled;
  if (given === undefined) return undefined;
  if (!Array.isArray(given) || given.length === 0 || given.length > MAX_FIELD_OPTIONS) {
    throw unreadable(name, `its allowed values are not a list of 1 to ${MAX_FIELD_OPTIONS}`);
  }
  return given.map((option, index) => {
    const { const: value, title } = isRecord(option)
      ? option
      : { const: option, title: Array.isArray(labels) ? labels[index] : undefined };
    if (typeof value !== "string") throw unreadable(name, "an allowed value is not a text");
    return { value, label: textOf(title) ?? value };
  });
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

function unreadable(field: string, why: string): TypeError {
  return new TypeError(`Cannot read form field "${field}": ${why}`);
}
