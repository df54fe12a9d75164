/** `calls`, `pause`, `resume`: what waits for a person, and what runs. */
import type { CallsValue, RunningValue } from "../../../api_values.ts";
import type { QuestionField } from "../../../protocol/question_form.ts";
import type { Answer, FieldValue } from "../../../protocol/questions.ts";
import { escapeUnseen, inWrittenOrder, toSafeLine } from "../../../text/safe_text.ts";
import { parseParams } from "../../answers/arguments.ts";
import { type CommandAnswer, snakeCased } from "../../answers/answer.ts";
import type { RunningToolCall } from "../../../computer/shared/computer_events.ts";
import { progressText } from "../../answers/contents.ts";
import { StateChangedError, UsageError } from "../../outcome.ts";
import { quoteWord } from "../../../terminal/words.ts";
import { commandLineOf } from "../../program.ts";
import { defaultOf, describeField } from "../../questions/field_text.ts";
import { describeAsker, describeTimeLeft, fromRequest, toShownName } from "../../questions/shown_question.ts";
import type { CommandContext } from "../hosted_computer.ts";
import { AT_TERMINAL, type Decision } from "../people/people.ts";
import {
  argumentsBytes,
  argumentsText,
  digestOf,
  MAX_LISTED_BYTES,
  toWaitingEntry,
  type Waiting,
  type WaitingCall,
  type WaitingQuestion,
} from "../people/waiting.ts";
import { changeNotice, describeCall } from "../questions.ts";

/** The most bytes of arguments in one list; those of further calls are read in pages. */
const MAX_ALL_LISTED_BYTES = 1024 * 1024;
/** The characters of a page of arguments. */
const PAGE_LENGTH = 65_536;

/** What a pause means, wherever it is shown. */
export const PAUSED =
  'paused: new calls of Agents, and all reads of documents, windows and skills, are refused until "resume"; calls ' +
  "that run go on";

/** Lists what waits, and what runs. Who looks counts as somebody who can be asked. */
export function listCalls({ hosted, place }: CommandContext): CommandAnswer {
  const { people, computer, commandName } = hosted;
  people.look();
  // At the prompt itself, commands are typed without the program.
  const program = place === AT_TERMINAL
    ? ""
    : `${commandLineOf("computer")} --name ${quoteWord(commandName)} `;
  const { running, isPaused } = computer.calls;
  const listed = withArguments(people.waiting);
  const value: CallsValue = {
    paused: isPaused,
    waiting: listed.map(({ waiting, params }) => ({ ...toWaitingEntry(waiting), arguments: params })),
    running: running.map(toRunningEntry),
  };
  const parts = [
    ...isPaused ? [PAUSED] : [],
    ...listed.length === 0 ? ["nothing waits for you"] : listed.map((each) => waitingText(each, program)),
    ...running.length === 0 ? [] : [running.map(runningText).join("\n")],
  ];
  return { value, text: parts.join("\n\n") };
}

/** A call that runs, with the names of our JSON. */
export function toRunningEntry(call: RunningToolCall): RunningValue {
  const { startedAt, timesOutAt, isEnding, progress, ...rest } = call;
  return {
    ...snakeCased(rest),
    since: startedAt.toISOString(),
    timeout_at: timesOutAt?.toISOString(),
    progress,
    cancelled: isEnding || undefined,
  };
}

function runningText(
  { id, server, name, startedAt, awaits, progress, isEnding, agent, client }: RunningToolCall,
): string {
  const whose = client === undefined ? "" : ` for ${toShownName(client)}`;
  const by = agent === undefined ? "this program" : `Agent ${toShownName(agent)}${whose}`;
  const seconds = Math.round((Date.now() - startedAt.getTime()) / 1000);
  const waits = awaits === "caller" ? "waits for its Agent, which has gone" : "waits for a person";
  const state = isEnding ? "is ending" : awaits === undefined ? "runs" : waits;
  const done = progress === undefined ? "" : `, ${progressText(progress)}`;
  return `${id}  ${toShownName(name)} of ${toShownName(server)} by ${by} ${state} since ${seconds} s${done}`;
}

/** Cancels a call that runs, as its Agent could. */
export function cancelCall({ hosted }: CommandContext, { id }: { readonly id: string }): CommandAnswer {
  if (!hosted.computer.calls.cancel(id)) throw new StateChangedError(`No call "${id}" runs`);
  return { value: { id, cancelled: true }, text: `call ${id} is cancelled` };
}

/** Refuses new calls and all reads of Agents, or takes them again. */
export function setPaused({ hosted }: CommandContext, paused: boolean): CommandAnswer {
  const problem = hosted.setPaused(paused);
  const text = paused ? PAUSED : "Agents may call and read again";
  return {
    value: { paused, problem: problem ?? null },
    text: problem === undefined ? text : `${text}. But ${problem}`,
  };
}

interface Listed {
  readonly waiting: Waiting;
  /** `undefined` for a question, and for arguments that are too long for a list. */
  readonly params: WaitingCall["request"]["params"] | undefined;
}

