/** Options that do not come from the command line: switches in the environment, and the file of `--config`. */
import { type Command, InvalidArgumentError, type Option } from "commander";
import { readRegularFile } from "../../files/files.ts";
import { isRecord } from "../../json/json.ts";
import { closestWord, didYouMean } from "../../text/spelling.ts";
import { describeError } from "../../text/text.ts";
import { UsageError } from "../outcome.ts";
import { ServerOption } from "./options.ts";

const MAX_CONFIG_BYTES = 1_048_576;
const NOT_IN_FILE: readonly string[] = ["config", "console", "version", "help"];
/** Where an editor finds the schema of the file. */
const SCHEMA_KEY = "$schema";

/**
 * Sets the options that neither the command line nor, for options with a value, the environment has set.
 *
 * @throws {UsageError} for a value that cannot be used, with the place where it stands.
 */
export async function completeOptions(
  program: Command,
  env: (name: string) => string | undefined,
): Promise<void> {
  for (const option of program.options) {
    if (!isSwitch(option) || isSet(program, option)) continue;
    const text = env(option.variable);
    if (text === undefined) continue;
    program.setOptionValueWithSource(option.attributeName(), readSwitch(option.variable, text), "env");
  }
  const path: unknown = program.getOptionValue("config");
  if (typeof path === "string") await readConfig(program, path);
}

function isSwitch(option: Option): option is ServerOption {
  return option instanceof ServerOption && option.isSwitch;
}

function isSet(program: Command, option: Option): boolean {
  return ["cli", "env"].includes(program.getOptionValueSource(option.attributeName()) ?? "");
}

const SWITCH_WORDS: Readonly<Record<string, boolean>> = {
  true: true,
  yes: true,
  on: true,
  1: true,
  false: false,
  no: false,
  off: false,
  0: false,
  "": false,
};

function readSwitch(variable: string, text: string): boolean {
  const word = text.trim().toLowerCase();
  const value = Object.hasOwn(SWITCH_WORDS, word) ? SWITCH_WORDS[word] : undefined;
  if (value !== undefined) return value;
  throw new UsageError(`Cannot use environment variable ${variable}: expected true or false`);
}

async function readConfig(program: Command, path: string): Promise<void> {
  const refusal = (state: string, cause?: unknown) =>
    new UsageError(`Cannot use config file "${path}": ${state}`, { cause });
  const reading = await readRegularFile(path, { maxBytes: MAX_CONFIG_BYTES });
  if ("state" in reading) throw refusal(reading.state, reading.cause);
  // Loaded only now: most Servers have no such file.
  const { readJsonText } = await import("../../config/json_text.ts");
  const { value, syntax, duplicates, locate } = readJsonText(reading.text.replace(/^\uFEFF/, ""));
  const [flaw] = [...syntax, ...duplicates];
  if (flaw !== undefined) throw refusal(placed(flaw));
  if (!isRecord(value)) throw refusal("expected an object with options");
  const options = new Map(
    program.options.map((option) => [option.long?.slice(2) ?? "", option] as const).filter((
      [key, { hidden }],
    ) => !hidden && !NOT_IN_FILE.includes(key)),
  );
  for (const [key, given] of Object.entries(value)) {
    if (key === SCHEMA_KEY) continue;
    const option = options.get(key);
    const refuse = (message: string) =>
      refusal(placed(locate({ path: [key], message: `"${key}": ${message}` })));
    if (option === undefined) throw refuse(`unknown option${didYouMean(key, options.keys())}`);
    const parsed = parse(option, given, refuse);
    if (isSet(program, option)) continue;
    program.setOptionValueWithSource(option.attributeName(), parsed, "config");
  }
}

function placed({ line, column, message }: {
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  readonly message: string;
}): string {
  return line === undefined ? message : `line ${line}, column ${column}: ${message}`;
}

/** Parses a value of the file as the same text would be parsed on the command line. */
function parse(option: Option, given: unknown, refuse: (message: string) => UsageError): unknown {
  if (isSwitch(option)) {
    if (typeof given === "boolean") return given;
    throw refuse("expected true or false");
  }
  const isList = option.variadic || option.long === "--token";
  const items = isList && Array.isArray(given) ? given : [given];
  let value: unknown = undefined;
  for (const item of items) {
    const mayBeNumber = option.parseArg !== undefined;
    if (typeof item !== "string" && !(mayBeNumber && typeof item === "number")) {
      const expected = isList
        ? "a string, or a list of strings"
        : mayBeNumber
        ? "a string or a number"
        : "a string";
      throw refuse(`expected ${expected}`);
    }
    value = parseText(option, { text: String(item), earlier: value, refuse });
  }
  return value;
}

