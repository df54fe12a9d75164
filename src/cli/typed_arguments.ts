/** The arguments of a tool as a person types them: `message=hi times=3`, or a JSON object. */
import { Argument, InvalidArgumentError } from "commander";
import { isRecord, parseJson } from "../json.ts";
import { parseParams } from "./call_params.ts";

/** What was typed: values that are JSON already, and texts whose type the tool knows. */
export interface TypedArguments {
  readonly json: Readonly<Record<string, unknown>>;
  readonly texts: Readonly<Record<string, string>>;
}

/** None. */
export const NO_ARGUMENTS: TypedArguments = { json: {}, texts: {} };

/** `[arguments...]` of `call`. */
export function typedArguments(): Argument {
  return new Argument("[arguments...]", `NAME=VALUE for each, or '{"NAME":VALUE}'`).argParser(readArgument)
    .default(NO_ARGUMENTS, "none");
}

/** The words that {@linkcode readArgument} reads as these arguments. */
export function toWords({ json, texts }: TypedArguments): string[] {
  const pairs = Object.entries(texts).map(([name, text]) => `${name}=${text}`);
  return Object.keys(json).length === 0 ? pairs : [JSON.stringify(json), ...pairs];
}

/** Reads one more word: `NAME=VALUE`, or a JSON object. */
export function readArgument(word: string, { json, texts }: TypedArguments = NO_ARGUMENTS): TypedArguments {
  const cut = word.search(/[={[]/);
  if (cut > 0 && word[cut] === "=") {
    return { json, texts: { ...texts, [word.slice(0, cut)]: word.slice(cut + 1) } };
  }
  try {
    return { json: { ...json, ...parseParams(word) }, texts };
  } catch (cause) {
    const error = new InvalidArgumentError(
      `Write NAME=VALUE for each, or all of them as a JSON object in quotes, such as '{"message":"hi"}'`,
    );
    error.cause = cause;
    throw error;
  }
}

/** A value is a text where the tool wants one, and JSON where it can be read as JSON. */
export function toArguments(
  { json, texts }: TypedArguments,
  schema: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
  const typed = Object.entries(texts).map(([name, text]) => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return [name, isRecord(property) && property["type"] === "string" ? text : parseValue(text)];
  });
  return { ...json, ...Object.fromEntries(typed) };
}

/** What a half-typed argument may become: `NAME=` for each parameter, then each value where the schema lists them. */
export function argumentCandidates(schema: Readonly<Record<string, unknown>>, word: string): string[] {
  const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
  const cut = word.indexOf("=");
  if (cut < 0) return Object.keys(properties).map((name) => `${name}=`);
  const name = word.slice(0, cut);
  const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
  return isRecord(property) ? valuesOf(property).map((value) => `${name}=${value}`) : [];
}

/** The values as {@linkcode toArguments} reads them. */
function valuesOf({ type, enum: values }: Record<string, unknown>): string[] {
  if (!Array.isArray(values)) return type === "boolean" ? ["true", "false"] : [];
  return values.map((value) => {
    const isText = typeof value === "string" && (type === "string" || parseJson(value) === undefined);
    return isText ? value : JSON.stringify(value);
  });
}

function parseValue(text: string): unknown {
  const value = parseJson(text);
  return value === undefined ? text : value;
}
