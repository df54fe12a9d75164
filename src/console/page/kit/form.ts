/** A form from a JSON Schema: for the arguments of a tool, for questions of MCP servers, and for all that a page asks. */
import { useState } from "preact/hooks";
import { escapeUnreadable, toBareLine } from "../../../text/safe_text.ts";
import { texts } from "../texts.ts";
import { messageOf } from "./client.ts";
import { Button, type ButtonProps, type Deed, Dialog, perform } from "./parts.ts";
import { failureOf, html, nameText, proseOf, type View } from "./words.ts";

export type Values = Readonly<Record<string, unknown>>;

interface FormProps {
  readonly schema: Values;
  readonly submit: string;
  readonly kind?: ButtonProps["kind"];
  readonly onSubmit: (values: Values) => unknown;
  readonly children?: View;
}

const AS_JSON: Values = { properties: { json: { title: texts.asJson, default: {} } } };

/** The most fields that a form shows: a browser stands still over more. */
const MAX_FIELDS = 500;

/** Fields that are left empty are left out. A schema without `properties`, or with too many, is asked for as JSON. */
export function Form({ schema, submit, kind = "primary", onSubmit, children }: FormProps): View {
  const isPlain = "properties" in schema &&
    Object.keys(recordOf(schema["properties"])).length <= MAX_FIELDS;
  const { properties, required = [] } = isPlain ? schema : AS_JSON;
  const fields = Object.entries(recordOf(properties)).map(([name, field]) => ({
    name,
    schema: recordOf(field),
  }));
  const presets = fields.filter(({ schema }) => "default" in schema);
  const [values, setValues] = useState<Values>(() =>
    Object.fromEntries(presets.map(({ name, schema }) => [name, schema["default"]]))
  );
  const wanted = new Set(Array.isArray(required) ? required : []);
  const isComplete = [...wanted].every((name) => values[name] !== undefined);
  const [refusal, setRefusal] = useState("");
  const send = async () => {
    setRefusal("");
    try {
      await onSubmit(isPlain ? values : recordOf(values["json"]));
    } catch (error) {
      setRefusal(messageOf(error));
    }
  };
  const fieldOf = (field: Pick<FieldProps, "name" | "schema">) => {
    const { name } = field;
    const onValue = (value: unknown) => setValues((last) => ({ ...last, [name]: value }));
    return html`
      <${Field} key=${name} ...${field} value=${values[name]} isRequired=${wanted.has(name)}
        problem=${problemOf(name, refusal)} onValue=${onValue} />
    `;
  };
  return html`<form class="form" onSubmit=${(event: Event) => event.preventDefault()}>
    ${fields.map(fieldOf)}${failureOf(refusal)}
    <div class="actions"><${Button} isSubmit kind=${kind} isOff=${!isComplete} onPress=${send}>${submit}<//>${children}</div>
  </form>`;
}

/** What a refusal such as `"size" must be …; "color" is missing` says of a field. */
function problemOf(name: string, refusal: string): string {
  const [, said = ""] = refusal.split(JSON.stringify(name));
  return /^ (is|must) /.test(said) ? said.replace(/;.*/s, "") : "";
}

interface FieldProps {
  readonly name: string;
  readonly schema: Values;
  readonly value: unknown;
  readonly isRequired: boolean;
  readonly problem: string;
  readonly onValue: (value: unknown) => void;
}

function Field({ name, isRequired, problem, ...input }: FieldProps): View {
  const { title, description } = input.schema;
  const label = typeof title === "string" ? toBareLine(title, 200) : nameText(name);
  return html`<label class="field">
    <span>${label}${isRequired && html`<em> ${texts.required}</em>`}${
    problem !== "" && html`<strong class="failure"> ${problem}</strong>`
  }</span>
    ${typeof description === "string" && html`<small>${proseOf(description, 600)}</small>`}
    <${Input} ...${input} />
  </label>`;
}

/** The kinds of inputs for texts of these formats. */
const TYPES: Values = { line: "text", email: "email", uri: "url", date: "date", password: "password" };

type InputProps = Pick<FieldProps, "schema" | "value" | "onValue">;