function parseText(option: Option, { text, earlier, refuse }: {
  readonly text: string;
  readonly earlier: unknown;
  readonly refuse: (message: string) => UsageError;
}): unknown {
  const { argChoices, parseArg } = option;
  if (argChoices !== undefined && !argChoices.includes(text)) {
    throw refuse(`expected one of ${argChoices.join(", ")}`);
  }
  if (parseArg === undefined || argChoices !== undefined) return text;
  try {
    return parseArg(text, earlier);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw refuse(describeError(error));
  }
}

/** The variable of a log that programs write which read calls. */
const ACTIVITY_LOG = "A2C_ACTIVITY_LOG";
/** Variables of the clients that resemble one of the Server. */
const CLIENT_VARIABLES: readonly string[] = [
  "A2C_AUTH",
  "A2C_GATEWAY_TOKEN_FILE",
  "A2C_HEADER",
  "A2C_MCP_TOKEN_FILE",
  "A2C_START_TIMEOUT",
  "A2C_TOKEN_COMMAND",
  "A2C_TOOLS",
];
const PREFIX = "A2C_";
/** The beginning of the variables with the values of inputs, whose names are the user's. */
const INPUT_PREFIX = "A2C_INPUT_";
/** The beginnings of the variables of TLS, credentials, Redis and the audit trail. */
const PROTECTING = /^A2C_(?:TLS|TOKEN|AUTH|METRICS_TOKEN|REDIS|AUDIT)_/;
/** The most letters of a slip in the name of such a variable; more may be a variable of somebody else. */
const MAX_SLIP = 2;
/** Variables that Kubernetes and Docker set for a service such as `a2c-redis`. */
const SERVICE_LINK = /_(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_\w+)?)$/;

/**
 * Reports the variables that are read by no program and have nearly the name of one that the Server reads.
 *
 * @throws {UsageError} for one of TLS, credentials, Redis or the audit trail: the Server would run without them.
 */
export function misspeltVariables(program: Command, variables: readonly string[]): readonly string[] {
  const known = program.options.flatMap((option) =>
    option instanceof ServerOption ? [option.variable] : option.envVar ?? []
  );
  const unread = variables.filter((name) =>
    name.startsWith(PREFIX) && !name.startsWith(INPUT_PREFIX) && !SERVICE_LINK.test(name) &&
    !known.includes(name) && !CLIENT_VARIABLES.includes(name)
  );
  // `A2C_PORT` is no variable, and `PORT` is one.
  const spellings = new Map(known.map((name) => [name.startsWith(PREFIX) ? name : PREFIX + name, name]));
  for (const name of unread) requireHarmless(name, [...spellings.keys()]);
  return unread.flatMap((name) => {
    if (name === ACTIVITY_LOG) {
      return [
        `environment variable ${name} has no effect: a hub and a gateway write this log, a Server reads no calls`,
      ];
    }
    const meant = relatedName(name, [...spellings.keys()]) ?? closestWord(name, spellings.keys());
    if (meant === undefined) return [];
    return [`environment variable ${name} has no effect; did you mean ${spellings.get(meant)}?`];
  });
}

/** Refuses a variable that is nearly one that protects the Server. */
function requireHarmless(name: string, known: readonly string[]): void {
  // A variable `A2C_REDIS_PORT` is also one that Kubernetes sets for a service `a2c-redis`.
  if (/^A2C_\w+_PORT$/.test(name)) return;
  const meant = relatedName(name, known, "_") ?? closestWord(name, known, { maxDistance: MAX_SLIP });
  const family = meant === undefined ? PROTECTING.exec(name)?.[0] : undefined;
  if (family === undefined && !PROTECTING.test(`${meant ?? ""}_`)) return;
  const hint = family === undefined
    ? `did you mean "${meant}"?`
    : `known: ${known.filter((each) => `${each}_`.startsWith(family)).join(", ")}`;
  throw new UsageError(`Cannot use environment variable ${name}: unknown option; ${hint}`);
}

/** The longest known name that begins `name`, or else the first known name that `name` begins. */
function relatedName(name: string, known: readonly string[], separator = ""): string | undefined {
  const beginnings = known.filter((each) => name.startsWith(each + separator));
  const longest = beginnings.toSorted((a, b) => b.length - a.length)[0];
  return longest ?? known.find((each) => each.startsWith(`${name}_`));
}
