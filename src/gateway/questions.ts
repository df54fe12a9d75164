/** Calls that ask the user of an MCP client: elicitation in both eras of MCP. */
import {
  inputRequired,
  type InputRequiredResult,
  inputResponse,
  ProtocolError,
  ProtocolErrorCode,
} from "@modelcontextprotocol/server";
import { abortable, onAbort } from "../async/abortable.ts";
import type { AgentQuestion, OnQuestion } from "../agent/questions.ts";
import { errorResult, type McpToolResult } from "../local_tools/mcp.ts";
import type { ToolContext } from "../agent/toolkit/tool_context.ts";
import { mapTexts, toShownText } from "../agent/toolkit/list_entries.ts";
import { shorten } from "../text/text.ts";
import {
  inWrittenOrder,
  printable,
  printableLine,
  toFence,
  toSeenJson,
  toSeenLine,
  toSeenName,
} from "../text/safe_text.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import type { QuestionField } from "../protocol/question_form.ts";
import type { Answer, FieldValue } from "../protocol/questions.ts";

/** The most calls of all clients that wait for answers of their users. */
const MAX_WAITING = 256;
const QUESTION = "question";

/** The most characters of the arguments of a call that can be approved, of a message, and of what is wrong with an answer. */
const MAX_APPROVED_LENGTH = 2_000;
const MAX_MESSAGE_LENGTH = 4_000;
const MAX_PROBLEM_LENGTH = 300;

export interface QuestionAbilities {
  readonly form: boolean;
  readonly url: boolean;
}

interface OpenCall {
  readonly client: ClientKey;
  readonly tool: string;
  /** Settles with the next question or with the result. */
  next: Promise<McpToolResult | InputRequiredResult>;
  answer: (answer: Answer) => void;
  /** The listener of the request that is open now. */
  onProgress: ToolContext["onProgress"];
  readonly ending: AbortController;
}

export type StartCall = (
  context: ToolContext & { readonly onQuestion: OnQuestion },
) => Promise<McpToolResult>;

/** Tells clients apart: the server of a session, or the name that a client of 2026 gives itself. */
export type ClientKey = object | string;

/** What a request brings: a new call, or the answer to the question of one. */
export interface AskingRequest extends Pick<ToolContext, "signal" | "onProgress"> {
  readonly client: ClientKey;
  readonly tool: string;
  readonly state: string | undefined;
  readonly responses: Readonly<Record<string, unknown>> | undefined;
}

/**
 * The calls that may ask the users of their clients. A question ends the request with a result that requires input; the
 * client sends the request again with the answer, and the call goes on. The call itself never runs twice. When too many
 * questions are open, the newest one of the client that has the most counts as cancelled.
 */
export class SuspendedCalls {
  readonly #waiting = new Map<string, OpenCall>();

  /**
   * Starts a call, or goes on with the one that `request.state` names.
   *
   * @throws {ProtocolError} no question with this state is open.
   */
  async handle(
    request: AskingRequest,
    start: StartCall,
  ): Promise<McpToolResult | InputRequiredResult> {
    const call = request.state === undefined ? this.#begin(request, start) : this.#resume(request);
    if (call === undefined) {
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        "Cannot go on with the call: its question is not open any more, or the state is not ours. Call the tool again",
      );
    }
    using _ = onAbort(request.signal, () => call.ending.abort(request.signal.reason));
    return await call.next;
  }

  close(): void {
    for (const { ending } of this.#waiting.values()) ending.abort();
    this.#waiting.clear();
  }

  #begin({ client, tool, onProgress }: AskingRequest, start: StartCall): OpenCall {
    let tell = openStep();
    const ending = new AbortController();
    const call: OpenCall = { client, tool, next: tell.promise, answer: () => undefined, onProgress, ending };
    const onQuestion: OnQuestion = async (question) => {
      if (!this.#makeRoomFor(client)) return { action: "cancel" };
      const why = unshowable(question);
      if (why !== undefined) {
        tell.resolve(errorResult(
          why,
          question.mode === "approval"
            ? { error_code: ErrorCode.TOOL_REQUIRES_CONFIRMATION, may_have_run: false }
            : { error_code: ErrorCode.TOOL_EXECUTION_FAILED, may_have_run: true },
        ));
        return { action: "decline" };
      }
      const state = crypto.randomUUID();
      const answered = Promise.withResolvers<Answer>();
      call.answer = (answer) => {
        tell = openStep();
        call.next = tell.promise;
        answered.resolve(answer);
      };
      this.#waiting.set(state, call);
      tell.resolve(toInputRequired(question, state));
      try {
        return await abortable(answered.promise, question.signal);
      } finally {
        this.#waiting.delete(state);
      }
    };
    start({ signal: ending.signal, onProgress: (progress) => call.onProgress?.(progress), onQuestion }).then(
      (result) => tell.resolve(result),
      (error) => tell.reject(error),
    );
    return call;
  }

  #makeRoomFor(client: ClientKey): boolean {
    if (this.#waiting.size < MAX_WAITING) return true;
    const byClient = Map.groupBy(this.#waiting, ([, call]) => call.client);
    const own = byClient.get(client)?.length ?? 0;
    const most = [...byClient.values()].reduce((one, other) => other.length > one.length ? other : one);
    const [state, call] = most.at(-1) ?? [];
    if (own >= most.length || state === undefined || call === undefined) return false;
    this.#waiting.delete(state);
    call.answer({ action: "cancel" });
    return true;
  }

  /** A state belongs to its client and its tool: the log tells who called what, and a client may allow one tool alone. */
  #resume({ client, tool, state = "", responses, onProgress }: AskingRequest): OpenCall | undefined {
    const call = this.#waiting.get(state);
    if (call === undefined || call.client !== client || call.tool !== tool) return undefined;
    this.#waiting.delete(state);
    call.onProgress = onProgress;
    call.answer(readAnswer(responses));
    return call;
  }
}

