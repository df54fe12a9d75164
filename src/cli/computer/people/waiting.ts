/** What waits for a person at the Computer: a call to confirm, or a question of an MCP server; and how a program reads it. */
import type { WaitingValue } from "../../../api_values.ts";
import type { QuestionRequest } from "../../../computer/questions/question.ts";
import type { ConfirmRequest } from "../../../computer/tools/confirmation.ts";
import type { ToolChange } from "../../../computer/tools/tool_changes.ts";
import { digestOfText } from "../../../json/digest.ts";
import { shorten } from "../../../text/text.ts";
import { snakeCased } from "../../answers/answer.ts";

/** The most bytes of a call's arguments that a list shows; longer ones are read in pages. */
export const MAX_LISTED_BYTES = 65_536;
/** The most characters of a name or a title that are told: a list has those of many calls. */
const MAX_LINE_LENGTH = 1_000;
/** The most of a description, of what is gone from a part of a tool, and of what has come. */
const MAX_TEXT_LENGTH = 16_384;
/** What an MCP server may say about a tool in one word. */
const HINTS: readonly string[] = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];

interface WaitingBase {
  /** Unique among what waits. */
  readonly id: string;
  readonly since: Date;
}

export interface WaitingCall extends WaitingBase {
  readonly kind: "call";
  readonly request: ConfirmRequest;
  /** Why a call of a tool that was allowed is asked about; `undefined` for a tool that was not. */
  readonly changed: { readonly what: string; readonly changes: readonly ToolChange[] } | undefined;
}

export interface WaitingQuestion extends WaitingBase {
  readonly kind: "question";
  readonly request: QuestionRequest;
}

/** A sign-in at an MCP server, which a command of the page has begun. */
export interface WaitingSignIn extends WaitingBase {
  readonly kind: "sign-in";
  readonly server: string;
  /** What the command told: the page to open, and more (`docs/sign-in.md#for-host-programs`). */
  readonly told: Readonly<Record<string, unknown>>;
  /** Why the last answer was not accepted; empty at first. */
  readonly problems: readonly string[];
}

export type Waiting = WaitingCall | WaitingQuestion | WaitingSignIn;

/** A digest of all that a person is shown and decides on. */
export function digestOf({ request, ...waiting }: WaitingCall | WaitingQuestion): string {
  const { signal: _signal, timeLeftMs: _timeLeftMs, ...shown } = request;
  const { changed } = waiting.kind === "call" ? waiting : {};
  return digestOfText(JSON.stringify([waiting.kind, shown, changed]));
}

/** The arguments of a call as they are read: indented JSON, complete. */
export function argumentsText({ request }: WaitingCall): string {
  return JSON.stringify(request.params, null, 2);
}

/** All but the arguments of a call. */
export function toWaitingEntry(waiting: Waiting): WaitingValue {
  if (waiting.kind === "sign-in") return toSignInEntry(waiting);
  const { id, kind, since, request } = waiting;
  const { server, tool, name, agent, claimedAgent, isLocal, timeLeftMs } = request;
  return {
    id,
    kind,
    server,
    tool,
    name,
    agent,
    ...snakeCased({ claimedAgent: shorten(claimedAgent, MAX_LINE_LENGTH), isLocal }),
    since: since.toISOString(),
    ends_at: new Date(since.getTime() + timeLeftMs).toISOString(),
    digest: digestOf(waiting),
    ...waiting.kind === "call" ? toCallMembers(waiting) : toQuestionMembers(waiting),
  };
}

function toSignInEntry({ id, since, server, told, problems }: WaitingSignIn): WaitingValue {
  const { type: _type, server: _server, ...question } = told;
  const command = "auth login";
  return {
    id,
    kind: "question",
    server,
    tool: command,
    name: command,
    claimed_agent: "",
    is_local: true,
    since: since.toISOString(),
    question: { mode: "sign-in", message: "", ...question, problems },
  };
}

function toCallMembers(waiting: WaitingCall) {
  const { request: { title, description, annotations, client, mustAsk }, changed } = waiting;
  return {
    title: title && shorten(title, MAX_LINE_LENGTH),
    description: shorten(description, MAX_TEXT_LENGTH),
    annotations: Object.fromEntries(
      HINTS.flatMap((hint) => typeof annotations[hint] === "boolean" ? [[hint, annotations[hint]]] : []),
    ),
    client: client && shorten(client, MAX_LINE_LENGTH),
    must_ask: mustAsk,
    has_always: !mustAsk,
    changed: changed?.what,
    changes: changed?.changes.map(({ part, removed, added }) => ({
      member: part,
      removed: firstLines(removed),
      added: firstLines(added),
    })) ?? [],
    arguments_bytes: argumentsBytes(waiting),
  };
}

function firstLines(lines: readonly string[]): string[] {
  let left = MAX_TEXT_LENGTH;
  const first: string[] = [];
  for (const line of lines) {
    if (left <= 0) return [...first, "…"];
    first.push(shorten(line, left));
    left -= line.length + 1;
  }
  return first;
}

function toQuestionMembers({ request }: WaitingQuestion) {
  const { callId, mode, message, problems } = request;
  const asked = request.mode === "form"
    ? { fields: request.fields.map(snakeCased), schema: request.schema }
    : { url: request.url };
  return { call: callId, question: { mode, message, problems, ...asked } };
}

export function argumentsBytes({ request }: WaitingCall): number {
  return new TextEncoder().encode(JSON.stringify(request.params)).length;
}
