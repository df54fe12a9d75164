/** Confirmation of tool calls by the person at the Computer: when they are asked, and what they are shown. */
import { digestOfText } from "../../json/digest.ts";
import { settledWithin } from "../../async/abortable.ts";
import type { Logger } from "../../log.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { describeError } from "../../text/text.ts";
import { clientNamedIn } from "../../protocol/call.ts";
import type { ToolCallReq } from "../../protocol/tools.ts";
import type { CallLimits } from "../../config/limits.ts";
import type { OfficeAgent } from "../office/office_agent.ts";
import type { AgentChannel } from "../questions/agent_channel.ts";
import { NobodyAnswered, PersonAtComputer } from "../questions/person.ts";
import type { QuestionedCall } from "../questions/question.ts";
import type { ApprovedTools } from "./approved_tools.ts";
import type { ToolRoute } from "./directory.ts";
import { definitionOf, type ToolChange, type ToolDefinition } from "./tool_changes.ts";
import { failureResult, type ToolOutcome } from "./results.ts";
import type { RunningCall } from "../shared/running_call.ts";

/**
 * How long a call waits for room to be asked about, in milliseconds. A rule of the host program answers at once, however many
 * calls come together; a person does not.
 */
const ROOM_WAIT_MS = 1_000;
/** What the caller can do, where the user of the Agent may confirm. */
const HOW_TO_CONFIRM =
  "To confirm it, make the call at a terminal or with --approve, in a program with onQuestion, or in an MCP client " +
  "that can ask its user (elicitation)";
const UNDECIDED =
  `nobody at the Agent decided it: its user did not, or nobody could be asked. ${HOW_TO_CONFIRM}`;
const DECLINED = "the user of the Agent declined it";
const NO_LONGER_ALLOWED = "the Computer's owner no longer lets the user of the Agent confirm it";

/** A tool call that waits for its confirmation. Its arguments have been checked. */
export interface ConfirmRequest extends QuestionedCall {
  /**
   * For whom the Agent makes the call, as it says, such as the name of an MCP client; `undefined` when it does not say. It
   * proves nothing.
   */
  readonly client: string | undefined;
  /**
   * Whether the Agent demands that a person is asked now: neither a rule nor an earlier answer may allow the call
   * (`docs/protocol/extensions.md#asked-calls`).
   */
  readonly mustAsk: boolean;
  /** The tool's title for people; `undefined` when the MCP server gives none. */
  readonly title: string | undefined;
  /** The description by the MCP server; may be empty. */
  readonly description: string;
  /**
   * The MCP annotations as listed, `{}` when there are none: `readOnlyHint`, `destructiveHint`, `idempotentHint`,
   * `openWorldHint`. Hints by the MCP server about itself, of any type; they promise nothing.
   */
  readonly annotations: Readonly<Record<string, unknown>>;
  /**
   * Another text as soon as the MCP server lists the tool with another title, description, schema or annotations, or its
   * entry in the configuration has changed: what was allowed for the tool before was allowed for another one.
   */
  readonly fingerprint: string;
  /** The tool as the MCP server lists it now, for a comparison with what was allowed before. */
  readonly definition: ToolDefinition;
  /**
   * What has changed since the owner allowed the tool (`auto_apply` with `on_change`), which is why they are asked; empty
   * for a tool that always asks.
   */
  readonly changes: readonly ToolChange[];
  /** The arguments. */
  readonly params: Readonly<Record<string, unknown>>;
  /**
   * Aborted when the call is cancelled or times out, its Agent has left and does not come back soon, or the Computer leaves
   * the office or closes. The call then never runs, whatever the answer, so a prompt can be closed.
   */
  readonly signal: AbortSignal;
}

/** `true` allows the call; `always` also the tool as it is now, where its change is why the owner was asked. */
export type Confirmed = boolean | "always" | undefined;

/**
 * Decides whether a tool call without `auto_apply`, or of a tool that has changed since it was allowed, may run: only
 * `true` and `always` allow it; `undefined` when nobody is there to ask. It may take any time; other calls go on
 * meanwhile, and may be asked about at the same time.
 */
export type Confirm = (request: ConfirmRequest) => Confirmed | Promise<Confirmed>;

