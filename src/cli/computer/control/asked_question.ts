/** A question of an MCP server on its way to the process in which the call was typed, and the answer on its way back. */
import { isRecord, parseJson } from "../../../json/json.ts";
import { fieldProblem } from "../../../protocol/form_answer.ts";
import { readForm } from "../../../protocol/question_form.ts";
import type { Answer, FieldValue } from "../../../protocol/questions.ts";
import type { Asker, ShownQuestion } from "../../questions/shown_question.ts";
import type { AskingOptions } from "../../questions/terminal_answers.ts";

export interface AskedQuestion extends AskingOptions {
  readonly question: ShownQuestion;
}

/** The question as a value of JSON: without its signal, and without the fields, which the schema tells. */
export function toWire({ question, presets }: AskedQuestion): Record<string, unknown> {
  return { ...question, signal: undefined, fields: undefined, presets };
}

export function fromWire(wire: unknown, signal: AbortSignal): AskedQuestion {
  if (!isRecord(wire)) throw unreadable();
  const { mode, asker, message, problems, timeLeftMs, schema, url, params, presets } = wire;
  if (!isRecord(asker) || typeof message !== "string" || typeof timeLeftMs !== "number") throw unreadable();
  const base = {
    asker: readAsker(asker),
    message,
    problems: Array.isArray(problems) ? problems.map(String) : [],
    timeLeftMs,
    signal,
  };
  if (mode === "form" && isRecord(schema)) {
    const question = { ...base, mode, schema, fields: readForm(schema) } as const;
    return { question, presets: readPresets(question, presets) };
  }
  if (mode === "url" && typeof url === "string") return { question: { ...base, mode, url } };
  if (mode === "approval" && isRecord(params)) return { question: { ...base, mode, params } };
  throw unreadable();
}

function readAsker({ computer, server, tool, caller }: Readonly<Record<string, unknown>>): Asker {
  if (typeof tool !== "string") throw unreadable();
  return {
    computer: textOf(computer),
    server: textOf(server),
    tool,
    caller: isRecord(caller)
      ? { agent: textOf(caller["agent"]), claimedAgent: textOf(caller["claimedAgent"]) ?? "" }
      : "user",
  };
}

function readPresets(
  { fields }: Extract<ShownQuestion, { mode: "form" }>,
  presets: unknown,
): Record<string, FieldValue> {
  const given = isRecord(presets) ? presets : {};
  const right = fields.filter((field) => fieldProblem(field, given[field.name]) === undefined);
  // A value without a problem is one of its field.
  return Object.fromEntries(right.map(({ name }) => [name, given[name] as FieldValue]));
}

/** Reads the answer; `undefined` when nobody has answered. The Computer checks its content. */
export function parseAnswer(line: string | null): Answer | undefined {
  const answer = line === null ? undefined : parseJson(line);
  if (!isRecord(answer)) return undefined;
  const { action, content } = answer;
  if (action === "decline" || action === "cancel") return { action };
  if (action !== "accept") return undefined;
  return isRecord(content) ? { action, content: content as Record<string, FieldValue> } : { action };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function unreadable(): TypeError {
  return new TypeError("Cannot read the question of the Computer: it has an unknown form");
}