function Input({ schema, value, onValue }: InputProps): View {
  const { type, format, minimum: min, maximum: max, example } = schema;
  const isNumber = type === "number" || type === "integer";
  const choices = optionsOf(type === "array" ? recordOf(schema["items"]) : schema);
  const onInput = inputOf((text) => onValue(text === "" ? undefined : isNumber ? Number(text) : text));
  if (type === "boolean") {
    return html`<input type="checkbox" checked=${value === true} onChange=${inputOf(onValue, "checked")} />`;
  }
  if (choices.length > 0) return selectOf({ schema, value, onValue }, choices);
  const kind = isNumber ? "number" : type === "string" && TYPES[String(format)];
  if (typeof kind === "string") {
    return html`
      <input type=${kind} autocomplete="off" step=${type === "integer" ? 1 : "any"} min=${min}
        max=${max} value=${value ?? ""} onInput=${onInput} />
    `;
  }
  if (type === "string") {
    const isCode = format === "lines";
    // JSON means the same with the escapes of characters that hide or reorder what it says.
    const shown = isCode ? escapeUnreadable(String(value ?? "")) : value ?? "";
    return html`
      <textarea rows=${isCode ? 8 : 1} class=${isCode && "mono"} spellcheck=${false} placeholder=${example}
        value=${shown} onInput=${onInput} />
    `;
  }
  return html`
    <textarea rows="3" class="mono" spellcheck=${false} placeholder="JSON"
      value=${value === undefined ? "" : JSON.stringify(value)}
      onChange=${inputOf((text) => onValue(parseValue(text)))} />
  `;
}

function selectOf({ schema, value, onValue }: InputProps, choices: readonly Choice[]): View {
  const isList = schema["type"] === "array";
  const chosen = isList && Array.isArray(value) ? value : [value];
  const onChange = ({ target }: Event) => {
    const values = [...(target as HTMLSelectElement).selectedOptions].map((option) => option.value);
    onValue(isList ? values : values[0] || undefined);
  };
  const size = isList ? Math.min(6, choices.length) : 1;
  return html`<select multiple=${isList} size=${size} onChange=${onChange}>${
    !isList && html`<option value="">${texts.choose}</option>`
  }${
    choices.map(([each, label]) =>
      html`<option value=${each} selected=${chosen.includes(each)}>${label}</option>`
    )
  }</select>`;
}

type Choice = readonly [value: string, label: string];

/** The values of a choice: `enum` with `enumNames`, or `oneOf` and `anyOf` with `const` and `title`. */
function optionsOf({ enum: values, enumNames, oneOf, anyOf }: Values): Choice[] {
  const labels = Array.isArray(enumNames) ? enumNames : [];
  const named = ([oneOf, anyOf].find(Array.isArray) ?? []).map(recordOf);
  const found = Array.isArray(values)
    ? values.map((value, index) => [value, labels[index] ?? value])
    : named.map((each) => [each["const"], each["title"] ?? each["const"]]);
  return found.filter(([value]) => typeof value === "string")
    .map(([value, label]) => [value, toBareLine(String(label), 200)]);
}

export function inputOf<Member extends "value" | "checked" = "value">(
  take: (value: Member extends "checked" ? boolean : string) => void,
  member: Member = "value" as Member,
): (event: Event) => void {
  return (event) => take((event.target as HTMLInputElement)[member] as never);
}

/** What a text is as JSON; the text itself where it is none. */
export function parseValue(text: string): unknown {
  if (text.trim() === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function recordOf(value: unknown): Values {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value as Values : {};
}

interface AskProps extends Deed {
  readonly title: string;
  readonly about?: string;
  readonly kind?: ButtonProps["kind"];
  /** What the dialog asks for: the options of the command. */
  readonly schema?: Values;
  /** What is done with what was filled in. */
  readonly toDeed?: (values: Values) => Pick<Deed, "of" | "name" | "options">;
  readonly onDone?: () => void;
}

/** A button that runs a command when the person has confirmed it in a dialog, and filled in what it asks for. */
export function Ask(
  { title, about, kind, schema = { properties: {} }, toDeed = (options) => ({ options }), ...deed }: AskProps,
): View {
  const [isOpen, setOpen] = useState(false);
  const { label } = texts.deeds[deed.path];
  const work = async (values: Values) => {
    await perform({ ...deed, ...toDeed(values) });
    setOpen(false);
    deed.onDone?.();
  };
  return html`
    <${Button} kind=${kind} label=${title} onPress=${() => setOpen(true)}>${label}<//>
    ${isOpen && html`<${Dialog} title=${title} onClose=${() => setOpen(false)}>
      ${about !== undefined && html`<p>${about}</p>`}
      <${Form} schema=${schema} submit=${label} kind=${kind} onSubmit=${work} />
    <//>`}
  `;
}
