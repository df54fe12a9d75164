/**
 * What stands in a config for a value that is not in it: `${input:id}`, `${env:NAME}`, with a value for when the
 * variable is not set `${env:NAME:-default}`, and `${file:PATH}` for what a file has in it.
 */
import { isRecord } from "../json.ts";
import type { ConfigPath } from "./problem.ts";

/** A placeholder; what it names is whatever stands up to the brace. */
export const PLACEHOLDER = /\$\{(?:input|env|file):[^}]+\}/g;
const FORM = /^\$\{(input|env|file):([^}]+)\}$/;

/** What may stand for a placeholder. */
export type InputValue = string | number | boolean;

/** A placeholder by what it names. */
export type Placeholder =
  | { readonly kind: "input"; readonly id: string }
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "env"; readonly name: string; readonly fallback: string | undefined };

/** A placeholder and where it stands. */
export interface FoundPlaceholder {
  /** As it is written. */
  readonly text: string;
  readonly placeholder: Placeholder;
  /** Of the text that it stands in. */
  readonly path: ConfigPath;
}

/** Reads a text that is one placeholder and nothing else. */
export function parsePlaceholder(text: string): Placeholder | undefined {
  const [, kind, named = ""] = FORM.exec(text) ?? [];
  if (kind === undefined) return undefined;
  if (kind === "input") return { kind, id: named };
  if (kind === "file") return { kind, path: named };
  const split = named.indexOf(":-");
  if (split === -1) return { kind: "env", name: named, fallback: undefined };
  return { kind: "env", name: named.slice(0, split), fallback: named.slice(split + 2) };
}

/** Whether `text` has a placeholder in it. */
export function hasPlaceholder(text: string): boolean {
  return splitClosed(text)[0].search(PLACEHOLDER) !== -1;
}

/** All placeholders in `value`, in order, each as often as it stands there. */
export function findPlaceholders(value: unknown): FoundPlaceholder[] {
  const found: FoundPlaceholder[] = [];
  mapTexts(value, (whole, path) => {
    for (const [text] of splitClosed(whole)[0].matchAll(PLACEHOLDER)) {
      const placeholder = parsePlaceholder(text);
      if (placeholder !== undefined) found.push({ text, placeholder, path });
    }
    return whole;
  });
  return found;
}

/** The ids of the inputs that `value` names. */
export function inputIdsOf(value: unknown): Set<string> {
  const found = findPlaceholders(value).map(({ placeholder }) => placeholder);
  return new Set(found.filter((placeholder) => placeholder.kind === "input").map(({ id }) => id));
}

/** A copy of `value` with its placeholders filled in; a text that is only a placeholder takes the value's type. */
export function fillPlaceholders(value: unknown, values: ReadonlyMap<string, InputValue>): unknown {
  return mapTexts(
    value,
    (whole) =>
      values.get(whole) ?? replaceClosed(whole, PLACEHOLDER, (text) => String(values.get(text) ?? text)),
  );
}

/**
 * Replaces what a pattern for `${…}` matches. Behind the last brace there is nothing to be found, and a text of
 * openings alone would be read to its end from each of them.
 */
export function replaceClosed(
  text: string,
  pattern: RegExp,
  replace: (whole: string, name: string) => string,
): string {
  const [closed, rest] = splitClosed(text);
  return closed.replaceAll(pattern, replace) + rest;
}

/** The text up to its last closing brace, and the rest. */
function splitClosed(text: string): readonly [closed: string, rest: string] {
  const end = text.lastIndexOf("}") + 1;
  return [text.slice(0, end), text.slice(end)];
}

/** A copy of `value` with each text in it replaced. */
export function mapTexts(
  value: unknown,
  replace: (text: string, path: ConfigPath) => unknown,
  path: ConfigPath = [],
): unknown {
  if (typeof value === "string") return replace(value, path);
  if (Array.isArray(value)) return value.map((item, index) => mapTexts(item, replace, [...path, index]));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, mapTexts(item, replace, [...path, key])]),
  );
}

/** The environment variable that gives the value of an input: `A2C_INPUT_API_KEY` for `api-key`. */
export function inputVariable(id: string): string {
  return `A2C_INPUT_${id.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_")}`;
}
