/** Paths and bodies of the API as the words of a command line, and the outcome of a command as an answer. Pure. */
import { isRecord, parseJson } from "../json/json.ts";

/** A command of the program, as `GET /api` tells it. */
export interface OfferedCommand {
  /** Its words: `server logs`. */
  readonly command: string;
  readonly about: string;
  readonly path: string;
  /** GET runs those that only read. */
  readonly methods: readonly ("GET" | "POST")[];
  readonly arguments: readonly {
    readonly name: string;
    readonly required: boolean;
    readonly repeated: boolean;
  }[];
  readonly options: readonly OfferedOption[];
}

interface OfferedOption {
  /** Without dashes: `start-timeout`. */
  readonly name: string;
  /** Whether it is followed by a value. */
  readonly takes_value: boolean;
  /** Whether its value is `NAME=VALUE`. */
  readonly takes_pairs: boolean;
  readonly about: string;
}

/** The commands of a program by their paths. */
export type OfferedCommands = ReadonlyMap<string, OfferedCommand>;

/** What a command printed with `--json`, and its exit code. */
export interface CommandOutcome {
  readonly output: string;
  readonly error: string;
  readonly exitCode: number;
}

/** A request that runs no command. */
export class ApiRefusal extends Error {
  override readonly name = "ApiRefusal";
  readonly code = "REFUSED";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The arguments and options of a request: those of its query, or those of its body. */
export interface AskedWith {
  readonly arguments: readonly unknown[];
  readonly options: Readonly<Record<string, unknown>>;
}

/** `?argument=A&argument=B&lines=20`. An option that is repeated there becomes a list. */
export function askedByQuery(query: URLSearchParams): AskedWith {
  const names = new Set([...query.keys()].filter((name) => name !== "argument"));
  const options = [...names].map((name) => {
    const values = query.getAll(name);
    return [name, values.length === 1 ? values[0] : values];
  });
  return { arguments: query.getAll("argument"), options: Object.fromEntries(options) };
}

/**
 * `{"arguments": [...], "options": {...}}`; both may be left out.
 *
 * @throws {ApiRefusal} for anything else.
 */
export function askedByBody(body: unknown): AskedWith {
  if (isRecord(body)) {
    const { arguments: list = [], options = {}, ...rest } = body;
    const [unknown] = Object.keys(rest);
    if (unknown !== undefined) throw new ApiRefusal(400, `Cannot read the body: unknown member "${unknown}"`);
    if (Array.isArray(list) && isRecord(options)) return { arguments: list, options };
  }
  throw new ApiRefusal(400, 'Cannot read the body: expected {"arguments": [...], "options": {...}}');
}

/**
 * The words that run a command. A list repeats an option; an object gives one of `NAME=VALUE` for each member; anything else
 * that is neither text nor number is passed on as JSON. No text of a request can become an option.
 *
 * @throws {ApiRefusal} for an option that the command does not have.
 */
export function toWords(command: OfferedCommand, { arguments: list, options }: AskedWith): string[] {
  const flags = Object.entries(options).flatMap(([name, value]) => optionWords(command, { name, value }));
  return [...command.command.split(" "), ...flags, "--", ...list.map(toWord)];
}

function optionWords(
  { command, options }: OfferedCommand,
  { name, value }: { readonly name: string; readonly value: unknown },
): string[] {
  const plain = name.replaceAll("_", "-");
  const option = options.find((each) => each.name === plain);
  if (option === undefined) throw new ApiRefusal(400, `Cannot run "${command}": unknown option "${name}"`);
  if (value === null || value === undefined) return [];
  if (!option.takes_value) return isTrue(value, name) ? [`--${plain}`] : [];
  return valuesOf(value, option).map((each) => `--${plain}=${each}`);
}

function isTrue(value: unknown, name: string): boolean {
  if (value === true || value === "true" || value === "") return true;
  if (value === false || value === "false") return false;
  throw new ApiRefusal(400, `Cannot read option "${name}": expected true or false`);
}

function valuesOf(value: unknown, { takes_pairs }: OfferedOption): string[] {
  if (Array.isArray(value)) return value.map(toWord);
  if (takes_pairs && isRecord(value)) {
    return Object.entries(value).map(([name, each]) => `${name}=${toWord(each)}`);
  }
  return [toWord(value)];
}

function toWord(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value) ?? "";
}

/** The exit codes of a program that the API tells apart. */
const USAGE_EXIT = 2;
const INTERRUPTED_EXIT = 130;

/** An answer: a status and its JSON. */
export interface ApiAnswer {
  readonly status: number;
  readonly json: string;
}

/** The value of a command; its error when it has no value. A command that failed with a value answers with the value. */
export function answerOf({ output, error, exitCode }: CommandOutcome): ApiAnswer {
  if (exitCode === 0 || output.trim() !== "") return { status: 200, json: output.trim() || "null" };
  const lines = error.trim().split("\n").map(parseJson).filter(isRecord);
  const failure = lines.map((line) => line["error"]).filter(isRecord).at(-1);
  const { message = "The command failed", code } = failure ?? {};
  const body = {
    error: String(message),
    ...typeof code === "number" || typeof code === "string" ? { code } : {},
  };
  return { status: statusOf(code, exitCode), json: JSON.stringify(body) };
}

function statusOf(code: unknown, exitCode: number): number {
  if (code === "STATE_CHANGED") return 409;
  if (exitCode === USAGE_EXIT) return 400;
  return exitCode === INTERRUPTED_EXIT ? 503 : 502;
}
