/**
 * The messages between a running Computer and a process that sends it a command. Each is one line of JSON: a request,
 * then any number of progress replies, then the answer.
 */
import { isRecord, parseJson } from "../../../json.ts";

/** A command for a running Computer. */
export interface ControlRequest {
  /** The version of the package that sends the command; another version may have other commands. */
  readonly version: string;
  /** The command with its arguments. */
  readonly words: readonly string[];
  readonly json: boolean;
  /** The width of the terminal that shows the answer; `undefined` when it is not a terminal. */
  readonly columns?: number | undefined;
  readonly colors?: boolean | undefined;
}

/** The answer to a command. */
export interface ControlAnswer {
  /** Text for standard output. */
  readonly output: string;
  /** Text for standard error. */
  readonly error: string;
  readonly exitCode: number;
}

/** What the Computer sends: progress, or the answer. */
export type ControlReply = { readonly progress: string } | ControlAnswer;

/**
 * Parses a request.
 *
 * @throws {TypeError} when the line is not a JSON object with `words`.
 */
export function parseRequest(line: string | undefined): ControlRequest {
  const request = parseJson(line ?? "");
  if (!isRecord(request) || !Array.isArray(request["words"])) {
    throw new TypeError('Cannot read the request: it is not a JSON object with "words"');
  }
  const { version, words, json, columns, colors } = request;
  return {
    version: String(version),
    words: words.map(String),
    json: json === true,
    columns: typeof columns === "number" && columns > 0 ? columns : undefined,
    colors: colors === true,
  };
}

/** Parses a reply; `undefined` when the line is not one. */
export function parseReply(line: string): ControlReply | undefined {
  const reply = parseJson(line);
  if (!isRecord(reply)) return undefined;
  const { progress, output, error, exitCode } = reply;
  if (typeof progress === "string") return { progress };
  if (typeof output !== "string") return undefined;
  return { output, error: String(error), exitCode: Number(exitCode) };
}

/** A message as a line of JSON, with its line end. */
export function toLine(message: ControlRequest | ControlReply): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${JSON.stringify(message)}\n`);
}