function withArguments(all: readonly Waiting[]): Listed[] {
  let roomBytes = MAX_ALL_LISTED_BYTES;
  return all.map((waiting) => {
    if (waiting.kind !== "call") return { waiting, params: undefined };
    const bytes = argumentsBytes(waiting);
    if (bytes > Math.min(MAX_LISTED_BYTES, roomBytes)) return { waiting, params: undefined };
    roomBytes -= bytes;
    return { waiting, params: waiting.request.params };
  });
}

function waitingText({ waiting, params }: Listed, program: string): string {
  if (waiting.kind === "call") return callText(waiting, params, program);
  if (waiting.kind === "question") return questionText(waiting, program);
  const { id, server, told: { url } } = waiting;
  return `${id}  sign-in at MCP server ${toShownName(server)}: ${toSafeLine(String(url))}`;
}

function callText(waiting: WaitingCall, params: Listed["params"], program: string): string {
  const { id, request, changed } = waiting;
  const shown = params === undefined
    ? `with ${argumentsBytes(waiting)} bytes of arguments; "calls show ${id}" shows them`
    : `with ${inWrittenOrder(escapeUnseen(JSON.stringify(params)))}`;
  return [
    `${changeNotice(request, changed)}${id}  ${describeCall(request)}`,
    shown,
    timeText(waiting),
    `${program}calls allow ${id} --shown ${digestOf(waiting)}`,
  ].join("\n");
}

function questionText(waiting: WaitingQuestion, program: string): string {
  const { id, request } = waiting;
  const { asker } = fromRequest(request);
  const wanted = request.mode === "url"
    ? `a page to open: ${request.url}`
    : `fields: ${request.fields.map((field) => describeField(field, { isJson: true })).join(", ")}`;
  return [
    `${id}  ${describeAsker(asker)}: ${toSafeLine(request.message)}`,
    wanted,
    ...request.problems.map((problem) => `not yet right: ${toSafeLine(problem)}`),
    timeText(waiting),
    `${program}calls answer ${id}${request.mode === "url" ? "" : ` --content ${exampleOf(request.fields)}`}`,
  ].join("\n");
}

/** An answer to a form to be changed: of each field its default or any value of its type, as one word of a command. */
function exampleOf(fields: readonly QuestionField[]): string {
  const values = fields.map((field) => [field.name, defaultOf(field) ?? anyValueOf(field)]);
  return quoteWord(escapeUnseen(JSON.stringify(Object.fromEntries(values))), "'");
}

function anyValueOf(field: QuestionField): FieldValue {
  switch (field.kind) {
    case "text":
      return "…";
    case "number":
      return field.minimum ?? 0;
    case "boolean":
      return true;
    case "choice":
      return field.options[0]?.value ?? "";
    case "choices":
      return field.options.slice(0, Math.max(1, field.minItems ?? 0)).map(({ value }) => value);
  }
}

function timeText({ since, request: { timeLeftMs } }: WaitingCall | WaitingQuestion): string {
  return `waits ${describeTimeLeft(since.getTime() + timeLeftMs - Date.now())} longer`;
}

/** Shows one page of the arguments of a call. */
export function showCall(
  { hosted: { people } }: CommandContext,
  { id, page }: { readonly id: string; readonly page: number },
): CommandAnswer {
  people.look();
  const whole = argumentsText(people.callOf(id));
  const pages = Math.max(1, Math.ceil(whole.length / PAGE_LENGTH));
  if (page > pages) throw new UsageError(`Cannot show page ${page}: call "${id}" has ${pages}`);
  const text = whole.slice((page - 1) * PAGE_LENGTH, page * PAGE_LENGTH);
  const shown = inWrittenOrder(text.split("\n").map(escapeUnseen).join("\n"));
  return {
    value: { id, page, pages, text },
    text: pages === 1 ? shown : `${shown}\npage ${page} of ${pages}`,
  };
}

export function decide(
  { hosted: { people }, place }: CommandContext,
  { id, ...wanted }: { readonly id: string; readonly decision: Decision; readonly shown?: string },
): CommandAnswer {
  people.decide(id, { ...wanted, place });
  const decision = wanted.decision === "no" ? "deny" : wanted.decision === "always" ? "always" : "allow";
  return { value: { id, decision }, text: `call ${id} is ${decision === "deny" ? "refused" : "allowed"}` };
}

export function answerQuestion(
  context: CommandContext,
  { id, content }: { readonly id: string; readonly content: string | undefined },
): CommandAnswer {
  // Each value is checked against its field.
  const values = content === undefined ? {} : parseParams(content) as Record<string, FieldValue>;
  return answer(context, { id, given: { action: "accept", content: values } });
}

export function declineQuestion(context: CommandContext, { id }: { readonly id: string }): CommandAnswer {
  return answer(context, { id, given: { action: "decline" } });
}

function answer(
  { hosted: { people }, place }: CommandContext,
  { id, given }: { readonly id: string; readonly given: Answer },
): CommandAnswer {
  people.answer(id, { answer: given, place });
  const { action } = given;
  return {
    value: { id, action },
    text: `question ${id} is ${action === "accept" ? "answered" : "declined"}`,
  };
}
