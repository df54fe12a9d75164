/** A form from a JSON Schema: for the arguments of a tool, for questions of MCP servers, and for all that a page asks. */
import { useState } from "preact/hooks";
import { toBareLine } from "../../../text/safe_text.ts";
import { texts } from "../texts.ts";
import { messageOf } from "./client.ts";
import { html } from "./html.ts";
import { Button, type ButtonProps, type Deed, Dialog, Failure, perform } from "./parts.ts";
import { nameText, Prose, type View } from "./words.ts";

export type Values = Readonly<Record<string, unknown>>;

interface FormProps {
  readonly schema: Values;
  readonly submit: string;
  readonly kind?: ButtonProps["kind"];
  readonly onSubmit: (values: Values) => unknown;
  readonly children?: View;
}

const AS_JSON: Values = { properties: { json: { title: texts.asJson, default: {} } } };

/** Fields that are left empty are left out. A schema without `properties` is asked for as JSON. */
export function Form({ schema, submit, kind = "primary", onSubmit, children }: FormProps): View {
  const isPlain = "properties" in schema;
  const { properties, required = [] } = isPlain ? schema : AS_JSON;
  const fields = Object.entries(recordOf(properties)).map(([name, field]) =>
    [name, recordOf(field)] as const
  );
  const presets = fields.filter(([, field]) => "default" in field).map((
    [name, field],
  ) => [name, field["default"]]);
  const [values, setValues] = useState<Values>(() => Object.fromEntries(presets));
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
  return html`<form class="form" onSubmit=${(event: Event) => event.preventDefault()}>
    ${
    fields.map(([name, field]) =>
      html`
        <${Field} key=${name} name=${name} schema=${field} value=${values[name]} isRequired=${wanted.has(
          name,
        )}
          problem=${problemOf(name, refusal)}
          onValue=${(value: unknown) => setValues((last) => ({ ...last, [name]: value }))} />
      `
    )
  }
    <${Failure} text=${refusal} />
    <div class="actions"><${Button} kind=${kind} isOff=${!isComplete} onPress=${send}>${submit}<//>${children}</div>
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
    ${typeof description === "string" && html`<small><${Prose} text=${description} max=${600} /></small>`}
    <${Input} ...${input} />
  </label>`;
}

/** The kinds of inputs for texts of these formats. */
const TYPES: Values = { email: "email", uri: "url", date: "date", password: "password" };

function Input({ schema, value, onValue }: Pick<FieldProps, "schema" | "value" | "onValue">): View {
  const { type, format, minimum: min, maximum: max } = schema;
  const onInput = inputOf((text) => onValue(text === "" ? undefined : text));
  const isList = type === "array";
  const options = optionsOf(isList ? recordOf(schema["items"]) : schema);
  if (type === "boolean") {
    return html`<input type="checkbox" checked=${value === true} onChange=${inputOf(onValue, "checked")} />`;
  }
  if (options.length > 0) {
    const chosen = isList && Array.isArray(value) ? value : [value];
    const onChange = ({ target }: Event) => {
      const values = [...(target as HTMLSelectElement).selectedOptions].map((option) => option.value);
      onValue(isList ? values : values[0] || undefined);
    };
    return html`<select multiple=${isList} size=${
      isList ? Math.min(6, options.length) : 1
    } onChange=${onChange}>
      ${!isList && html`<option value="">${texts.choose}</option>`}${
      options.map(([each, label]) =>
        html`<option value=${each} selected=${chosen.includes(each)}>${label}</option>`
      )
    }</select>`;
  }
  if (type === "number" || type === "integer") {
    return html`
      <input type="number" step=${type === "integer" ? 1 : "any"} min=${min} max=${max} value=${value ?? ""}
        onInput=${inputOf((text) => onValue(text === "" ? undefined : Number(text)))} />
    `;
  }
  if (type === "string" && typeof TYPES[String(format)] === "string") {
    return html`<input type=${TYPES[String(format)]} autocomplete="off" value=${
      value ?? ""
    } onInput=${onInput} />`;
  }
  if (type === "string") {
    return html`
      <textarea rows=${format === "lines" ? 8 : 1} class=${format === "lines" &&
        "mono"} spellcheck=${false} placeholder=${schema["example"]}
        value=${value ?? ""} onInput=${onInput} />
    `;
  }
  return html`
    <textarea rows="3" class="mono" spellcheck=${false} placeholder="JSON"
      value=${value === undefined ? "" : JSON.stringify(value)}
      onChange=${inputOf((text) => onValue(parseValue(text)))} />
  `;
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
  readonly toOptions?: (values: Values) => Values;
  readonly onDone?: () => void;
}

/** A button that runs a command when the person has confirmed it in a dialog, and filled in what it asks for. */
export function Ask(
  { title, about, kind, schema = { properties: {} }, toOptions = (values) => values, ...deed }: AskProps,
): View {
  const [isOpen, setOpen] = useState(false);
  const work = async (values: Values) => {
    await perform({ ...deed, options: toOptions(values) });
    setOpen(false);
    deed.onDone?.();
  };
  return html`
    <${Button} kind=${kind} label=${title} onPress=${() => setOpen(true)}>${deed.label}<//>
    ${isOpen && html`<${Dialog} title=${title} onClose=${() => setOpen(false)}>
      ${about !== undefined && html`<p>${about}</p>`}
      <${Form} schema=${schema} submit=${deed.label} kind=${kind} onSubmit=${work} />
    <//>`}
  `;
}
