/** Parses the arguments of `call`: `message=hi times=3`, a JSON object, a file, or standard input. */
import { Argument, InvalidArgumentError } from "commander";
import { isRecord, parseJson } from "../../json/json.ts";
import { UsageError } from "../outcome.ts";
import { describeFileError } from "../../files/files.ts";
import { readBoundedText } from "../../text/bounded_text.ts";
import { checkArguments } from "../../computer/tools/arguments.ts";

/** Typed arguments: values from JSON, and texts whose type depends on the tool's schema. */
export interface TypedArguments {
  readonly json: Readonly<Record<string, unknown>>;
  readonly texts: Readonly<Record<string, string>>;
}

export const NO_ARGUMENTS: TypedArguments = { json: {}, texts: {} };

export function typedArguments(): Argument {
  return new Argument("[arguments...]", `NAME=VALUE pairs, or a JSON object such as '{"NAME":VALUE}'`)
    .argParser(readArgument)
    .default(NO_ARGUMENTS, "none");
}

/** Writes arguments as words that {@linkcode readArgument} reads. */
export function toWords({ json, texts }: TypedArguments): string[] {
  const pairs = Object.entries(texts).map(([name, text]) => `${name}=${text}`);
  return Object.keys(json).length === 0 ? pairs : [JSON.stringify(json), ...pairs];
}

/** Reads one word, `NAME=VALUE` or a JSON object, in addition to the earlier ones. */
export function readArgument(word: string, { json, texts }: TypedArguments = NO_ARGUMENTS): TypedArguments {
  const cut = word.search(/[={[]/);
  if (cut > 0 && word[cut] === "=") {
    return { json, texts: { ...texts, [word.slice(0, cut)]: word.slice(cut + 1) } };
  }
  try {
    return { json: { ...json, ...parseParams(word) }, texts };
  } catch (cause) {
    throw new UsageError(
      `Cannot read argument "${word}": write NAME=VALUE, or a JSON object in quotes such as '{"message":"hi"}'`,
      { cause },
    );
  }
}

/**
 * Types the texts: a string where the schema says `string`, otherwise JSON if the text is valid JSON. Where the schema
 * rejects the JSON value and accepts the text, it is the text: `42` for an optional text, or for one of `"1"` and `"2"`.
 */
export function toArguments(
  { json, texts }: TypedArguments,
  schema: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
  // What else is wrong, such as a missing argument, is wrong with both.
  const problemsOf = (name: string, value: unknown) =>
    checkArguments(schema, { [name]: value }).problems.length;
  const typed = Object.entries(texts).map(([name, text]) => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (isRecord(property) && property["type"] === "string") return [name, text];
    const value = parseValue(text);
    if (problemsOf(name, text) < problemsOf(name, value)) return [name, text];
    if (!Number.isInteger(value) || Number.isSafeInteger(value) || !/^-?\d+$/.test(text)) {
      return [name, value];
    }
    throw new UsageError(
      `Cannot send argument "${name}": ${text} has more digits than a number of JSON keeps; give it as a text if the ` +
        `tool takes one: ${name}='"${text}"'`,
    );
  });
  return { ...json, ...Object.fromEntries(typed) };
}

export function toTexts({ json, texts }: TypedArguments): Record<string, string> {
  const written = Object.entries(json).map(([name, value]) => [
    name,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  return { ...Object.fromEntries(written), ...texts };
}

/** Candidates for a half-typed argument: `NAME=` for each parameter, then the values that the schema lists. */
export function argumentCandidates(schema: Readonly<Record<string, unknown>>, word: string): string[] {
  const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
  const cut = word.indexOf("=");
  if (cut < 0) return Object.keys(properties).map((name) => `${name}=`);
  const name = word.slice(0, cut);
  const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
  return isRecord(property) ? valuesOf(property).map((value) => `${name}=${value}`) : [];
}

/** The values, written so that {@linkcode toArguments} reads them back. */
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

/** The largest file of arguments, in bytes: what a Server relays at most by default. */
const MAX_PARAMS_BYTES = 16 * 1024 * 1024;

/** The value of `--params`, which is read when it is needed. */
export class CallParams {
  readonly #written: string;
  #reading: Promise<Record<string, unknown>> | undefined;

  /**
   * @param written A JSON object, `@FILE`, or `-` for standard input.
   * @throws {InvalidArgumentError} for anything else.
   */
  constructor(written: string) {
    this.#written = written;
    if (written !== "-" && !written.startsWith("@")) parseParams(written);
  }

  get isStandardInput(): boolean {
    return this.#written === "-";
  }

  /** A file or standard input is read once; throws a UsageError for one that cannot be read. */
  read(signal: AbortSignal): Promise<Record<string, unknown>> {
    return this.#reading ??= this.#read(signal);
  }

  async #read(signal: AbortSignal): Promise<Record<string, unknown>> {
    if (this.#written === "-") return parseFile("standard input", await readStandardInput(signal));
    if (!this.#written.startsWith("@")) return parseParams(this.#written);
    const path = this.#written.slice(1);
    return parseFile(`"${path}"`, await readFile(path, signal));
  }
}

export function parseParams(raw: string): Record<string, unknown> {
  const params = parseJson(raw);
  if (!isRecord(params)) {
    throw new InvalidArgumentError(`Expected a JSON object such as {"message":"hi"}`);
  }
  return params;
}

function parseFile(name: string, text: string): Record<string, unknown> {
  const params = parseJson(text.replace(/^\ufeff/, ""));
  if (isRecord(params)) return params;
  throw new UsageError(`Cannot read arguments from ${name}: not a JSON object such as {"message":"hi"}`);
}

async function readStandardInput(signal: AbortSignal): Promise<string> {
  if (Deno.stdin.isTerminal()) {
    throw new UsageError(
      "Cannot read arguments from standard input: it is a terminal; pipe a JSON object into it",
    );
  }
  return await readText(Deno.stdin.readable, { name: "standard input", signal });
}

async function readFile(path: string, signal: AbortSignal): Promise<string> {
  const name = `"${path}"`;
  try {
    const file = await Deno.open(path);
    return await readText(file.readable, { name, signal });
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof UsageError) throw cause;
    throw new UsageError(`Cannot read arguments from ${name}: ${describeFileError(cause)}`, { cause });
  }
}

async function readText(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  { name, signal }: { readonly name: string; readonly signal: AbortSignal },
): Promise<string> {
  const text = await readBoundedText(stream, { maxBytes: MAX_PARAMS_BYTES, signal });
  if (text !== undefined) return text;
  throw new UsageError(`Cannot read arguments from ${name}: more than ${MAX_PARAMS_BYTES} bytes`);
}