/** The end of one request of a call. Nobody may wait for it, when the call fails while its client decides. */
function openStep(): PromiseWithResolvers<McpToolResult | InputRequiredResult> {
  const step = Promise.withResolvers<McpToolResult | InputRequiredResult>();
  step.promise.catch(() => undefined);
  return step;
}

/** Asks nobody what the client cannot show: the call then goes on as for a user who does not decide. */
export function withAbilities(
  onQuestion: OnQuestion,
  { form, url }: QuestionAbilities,
): OnQuestion | undefined {
  if (!form && !url) return undefined;
  return (question) => (question.mode === "url" ? url : form) ? onQuestion(question) : undefined;
}

function toInputRequired(question: AgentQuestion, requestState: string): InputRequiredResult {
  const request = question.mode === "url"
    ? inputRequired.elicitUrl({ message: messageOf(question), url: question.url })
    : inputRequired.elicit({
      message: messageOf(question),
      requestedSchema: schemaOf(question) as FormSchema,
    });
  return inputRequired({ inputRequests: { [QUESTION]: request }, requestState });
}

type FormSchema = Parameters<typeof inputRequired.elicit>[0]["requestedSchema"];

/** An approval is a form without fields: to accept it is the answer. */
function schemaOf(question: AgentQuestion): unknown {
  return question.mode === "form"
    ? mapTexts(question.schema, toShownText)
    : { type: "object", properties: {} };
}

/**
 * Why a client cannot show a question so that its user sees what they answer; `undefined` when it can. Clients show a
 * text as they like, so that arguments have to fit into one look, and what goes back as it is has to be readable.
 */
function unshowable(question: AgentQuestion): string | undefined {
  const { mode, computer, tool } = question;
  if (mode === "approval" && toSeenJson(question.params).length > MAX_APPROVED_LENGTH) {
    return `Cannot ask here whether to run ${toSeenName(tool)} on Computer ${toSeenName(computer)}: ` +
      "its arguments are too long for one look. The tool did not run. Make the call at a terminal, with a2c-smcp agent call, or let the " +
      "owner approve it at the Computer's terminal";
  }
  if (mode !== "form" || question.fields.every(isReadable)) return undefined;
  return `Cannot show the form of ${toSeenName(tool)} on Computer ${toSeenName(computer)}: ` +
    "it has invisible characters in a name, an option or a preset. The call did not go on";
}

/** Whether what a client sends back of a field, and so cannot be changed for display, is visible. */
function isReadable(field: QuestionField): boolean {
  const { options = [] } = field.kind === "choice" || field.kind === "choices" ? field : {};
  const words = [field.name, ...options.map(({ value }) => value)];
  const presets = [field.default ?? []].flat().map(String);
  return words.every((word) => printableLine(word) === word) &&
    presets.every((preset) => printable(preset) === preset.replaceAll("\r\n", "\n"));
}

/** Who asks, as the Server and the Computer vouch for it, comes first; the words of others come last, in a fence. */
function messageOf(question: AgentQuestion): string {
  const { mode, computer, message, problems, mcpServer, tool } = question;
  const server = mcpServer === undefined ? "" : ` of MCP server ${toSeenName(mcpServer)}`;
  const asks = mode === "approval"
    ? `asks whether to run ${toSeenName(tool)}`
    : `${mode === "url" ? "asks you to open a page" : "has a question"} in your call of ${toSeenName(tool)}`;
  const wrong = problems.map((problem) => ` ${toSeenLine(problem, MAX_PROBLEM_LENGTH)}`);
  return [
    inWrittenOrder(`Computer ${toSeenName(computer)} ${asks}${server}.`),
    ...(mode === "approval"
      ? [`Its arguments:\n${toFence(inWrittenOrder(toSeenJson(question.params)))}`]
      : []),
    ...(wrong.length === 0 ? [] : [`The last answer was refused:${wrong.join(",")}.`]),
    `Its words:\n${toFence(shorten(message, MAX_MESSAGE_LENGTH))}`,
  ].join("\n");
}

function readAnswer(responses: Readonly<Record<string, unknown>> | undefined): Answer {
  const view = inputResponse(responses, QUESTION);
  if (view.kind !== "elicit") return { action: "cancel" };
  if (view.action !== "accept") return { action: view.action };
  return view.content === undefined
    ? { action: "accept" }
    : { action: "accept", content: fieldsOf(view.content) };
}

/** The Computer checks the values by the schema of the form; what can be no value of a form is left out here. */
function fieldsOf(content: Readonly<Record<string, unknown>>): Record<string, FieldValue> {
  return Object.fromEntries(
    Object.entries(content).filter((entry): entry is [string, FieldValue] => isFieldValue(entry[1])),
  );
}

function isFieldValue(value: unknown): value is FieldValue {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ||
    (Array.isArray(value) && value.every((each) => typeof each === "string"));
}
