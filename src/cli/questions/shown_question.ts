/** A question to a person at a terminal, wherever it comes from, and the words that say who asks. */
import type { QuestionRequest } from "../../computer/questions/question.ts";
import type { QuestionField } from "../../protocol/question_form.ts";
import type { Answer } from "../../protocol/questions.ts";
import { clientNamedIn } from "../../protocol/call.ts";
import { inWrittenOrder, toSafeLine, toSeenName } from "../../text/safe_text.ts";
import { shorten } from "../../text/text.ts";

/** The most characters of what a Computer says about a call that waits. */
const MAX_WAIT_MESSAGE_LENGTH = 300;

/** Who asks. Names are any text of any length. */
export interface Asker {
  /** The Computer of the MCP server; `undefined` at the Computer itself. */
  readonly computer?: string | undefined;
  /** The MCP server; `undefined` when the Computer does not say. */
  readonly server: string | undefined;
  readonly tool: string;
  /** Who made the call: the user of this terminal, or an Agent. */
  readonly caller: "user" | Caller;
}

export interface Caller {
  /** The name as the Server knows it; `undefined` when the Server did not say. */
  readonly agent: string | undefined;
  /** The name in the request. It proves nothing. */
  readonly claimedAgent: string;
}

interface QuestionBase {
  readonly asker: Asker;
  /** The text of the MCP server: any characters. */
  readonly message: string;
  /** What was wrong with the previous answer; empty at first. */
  readonly problems: readonly string[];
  readonly timeLeftMs: number;
  readonly signal: AbortSignal;
}

export type ShownForm = QuestionBase & {
  readonly mode: "form";
  readonly fields: readonly QuestionField[];
  /** The fields as the MCP server wrote them: JSON Schema. */
  readonly schema: Readonly<Record<string, unknown>>;
};

export type ShownPage = QuestionBase & { readonly mode: "url"; readonly url: string };

export type ShownApproval = QuestionBase & {
  readonly mode: "approval";
  readonly params: Readonly<Record<string, unknown>>;
};

export type ShownQuestion = ShownForm | ShownPage | ShownApproval;

/** The person at a Computer of the office is asked about a call, which waits for them. */
export interface ShownWait {
  readonly computer: string;
  /** The MCP server; `undefined` when the Computer does not say. */
  readonly mcpServer: string | undefined;
  readonly tool: string;
  readonly message: string;
  readonly timeLeftMs: number;
}

export interface Note {
  /** Safe to print, on one line. */
  readonly text: string;
  readonly value: unknown;
}

/** Says what a call waits for, and how long. */
export function waitNote({ computer, mcpServer, tool, message, timeLeftMs }: ShownWait): Note {
  const text = shorten(toSafeLine(message), MAX_WAIT_MESSAGE_LENGTH);
  return {
    text: `Computer ${toShownName(computer)}: ${text} (the call waits ${describeTimeLeft(timeLeftMs)})`,
    value: { waiting: { computer, mcp_server: mcpServer, tool, message, time_left_ms: timeLeftMs } },
  };
}

export type AnswerShown = (question: ShownQuestion) => Promise<Answer>;

/** `MCP server "shop" asks in a call of "order" by Agent "bot"`; `asks` may say what for. */
export function describeAsker({ computer, server, tool, caller }: Asker, asks = "asks"): string {
  const asker = server === undefined ? "An MCP server" : `MCP server ${toShownName(server)}`;
  const place = computer === undefined ? "" : ` of Computer ${toShownName(computer)}`;
  const call = caller === "user"
    ? `in your call of ${toShownName(tool)}`
    : `in a call of ${toShownName(tool)} by ${describeCaller(caller)}`;
  return `${asker}${place} ${asks} ${call}`;
}

/** The Agent's name as the Server knows it, then what the request adds: a client, or another name. */
export function describeCaller({ agent, claimedAgent }: Caller): string {
  const who = agent === undefined ? "an Agent that the Server did not name" : `Agent ${toShownName(agent)}`;
  const client = clientNamedIn(claimedAgent, agent);
  if (client !== undefined) return `${who} (for, as it says: ${toShownName(client)})`;
  return claimedAgent === "" || claimedAgent === agent
    ? who
    : `${who} (calls itself ${toShownName(claimedAgent)})`;
}

/** A name in quotes, all of its characters visible and in the order in which they are written. */
export function toShownName(name: string): string {
  return inWrittenOrder(toSeenName(name));
}

/** A time in the largest unit that fits: `10 min`, `30 s`. */
export function describeTimeLeft(timeLeftMs: number): string {
  const seconds = Math.max(1, Math.round(timeLeftMs / 1_000));
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`;
}

/** A question that a Computer passes on. */
export function fromRequest(request: QuestionRequest): ShownQuestion {
  const { server, tool, isLocal, agent, claimedAgent } = request;
  return { ...request, asker: { server, tool, caller: isLocal ? "user" : { agent, claimedAgent } } };
}