export interface ConfirmationContext {
  readonly confirm: Confirm | undefined;
  readonly agent: Pick<OfficeAgent, "known">;
  /** The way to the Agent's user, who confirms where the configuration says `"approval": "agent"`. */
  readonly channel: AgentChannel;
  readonly limits: Pick<CallLimits, "maxConfirmations">;
  readonly approved: Pick<ApprovedTools, "approve">;
  readonly log: Logger;
}

/** Asks for confirmations, a bounded number of them at once. */
export class Confirmations {
  /** Also asked by the questions of calls. */
  readonly person: PersonAtComputer;
  readonly #context: ConfirmationContext;
  #waiting = 0;
  /** Resolved when a place becomes free. */
  #left = Promise.withResolvers<void>();

  constructor(context: ConfirmationContext) {
    this.#context = context;
    this.person = new PersonAtComputer(context);
  }

  /**
   * Asks whether a call may run. Gives the result of a call that must not run, `undefined` when it may.
   *
   * @throws The signal's reason when the call ends while it waits.
   */
  async refusalOf(call: RunningCall, route: ToolRoute): Promise<ToolOutcome | undefined> {
    const { request, clock: { signal } } = call;
    const { confirm, log } = this.#context;
    const isForAgent = this.#isForAgent(call, route);
    if (!isForAgent && confirm === undefined) return refusal(request, cannotAsk(call, route));
    if (!await this.#enter()) {
      return refusal(request, "too many other calls wait for a confirmation; try again later");
    }
    try {
      signal.throwIfAborted();
      const refusedBecause = confirm === undefined || isForAgent
        ? await this.#askAgent(call, route)
        : await this.#ask(confirm, call, route);
      // The call may have been cancelled at the moment of the answer.
      signal.throwIfAborted();
      return refusedBecause === undefined ? undefined : refusal(request, refusedBecause);
    } catch (error) {
      signal.throwIfAborted();
      log.error("the confirm callback failed", { req_id: request.req_id, error: describeError(error) });
      return refusal(request, "asking for it failed");
    } finally {
      this.#leave();
    }
  }

  /** Takes one of the places for calls that wait; resolves to whether there was one. */
  async #enter(): Promise<boolean> {
    const endsAtMs = performance.now() + ROOM_WAIT_MS;
    while (this.#waiting >= this.#context.limits.maxConfirmations) {
      const leftMs = endsAtMs - performance.now();
      if (leftMs <= 0) return false;
      await settledWithin(this.#left.promise, leftMs);
    }
    this.#waiting++;
    return true;
  }

  #leave(): void {
    this.#waiting--;
    this.#left.resolve();
    this.#left = Promise.withResolvers();
  }

  /** Only the user of the Agent that made the call can confirm it, and only where the owner allows that. */
  #isForAgent({ isLocal, mustAsk }: RunningCall, { server }: ToolRoute): boolean {
    return !isLocal && !mustAsk && server.config.approval === "agent" &&
      this.#context.channel.takes("approval");
  }

  /** Asks the person at the Computer; gives the reason when the call must not run. */
  async #ask(confirm: Confirm, call: RunningCall, route: ToolRoute): Promise<Refused | undefined> {
    const { request, isLocal, mustAsk, clock: { signal } } = call;
    const meta = { error_code: ErrorCode.TOOL_REQUIRES_CONFIRMATION };
    const reason = { server: route.server.name, what: "a confirmation", meta, signal };
    try {
      const isConfirmed = await this.person.ask(call, reason, async (by) => {
        const { agent, timeLeftMs, signal } = by();
        const client = clientNamedIn(request.agent, agent);
        const asked = { callId: call.id, agent, client, isLocal, mustAsk, timeLeftMs, signal };
        return await confirm({ ...toQuestion(request, route), ...asked });
      });
      if (isConfirmed === undefined) return cannotAsk(call, route);
      if (isConfirmed === "always" && route.changed !== undefined) this.#context.approved.approve(route);
      return isConfirmed === true || isConfirmed === "always" ? undefined : { declined: "it was declined" };
    } catch (error) {
      if (error instanceof NobodyAnswered) return `${error.message}, and it has not run`;
      throw error;
    }
  }

  /**
   * Asks the user of the Agent, whose program shows the arguments that it has sent. Programs that share the Agent's seat
   * share its channel, and one of them may have nobody to ask.
   */
  async #askAgent(call: RunningCall, route: ToolRoute): Promise<Refused | undefined> {
    const { server, tool } = route;
    const { request, clock: { signal } } = call;
    call.awaited = "approver";
    const what = `Tool "${request.tool_name}" of MCP server "${server.name}"`;
    const { confirm, channel } = this.#context;
    const { answer, why, isUnasked } = await channel.ask(call, {
      mode: "approval",
      server: server.name,
      message: `${what} ${changeText(route)}needs a confirmation. Run it?`,
      members: { tool: tool.name },
      sentence: `${what} has not run: it needs a confirmation by the user of the Agent`,
      meta: { error_code: ErrorCode.TOOL_REQUIRES_CONFIRMATION },
      signal,
    });
    if (isUnasked === true && confirm !== undefined) {
      call.awaited = "confirmer";
      return await this.#ask(confirm, call, route);
    }
    if (answer.action === "cancel") return why ?? UNDECIDED;
    if (answer.action === "decline") return { declined: why ?? DECLINED };
    // The owner may have taken the permission back while the question was open.
    return server.config.approval === "agent" ? undefined : NO_LONGER_ALLOWED;
  }
}

