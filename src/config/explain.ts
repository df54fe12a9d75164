/** What is wrong with a value, with the fix: what a schema finds, and members that nothing reads. */
import type { z } from "zod";
import { isRecord } from "../json.ts";
import type { MCPServerConfig, MCPServerInput } from "../protocol/config.ts";
import { INPUT_KEYS, PARAMETER_KEYS, SERVER_KEYS, TOOL_META_KEYS } from "../protocol/schemas/config.ts";
import { didYouMean, listWords } from "../spelling.ts";
import { isRemark } from "./form.ts";
import type { ReadingPlace } from "./problem.ts";

type Issue = z.core.$ZodIssue;

/** Reads a value with a schema; what is wrong goes to `findings`, under the path that the value stands at. */
export function readWith<T>(
  schema: z.ZodType<T>,
  value: unknown,
  { path, findings }: ReadingPlace,
): T | undefined {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) {
    const within = issue.path.map((key) => typeof key === "number" ? key : String(key));
    findings.refuse([...path, ...within], explainIssue(issue, valueAt(value, within)));
  }
  return undefined;
}

/** What is wrong with `value`, and the fix. The value itself is shown only where it is a word of a short list. */
function explainIssue(issue: Issue, value: unknown): string {
  switch (issue.code) {
    case "invalid_type":
      return wrongType([issue.expected], value);
    case "invalid_value":
      return wrongWord(issue.values.map(String), value);
    case "too_small":
      if (issue.origin === "number") return "must be above zero";
      return issue.origin === "array" ? "must have at least one item" : "must not be empty";
    case "invalid_union":
      return noneOf(issue.errors, value);
    case "invalid_format":
      return "must be a placeholder such as ${input:id} or ${env:NAME}";
    default:
      return "cannot be read";
  }
}

/** What the schemas call a type, in plain words. */
const TYPES: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

function wrongType(expected: readonly string[], value: unknown): string {
  const types = expected.map((type) => TYPES[type] ?? type).join(" or ");
  if (value === undefined) return `is missing; it must be ${types}`;
  const fix = fixOf(expected[0], value);
  return `must be ${types}, not ${typeName(value)}${fix === undefined ? "" : `; ${fix}`}`;
}

/** How to write what was likely meant. */
function fixOf(expected: string | undefined, value: unknown): string | undefined {
  switch (expected) {
    case "string":
      return typeof value === "number" || typeof value === "boolean" ? "put it in double quotes" : undefined;
    case "boolean":
      return value === "true" || value === "false" ? "leave the quotes out" : undefined;
    case "number":
      return typeof value === "string" && Number(value) > 0 ? "leave the quotes out" : undefined;
    case "array":
      return typeof value === "string" ? "put each item in double quotes, and all in [ ]" : undefined;
    default:
      return expected === "record" ? 'write it as { "NAME": "value" }' : undefined;
  }
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (isRecord(value)) return "an object";
  if (typeof value === "boolean") return String(value);
  return typeof value === "number" ? "a number" : "a text";
}

/** A value that must be one of a few words. */
export function wrongWord(words: readonly string[], value: unknown): string {
  const list = listWords(words);
  if (value === undefined) return `is missing; it must be one of ${list}`;
  return `must be one of ${list}${typeof value === "string" ? didYouMean(value, words) : ""}`;
}

/** The branch that comes nearest is the one whose type is right; else all types are told. */
function noneOf(branches: readonly (readonly Issue[])[], value: unknown): string {
  const firsts = branches.flatMap((issues) => issues.slice(0, 1));
  const isFar = ({ code, path }: Issue) =>
    path.length === 0 && (code === "invalid_type" || code === "invalid_format");
  const near = firsts.find((issue) => !isFar(issue));
  if (near !== undefined) return explainIssue(near, valueAt(value, near.path));
  const expected = firsts.flatMap((issue) => issue.code === "invalid_type" ? [issue.expected] : []);
  const [type = ""] = expected;
  if (branches.length > 2 || (type !== "number" && type !== "boolean")) return wrongType(expected, value);
  return `${wrongType([type], value)}; a placeholder such as \${input:id} may stand here, too`;
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let current = value;
  for (const key of path) {
    if (Array.isArray(current)) current = current[Number(key)];
    else current = isRecord(current) ? current[String(key)] : undefined;
  }
  return current;
}

/** Of a longer list nobody would find what was meant. */
const MAX_LISTED_KEYS = 10;

/** Warns of each member of a server in the specification's form that nothing reads. */
export function warnOfServerKeys(config: MCPServerConfig, { path, findings }: ReadingPlace): void {
  const { type, server_parameters } = config;
  warnOfStrangers(config, SERVER_KEYS, { path, findings });
  const parameters = { path: [...path, "server_parameters"], findings };
  warnOfStrangers(server_parameters, PARAMETER_KEYS[type], parameters);
  warnOfToolKeys(config, { path, findings });
}

/** The same for what a server says of its tools, in any form. */
export function warnOfToolKeys(
  config: Pick<MCPServerConfig, "tool_meta" | "default_tool_meta">,
  { path, findings }: ReadingPlace,
): void {
  for (const [tool, meta] of Object.entries(config.tool_meta)) {
    warnOfStrangers(meta, TOOL_META_KEYS, { path: [...path, "tool_meta", tool], findings });
  }
  const defaults = { path: [...path, "default_tool_meta"], findings };
  warnOfStrangers(config.default_tool_meta ?? {}, TOOL_META_KEYS, defaults);
}

/** The same for an input. */
export function warnOfInputKeys(input: MCPServerInput, place: ReadingPlace): void {
  warnOfStrangers(input, INPUT_KEYS[input.type], place);
}

function warnOfStrangers(value: object, known: readonly string[], { path, findings }: ReadingPlace): void {
  for (const key of Object.keys(value)) {
    if (!known.includes(key) && !isRemark(key)) findings.warn([...path, key], strangerMessage(key, known));
  }
}

/** What to say of a member that nothing reads; a long list of what is known would help nobody. */
export function strangerMessage(key: string, known: readonly string[]): string {
  const list = known.length > MAX_LISTED_KEYS ? "" : `; known are ${known.join(", ")}`;
  return `has no meaning here${didYouMean(key, known) || list}`;
}
