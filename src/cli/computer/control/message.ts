/**
 * The messages between a running Computer and a process that sends it a command. Each is one line of JSON: a request,
 * then any number of other replies, then the answer. A reply with a question is answered by a line of its own.
 */
import { isRecord, parseJson } from "../../../json/json.ts";

export interface ControlRequest {
  /** The version of the package that sends the command; another version may have other commands. */
  readonly version: string;
  readonly words: readonly string[];
  readonly json: boolean;
  /** The width of the terminal that shows the answer; `undefined` when it is not a terminal. */
  readonly columns?: number | undefined;
  readonly colors?: boolean | undefined;
}

export interface ControlAnswer {
  readonly output: string;
  readonly error: string;
  readonly exitCode: number;
}

/** What the command says and asks before its answer. */
export type ControlTalk =
  | { readonly progress: string }
  /** Text for standard output, at once. */
  | { readonly print: string }
  /** A question to the person; `id` is unique within the connection. */
  | { readonly question: string; readonly id: number }
  /** The question with this id needs no answer any more; `why` is shown in its place. */
  | { readonly withdrawn: number; readonly why?: string }
  /** A page to open in a browser; `id` as for a question. */
  | { readonly page: string; readonly id: number }
  /** A question of an MCP server, as `asked_question.ts` writes it; the line of its answer is an answer as JSON. */
  | { readonly asked: Readonly<Record<string, unknown>>; readonly id: number };

/** What the Computer sends: talk, or the answer. */
export type ControlReply = ControlTalk | ControlAnswer;

/** The answer to a question, or whether a page was opened. */
export interface ControlResponse {
  readonly id: number;
  /** `null` when nobody can answer, or there is no browser. */
  readonly line: string | null;
}

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

export function parseReply(line: string): ControlReply | undefined {
  const reply = parseJson(line);
  if (!isRecord(reply)) return undefined;
  const { output, error, exitCode } = reply;
  if (typeof output !== "string") return parseTalk(reply);
  return { output, error: String(error), exitCode: Number(exitCode) };
}

function parseTalk(
  { progress, print, question, withdrawn, why, page, asked, id }: Readonly<Record<string, unknown>>,
): ControlTalk | undefined {
  if (typeof progress === "string") return { progress };
  if (typeof print === "string") return { print };
  if (typeof withdrawn === "number") return { withdrawn, ...typeof why === "string" && { why } };
  if (typeof id !== "number") return undefined;
  if (typeof question === "string") return { question, id };
  if (isRecord(asked)) return { asked, id };
  return typeof page === "string" ? { page, id } : undefined;
}

export function parseResponse(text: string): ControlResponse | undefined {
  const response = parseJson(text);
  if (!isRecord(response)) return undefined;
  const { id, line } = response;
  if (typeof id !== "number" || (typeof line !== "string" && line !== null)) return undefined;
  return { id, line };
}

export function toLine(message: ControlRequest | ControlReply | ControlResponse): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${JSON.stringify(message)}\n`);
}
