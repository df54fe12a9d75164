/** A form from a JSON Schema, for the arguments of a tool and for questions of MCP servers. */
import { html } from "./html.ts";
import { useState } from "preact/hooks";
import { toBareLine } from "../../../text/safe_text.ts";
import { texts } from "../texts.ts";
import { Button } from "./parts.ts";
import { nameText, Prose, type View } from "./words.ts";

type Schema = Readonly<Record<string, unknown>>;
type Values = Readonly<Record<string, unknown>>;

interface FormProps {
  readonly schema: Schema;
  readonly submit: string;
  readonly onSubmit: (values: Values) => unknown;
  readonly children?: View;
}

/** What is typed is kept while the form is shown; fields that are left empty are left out. */
export function Form({ schema, submit, onSubmit, children }: FormProps): View {
  const fields = Object.entries(recordOf(schema["properties"]));
  const required = new Set(Array.isArray(schema["required"]) ? schema["required"] : []);
  const [values, setValues] = useState<Values>(() =>
    Object.fromEntries(fields.flatMap(([name, field]) => {
      const preset = recordOf(field)["default"];
      return preset === undefined ? [] : [[name, preset]];
    }))
  );
  const [json, setJson] = useState<string | undefined>(fields.length === 0 ? "{}" : undefined);
  const isComplete = json !== undefined || [...required].every((name) => name in values);
  const set = (name: string, value: unknown) =>
    setValues((last) => {
      const { [name]: _, ...rest } = last;
      return value === undefined ? rest : { ...rest, [name]: value };
    });
  const send = () => onSubmit(json === undefined ? values : parseObject(json));
  return html`<form class="form" onSubmit=${(event: Event) => event.preventDefault()}>
    ${
    json === undefined
      ? fields.map(([name, field]) =>
        html`
          <${Field} key=${name} name=${name} schema=${recordOf(field)} value=${values[name]}
            isRequired=${required.has(name)} onValue=${(value: unknown) => set(name, value)} />
        `
      )
      : html`<label class="field"><span>${texts.asJson}</span>
        <textarea rows="6" class="mono" spellcheck=${false} value=${json} onInput=${
        inputOf(setJson)
      } /></label>`
  }
    <div class="actions">
      <${Button} kind="primary" isOff=${!isComplete} onPress=${send}>${submit}<//>
      ${children}
      ${
    fields.length > 0 &&
    html`<${Button} kind="quiet" onPress=${() =>
      setJson(json === undefined ? JSON.stringify(values, null, 2) : undefined)}>
        ${json === undefined ? texts.asJson : texts.asForm}<//>`
  }
    </div>
  </form>`;
}

interface FieldProps {
  readonly name: string;
  readonly schema: Schema;
  readonly value: unknown;
  readonly isRequired: boolean;
  readonly onValue: (value: unknown) => void;
}

function Field({ name, schema, value, isRequired, onValue }: FieldProps): View {
  const { title, description } = schema;
  const label = typeof title === "string" ? toBareLine(title, 200) : nameText(name);
  return html`<label class="field">
    <span>${label}${isRequired && html`<em> ${texts.required}</em>`}</span>
    ${typeof description === "string" && html`<small><${Prose} text=${description} max=${600} /></small>`}
    <${Input} ...${{ name, schema, value, isRequired, onValue }} />
  </label>`;
}

interface Option {
  readonly value: string;
  readonly label: string;
}

function Input({ schema, value, isRequired, onValue }: FieldProps): View {
  const options = optionsOf(schema);
  const several = schema["type"] === "array" ? optionsOf(recordOf(schema["items"])) : [];
  if (schema["type"] === "boolean") {
    return html`<input type="checkbox" checked=${value === true} onChange=${inputOf(onValue, "checked")} />`;
  }
  if (options.length > 0) {
    return html`<select value=${value ?? ""} onChange=${
      inputOf((text) => onValue(text === "" ? undefined : text))
    }>
      ${(!isRequired || value === undefined) && html`<option value="">${texts.choose}</option>`}
      ${options.map((each) => html`<option key=${each.value} value=${each.value}>${each.label}</option>`)}
    </select>`;
  }
  if (several.length > 0) return choices(several, { value, onValue });
  if (schema["type"] === "number" || schema["type"] === "integer") {
    return html`
      <input type="number" step=${schema["type"] === "integer"
        ? 1
        : "any"} min=${schema["minimum"]} max=${schema["maximum"]}
        value=${value ?? ""} onInput=${inputOf((text) => onValue(text === "" ? undefined : Number(text)))} />
    `;
  }
  if (schema["type"] === "string") return textInput({ schema, value, onValue });
  return html`
    <textarea rows="3" class="mono" spellcheck=${false} placeholder="JSON"
      value=${value === undefined ? "" : JSON.stringify(value)} onChange=${inputOf((text) =>
        onValue(parseValue(text))
      )} />
  `;
}

function choices(
  options: readonly Option[],
  { value, onValue }: Pick<FieldProps, "value" | "onValue">,
): View {
  const chosen = Array.isArray(value) ? value : [];
  return html`<select multiple size=${Math.min(6, options.length)} onChange=${(event: Event) => {
    const { selectedOptions } = event.target as HTMLSelectElement;
    onValue([...selectedOptions].map((option) => option.value));
  }}>${
    options.map(({ value, label }) =>
      html`<option key=${value} value=${value} selected=${chosen.includes(value)}>${label}</option>`
    )
  }</select>`;
}

const TYPES: Readonly<Record<string, string>> = { email: "email", uri: "url", date: "date" };

function textInput({ schema, value, onValue }: Pick<FieldProps, "schema" | "value" | "onValue">): View {
  const onInput = inputOf((text) => onValue(text === "" ? undefined : text));
  const type = TYPES[String(schema["format"])];
  if (type !== undefined) return html`<input type=${type} value=${value ?? ""} onInput=${onInput} />`;
  return html`<textarea rows=${String(value ?? "").includes("\n") ? 6 : 1} value=${
    value ?? ""
  } onInput=${onInput} />`;
}

/** The values of a choice: `enum` with `enumNames`, or `oneOf` and `anyOf` with `const` and `title`. */
function optionsOf(schema: Schema): Option[] {
  const { enum: values, enumNames, oneOf, anyOf } = schema;
  const labels = Array.isArray(enumNames) ? enumNames : [];
  const named = [oneOf, anyOf].find(Array.isArray) ?? [];
  const found = Array.isArray(values)
    ? values.map((value, index) => [value, labels[index] ?? value])
    : named.map(recordOf).filter((each) => "const" in each).map((
      each,
    ) => [each["const"], each["title"] ?? each["const"]]);
  return found.filter(([value]) => typeof value === "string")
    .map(([value, label]) => ({ value: String(value), label: toBareLine(String(label), 200) }));
}

export function inputOf<Member extends "value" | "checked" = "value">(
  take: (value: Member extends "checked" ? boolean : string) => void,
  member: Member = "value" as Member,
): (event: Event) => void {
  return (event) => take((event.target as HTMLInputElement)[member] as never);
}

function parseValue(text: string): unknown {
  if (text.trim() === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** @throws {SyntaxError | TypeError} which the button tells. */
export function parseObject(text: string): Values {
  const value: unknown = JSON.parse(text);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Values;
  throw new TypeError(texts.notAnObject);
}

export function recordOf(value: unknown): Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value as Schema : {};
}
