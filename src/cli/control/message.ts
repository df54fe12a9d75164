/**
 * The messages between a running Computer or Server and a process that sends it a command. Each is one line of JSON: a request,
 * then any number of other replies, then the answer. A question is answered by a line of its own, `{ id, answer }`: `null` when
 * nobody can answer, or there is no browser. Both sides are programs of one version, which the running program checks, and of one
 * user, or one side is root and the other a service: a reply is read as what it says it is.
 */
import { toBareLine } from "../../text/safe_text.ts";
import type { Message } from "../line_channel.ts";
import type { AskingOptions } from "../questions/terminal_answers.ts";

export interface ControlRequest {
  /** The version of the package that sends the command; another version may have other commands. */
  readonly version: string;
  readonly words: readonly string[];
  readonly json: boolean;
  /** The width of the terminal that shows the answer; `undefined` when it is not a terminal. */
  readonly columns?: number | undefined;
  readonly colors?: boolean | undefined;
  /** The user who has typed it, with `sudo` the one before. */
  readonly user?: string | undefined;
}

export interface ControlAnswer {
  readonly output: string;
  readonly error: string;
  readonly exitCode: number;
}

/** What a person is asked. */
export type ControlQuestion =
  /** For a line, which is a text. */
  | { readonly line: string }
  /** For a page to be opened in a browser, which is `true`. */
  | { readonly page: string }
  /** A question of an MCP server, without its signal; the answer is an `Answer`. */
  | { readonly form: Readonly<Record<string, unknown>>; readonly options: AskingOptions };

/** What the running program sends: what the command says and asks, then the answer. */
export type ControlReply =
  | { readonly progress: string }
  /** Text for standard output, at once. */
  | { readonly print: string }
  /** A question with an id that is unique within the connection. */
  | { readonly question: ControlQuestion; readonly id: number }
  /** The question with this id needs no answer any more; `why` is shown in its place. */
  | { readonly withdrawn: number; readonly why?: string }
  | ControlAnswer;

export function readRequest({ version, words, json, columns, colors, user }: Message): ControlRequest {
  if (!Array.isArray(words)) throw new TypeError('Cannot read the request: it has no "words"');
  return {
    version: String(version),
    words: words.map(String),
    json: json === true,
    columns: typeof columns === "number" && columns > 0 ? columns : undefined,
    colors: colors === true,
    user: typeof user === "string" ? toBareLine(user) : undefined,
  };
}
