/**
 * Placeholders for values that are not in the configuration: `${input:id}`, `${env:NAME}`, `${env:NAME:-default}` and
 * `${file:PATH}`, the content of a file.
 */
import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../json/json.ts";
import { type MCPServerConfig, type MCPServerInput, oauthOf } from "../protocol/config.ts";
import type { ConfigPath } from "./problem.ts";

/** Matches placeholders. A name may have any characters except the closing brace. */
export const PLACEHOLDER = /\$\{(?:input|env|file):[^}]+\}/g;
const FORM = /^\$\{(input|env|file):([^}]+)\}$/;

/** The value of a placeholder. */
export type InputValue = string | number | boolean;

export type Placeholder =
  | { readonly kind: "input"; readonly id: string }
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "env"; readonly name: string; readonly fallback: string | undefined };

export interface FoundPlaceholder {
  readonly text: string;
  readonly placeholder: Placeholder;
  readonly path: ConfigPath;
}

/** Parses a string that is exactly one placeholder; `undefined` for others. */
export function parsePlaceholder(text: string): Placeholder | undefined {
  const [, kind, named = ""] = FORM.exec(text) ?? [];
  if (kind === undefined) return undefined;
  if (kind === "input") return { kind, id: named };
  if (kind === "file") return { kind, path: named };
  const split = named.indexOf(":-");
  if (split === -1) return { kind: "env", name: named, fallback: undefined };
  return { kind: "env", name: named.slice(0, split), fallback: named.slice(split + 2) };
}

/** Whether `text` contains a placeholder. */
export function hasPlaceholder(text: string): boolean {
  return splitClosed(text)[0].search(PLACEHOLDER) !== -1;
}

/** The members of a server's configuration in which placeholders are filled in. */
export function filledMembers(
  config: MCPServerConfig,
): { readonly server_parameters: MCPServerConfig["server_parameters"]; readonly oauth?: unknown } {
  const { server_parameters } = config;
  const oauth = oauthOf(config);
  return oauth === undefined ? { server_parameters } : { server_parameters, oauth };
}

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

export function inputIdsOf(value: unknown): Set<string> {
  const found = findPlaceholders(value).map(({ placeholder }) => placeholder);
  return new Set(found.filter((placeholder) => placeholder.kind === "input").map(({ id }) => id));
}

/** A copy of `value` with its placeholders filled in. A string that is exactly one placeholder gets the type of its value. */
export function fillPlaceholders(value: unknown, values: ReadonlyMap<string, InputValue>): unknown {
  return mapTexts(
    value,
    (whole) =>
      values.get(whole) ?? replaceClosed(whole, PLACEHOLDER, (text) => String(values.get(text) ?? text)),
  );
}

/**
 * Replaces all matches of a pattern for `${…}`, in linear time: a pattern would read a text of many `${` without any
 * `}` to its end from each of them, so only the text up to the last `}` is searched.
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

/** The environment variable for the value of an input: `A2C_INPUT_API_KEY` for `api-key`. */
export function inputVariable(id: string): string {
  return `A2C_INPUT_${id.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_")}`;
}

/** The ids of inputs that were added, removed, or changed in more than their description. */
export function changedInputs(before: Inputs, after: Inputs): Set<string> {
  const definitions = ({ inputs }: Inputs) =>
    new Map(inputs.map((input) => [input.id, { ...input, description: "" }]));
  const [old, next] = [definitions(before), definitions(after)];
  const ids = new Set(old.keys()).union(new Set(next.keys()));
  return new Set([...ids].filter((id) => !isDeepStrictEqual(old.get(id), next.get(id))));
}

interface Inputs {
  readonly inputs: readonly MCPServerInput[];
}
