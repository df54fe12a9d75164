/** What a command answers, and how the answer is shown: as JSON, as text, or as a picture on a terminal. */
import { printable, toSafeJson } from "../../text/safe_text.ts";
import { type Palette, PLAIN, type Screen } from "../../terminal/screen.ts";
import type { Note } from "../questions/shown_question.ts";
import { exitCodeOfAnswer, ExitRequest, failureJson, failureText } from "../outcome.ts";

export interface CommandAnswer {
  readonly value: unknown;
  /** For a file or a pipe, and for a terminal without a picture. */
  readonly text: string;
  /** Whether the JSON is one line, because the command has printed lines of JSON before; false by default. */
  readonly isLine?: boolean | undefined;
  /** Whether the text comes from a tool or a resource, so that a file or a pipe gets it unchanged; false by default. */
  readonly isVerbatim?: boolean | undefined;
  /** Draws the picture for a terminal; the text is shown when it is absent. */
  readonly draw?: ((screen: Screen) => string) | undefined;
  /** What the reader of the answer should know, although the command did what it should. It is not part of the JSON. */
  readonly warning?: string | undefined;
  /** Further facts for standard error; with `--json`, each value is one line of JSON. */
  readonly notes?: readonly Note[] | undefined;
  /** Why the command failed although it has an answer. */
  readonly failure?: string | undefined;
  readonly code?: number | undefined;
}

export interface Presentation {
  readonly json: boolean;
  /** The terminal to draw pictures on, if there is one. */
  readonly screen: Screen | undefined;
}

export interface AnswerOutput {
  readonly print: (text: string) => void;
  /** Prints a warning, or the error: a line, or a JSON object. */
  readonly printError: (text: string) => void;
}

/** @throws {ExitRequest} when the answer is a failure. */
export function showAnswer(
  answer: CommandAnswer,
  { print, printError }: AnswerOutput,
  presentation: Presentation,
): void {
  const shown = answerText(answer, presentation);
  if (shown !== "") print(shown);
  const { warning, notes = [], failure: message, code, text } = answer;
  if (warning !== undefined && !presentation.json) printError(`warning: ${printable(warning)}`);
  for (const note of notes) printError(noteText(note, presentation));
  if (message === undefined) return;
  const exitCode = exitCodeOfAnswer(code);
  const failure = { message, exitCode, ...(code === undefined ? {} : { code }) };
  if (presentation.json) printError(failureJson(failure));
  else if (message !== text) printError(failureText(failure));
  throw new ExitRequest(exitCode);
}

export function noteText({ text, value }: Note, { json }: Pick<Presentation, "json">): string {
  return json ? toSafeJson(value) : `note: ${printable(text)}`;
}

/** Text for a terminal, and JSON, never contain control sequences of a tool or a resource. */
function answerText(
  { value, text, draw, isVerbatim = false, isLine = false }: CommandAnswer,
  { json, screen }: Presentation,
): string {
  if (json) return toSafeJson(value, isLine ? undefined : 2);
  if (screen === undefined) return isVerbatim ? text : printable(text);
  return draw?.(screen) ?? printable(text);
}

/** A picture that a file or a pipe gets without colors and of any width. */
export function drawn(draw: (screen: Screen) => string): Required<Pick<CommandAnswer, "text" | "draw">> {
  return { text: draw({ columns: Infinity, palette: PLAIN }), draw };
}

/** A text that a terminal shows in colors. */
export function colored(toText: (palette: Palette) => string): ReturnType<typeof drawn> {
  return drawn(({ palette }) => toText(palette));
}

/** `max_bytes` for `maxBytes` */
type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : Name;

type SnakeCased<Value> = {
  readonly [Name in keyof Value as Name extends string ? SnakeCase<Name> : never]: Value[Name];
};

/** An object with its names in snake_case, as in all of our JSON. */
export function snakeCased<Value extends object>(value: Value): SnakeCased<Value> {
  const entries = Object.entries(value).map(([name, each]) => [
    name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    each,
  ]);
  return Object.fromEntries(entries) as SnakeCased<Value>;
}

/** The value of an answer from an office, without the id of the request. */
export function withoutRequestId(answer: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(answer).filter(([key]) => key !== "req_id"));
}