/** Why a call must not run: a sentence, and apart from others that of a person who has declined it. */
type Refused = string | { readonly declined: string };

function refusal({ tool_name }: ToolCallReq, refused: Refused): ToolOutcome {
  const [outcome, why] = typeof refused === "string"
    ? ["unconfirmed" as const, refused]
    : ["declined" as const, refused.declined];
  const result = failureResult(`Tool "${tool_name}" needs a confirmation: ${why}`, {
    error_code: ErrorCode.TOOL_REQUIRES_CONFIRMATION,
    a2c_reason: outcome,
  });
  return { result, outcome };
}

/** Why a tool with `auto_apply` needs a confirmation. */
function changeText({ changed }: ToolRoute): string {
  return changed === undefined ? "" : `has changed since it was allowed (${changed.summary}), and `;
}

function cannotAsk({ isLocal, mustAsk }: RunningCall, { server, tool, changed }: ToolRoute): string {
  if (mustAsk) {
    return "the Agent demands that the person at the Computer is asked, and this Computer cannot ask anybody. Its owner " +
      'starts it at a terminal, opens its page ("a2c-smcp computer console"), or has it in a program with confirm';
  }
  if (!isLocal && server.config.approval === "agent") {
    return "the Computer's owner lets the user of the Agent confirm it, but the Agent does not offer to ask them. " +
      HOW_TO_CONFIRM;
  }
  if (changed !== undefined) {
    return `${changed.summary} has changed since the Computer's owner allowed it, and this Computer cannot ask anybody. ` +
      `To allow it as it is now, its owner answers "always" at the Computer's terminal, or runs "tool allow" there, or ` +
      `edits the entry of server "${server.name}", such as its "on_change"`;
  }
  return "this Computer cannot ask anybody. To allow the tool, its owner sets " +
    `"auto_apply": true for "${tool.name}" in "tool_meta" or in "default_tool_meta" of server "${server.name}" ` +
    `(in "mcpServers": "alwaysAllow": ["${tool.name}"]), starts the Computer with --auto-apply or --auto-apply-reads, ` +
    'or answers calls on its page ("a2c-smcp computer console")';
}

function toQuestion(
  request: ToolCallReq,
  { server, tool, changed }: ToolRoute,
): Omit<ConfirmRequest, "callId" | "signal" | "timeLeftMs" | "agent" | "client" | "isLocal" | "mustAsk"> {
  const { agent: claimedAgent, req_id: reqId, tool_name: name, params } = request;
  const { title, description, annotations = {} } = tool;
  return {
    claimedAgent,
    reqId,
    server: server.name,
    tool: tool.name,
    name,
    title,
    description,
    annotations,
    fingerprint: digestOfText(JSON.stringify([tool, server.config])),
    definition: definitionOf(tool),
    changes: changed?.changes ?? [],
    params,
  };
}
