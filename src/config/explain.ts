/** Messages for invalid values and unknown keys, each with the fix. */
import type { z } from "zod";
import { isRecord } from "../json/json.ts";
import type { MCPServerConfig, MCPServerInput } from "../protocol/config.ts";
import { INPUT_KEYS, PARAMETER_KEYS, SERVER_KEYS, TOOL_META_KEYS } from "../protocol/schemas/config.ts";
import { didYouMean, listWords } from "../text/spelling.ts";
import { isRemark } from "./form.ts";
import type { ReadingPlace } from "./problem.ts";

type Issue = z.core.$ZodIssue;

/** Reads a value with a schema. Problems are added to `findings`, at the path of the value. */
export function readWith<T>(
  schema: z.ZodType<T>,
  value: unknown,
  { path, findings }: ReadingPlace,
): T | undefined {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues.flatMap(innermost)) {
    const within = issue.path.map((key) => typeof key === "number" ? key : String(key));
    findings.refuse([...path, ...within], explainIssue(issue, valueAt(value, within)));
  }
  return undefined;
}

/** The issues within a value that is of the type of one branch of a union; otherwise the issue itself. */
function innermost(issue: Issue): readonly Issue[] {
  if (issue.code !== "invalid_union") return [issue];
  const fitting = issue.errors.find((issues) => issues.every(({ path }) => path.length > 0));
  const within = (fitting ?? []).map((each) => ({ ...each, path: [...issue.path, ...each.path] }));
  return within.length === 0 ? [issue] : within.flatMap(innermost);
}

/** What is wrong with `value`, and the fix. The value may be a secret, so it is never part of the message. */
function explainIssue(issue: Issue, value: unknown): string {
  switch (issue.code) {
    case "invalid_type":
      return wrongType([issue.expected], value);
    case "invalid_value":
      return wrongWord(issue.values.map(String), value);
    case "too_small":
      if (issue.origin === "number") return atLeast(issue.minimum, issue.inclusive);
      return issue.origin === "array" ? "must have at least one item" : "must not be empty";
    case "too_big":
      return `must be at most ${issue.maximum}`;
    case "invalid_union":
      return noneOf(issue.errors, value);
    case "invalid_format":
      return "must be a placeholder such as ${input:id} or ${env:NAME}";
    case "unrecognized_keys":
      return `cannot have ${listWords(issue.keys)}`;
    case "custom":
      return issue.message;
    default:
      return "is invalid";
  }
}

function atLeast(minimum: number | bigint, isInclusive: boolean | undefined): string {
  return isInclusive === true ? `must be at least ${minimum}` : `must be greater than ${minimum}`;
}

const TYPES: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
};

function wrongType(expected: readonly string[], value: unknown, alternative?: string): string {
  const names = expected.map((type) => TYPES[type] ?? type);
  const types = [...names, ...(alternative === undefined ? [] : [alternative])].join(" or ");
  if (value === undefined) return `is missing; it must be ${types}`;
  return `must be ${types}, not ${typeName(value)}`;
}

function typeName(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (isRecord(value)) return "an object";
  if (typeof value === "boolean") return String(value);
  return typeof value === "number" ? "a number" : "a string";
}

export function wrongWord(words: readonly string[], value: unknown): string {
  const list = listWords(words);
  if (value === undefined) return `is missing; it must be one of ${list}`;
  // Of numbers, such as years, several are equally similar.
  const isWord = typeof value === "string" && !/^\d+$/.test(value);
  return `must be one of ${list}${isWord ? didYouMean(value, words) : ""}`;
}

/** Explains the branch of a union whose type fits the value; when none fits, it lists the types of all branches. */
function noneOf(branches: readonly (readonly Issue[])[], value: unknown): string {
  const firsts = branches.flatMap((issues) => issues.slice(0, 1));
  const isFar = ({ code, path }: Issue) =>
    path.length === 0 && (code === "invalid_type" || code === "invalid_format");
  const near = firsts.find((issue) => !isFar(issue));
  if (near !== undefined) return explainIssue(near, valueAt(value, near.path));
  const expected = firsts.flatMap((issue) => issue.code === "invalid_type" ? [issue.expected] : []);
  const [type = ""] = expected;
  const isPlaceholder = firsts.some(({ code }) => code === "invalid_format");
  if (branches.length > 2 || !isPlaceholder) return wrongType(expected, value);
  return wrongType([type], value, "a placeholder such as ${input:id}");
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let current = value;
  for (const key of path) {
    if (Array.isArray(current)) current = current[Number(key)];
    else current = isRecord(current) ? current[String(key)] : undefined;
  }
  return current;
}

const MAX_LISTED_KEYS = 20;

/** Warns of the unknown keys of a server in the specification's form. */
export function warnOfServerKeys(config: MCPServerConfig, { path, findings }: ReadingPlace): void {
  const { type, server_parameters } = config;
  // `checkOAuth` explains why it has no effect for a program.
  warnOfUnknownKeys(config, [...SERVER_KEYS[type], "oauth"], { path, findings });
  const parameters = [...path, "server_parameters"];
  for (const key of unknownKeys(server_parameters, PARAMETER_KEYS[type])) {
    const isMisplaced = key === "oauth" || SERVER_KEYS[type].includes(key);
    const message = isMisplaced
      ? 'ignored: it belongs beside "server_parameters"'
      : unknownKey(key, PARAMETER_KEYS[type]);
    findings.warn([...parameters, key], message);
  }
  warnOfToolKeys(config, { path, findings });
}

/** Warns of the keys of an entry that are neither those of every MCP server nor `known`. */
export function warnOfOwnKeys(
  type: MCPServerConfig["type"],
  value: object,
  { known, path, findings }: ReadingPlace & { readonly known: readonly string[] },
): void {
  const ofEvery = SERVER_KEYS[type].filter((key) => key !== "server_parameters");
  warnOfUnknownKeys(value, [...known, ...ofEvery], { path, findings });
}

/** Warns of the unknown keys of `tool_meta` and `default_tool_meta`, in any form. */
export function warnOfToolKeys(
  config: Pick<MCPServerConfig, "tool_meta" | "default_tool_meta">,
  { path, findings }: ReadingPlace,
): void {
  for (const [tool, meta] of Object.entries(config.tool_meta)) {
    warnOfUnknownKeys(meta, TOOL_META_KEYS, { path: [...path, "tool_meta", tool], findings });
  }
  const defaults = { path: [...path, "default_tool_meta"], findings };
  warnOfUnknownKeys(config.default_tool_meta ?? {}, TOOL_META_KEYS, defaults);
}

export function warnOfInputKeys(input: MCPServerInput, place: ReadingPlace): void {
  warnOfUnknownKeys(input, INPUT_KEYS[input.type], place);
}

/** Words that other programs use for known keys, and that are not similar to them. */
export type Synonyms = ReadonlyMap<string, string>;

export function warnOfUnknownKeys(
  value: object,
  known: readonly string[],
  { path, findings }: ReadingPlace,
): void {
  for (const key of unknownKeys(value, known)) findings.warn([...path, key], unknownKey(key, known));
}

function unknownKeys(value: object, known: readonly string[]): string[] {
  return Object.keys(value).filter((key) => !known.includes(key) && !isRemark(key));
}

/** The warning for an unknown key, with the key that was probably meant or with the list of known keys. */
export function unknownKey(key: string, known: readonly string[], synonyms?: Synonyms): string {
  const meant = synonyms?.get(key);
  if (meant !== undefined && known.includes(meant)) return `unknown key, ignored; did you mean "${meant}"?`;
  const list = known.length > MAX_LISTED_KEYS ? "" : `; known keys: ${known.join(", ")}`;
  return `unknown key, ignored${didYouMean(key, known) || list}`;
}
