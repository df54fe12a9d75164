/** The second confirmation: who is asked, what they are told, and what their answer means. */
import { abortable } from "../../async/abortable.ts";
import type { Logger } from "../../log.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { describeError } from "../../text.ts";
import type { CallToolResult, ToolCallReq } from "../../protocol/tools.ts";
import type { ToolRoute } from "./directory.ts";
import { failureResult } from "./results.ts";

/** A tool call that waits for its confirmation. Its arguments have been checked. */
export interface ConfirmRequest {
  /**
   * The Agent of the office, by the name that the Server vouches for; `undefined` where the Server does not tell, and
   * for a call of this Computer's own program.
   */
  readonly agent: string | undefined;
  /** What the request says of its caller: anybody's text, of any length, and no proof of anything. */
  readonly claimedAgent: string;
  /** Whether this Computer's own program calls. */
  readonly isLocal: boolean;
  /** The id of the request. */
  readonly reqId: string;
  /** The MCP server of the tool. */
  readonly server: string;
  /** The tool's own name. */
  readonly tool: string;
  /** The name that the Agent knows the tool by: its alias where it has one. */
  readonly name: string;
  /** What the MCP server calls the tool before people, if it says so. */
  readonly title: string | undefined;
  /** What the tool does, in its server's words; may be empty. */
  readonly description: string;
  /**
   * The MCP annotations as listed, `{}` without any: `readOnlyHint`, `destructiveHint`, `idempotentHint`,
   * `openWorldHint`. Hints of the MCP server about itself, of any type, and no promises.
   */
  readonly annotations: Readonly<Record<string, unknown>>;
  /** The arguments. */
  readonly params: Readonly<Record<string, unknown>>;
  /**
   * Aborted when the call is cancelled or out of time, the Agent or the Computer leaves the office, the connection is
   * lost, or the Computer closes: then the call does not run whatever the answer, and a prompt can go.
   */
  readonly signal: AbortSignal;
}

/**
 * Decides on a tool call that is not applied automatically: only `true` lets it run. It may take as long as it likes;
 * other calls go on meanwhile, and may ask at the same time.
 */
export type Confirm = (request: ConfirmRequest) => boolean | Promise<boolean>;

/** What asking needs. */
export interface ConfirmationContext {
  readonly confirm: Confirm | undefined;
  readonly caller: Caller;
  /** Takes a place among the confirmations that wait at once; `undefined` when there is none left. */
  readonly takePlace: () => Disposable | undefined;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/** Who calls a tool, as far as it can be trusted. */
export interface Caller {
  /** Whether it is this Computer's own program. */
  readonly isLocal: boolean;
  /** The Agent of the office, by the name that the Server vouches for. */
  readonly agent: () => Promise<string | undefined>;
}

/**
 * Asks for the confirmation of a call that needs one; the answer to a call that may not run, `undefined` when it may.
 *
 * @throws The signal's reason when the call ends while it waits.
 */
export async function refuseUnlessConfirmed(
  request: ToolCallReq,
  route: ToolRoute,
  { confirm, caller, takePlace, signal, log }: ConfirmationContext,
): Promise<CallToolResult | undefined> {
  if (route.meta?.auto_apply === true) return undefined;
  const refuse = (why: string) =>
    failureResult(`Tool "${request.tool_name}" needs a confirmation: ${why}`, {
      error_code: ErrorCode.TOOL_REQUIRES_CONFIRMATION,
    });
  if (confirm === undefined) return refuse(nobodyToAsk(route));
  using place = takePlace();
  if (place === undefined) {
    return refuse("too many other calls wait for one; try again later");
  }
  try {
    const { isLocal } = caller;
    const agent = await abortable(caller.agent(), signal);
    const question = { ...toQuestion(request, route), agent, isLocal, signal };
    const isConfirmed = await abortable(Promise.resolve(confirm(question)), signal) === true;
    // Whoever asked may have gone in the very moment of the answer.
    signal.throwIfAborted();
    return isConfirmed ? undefined : refuse("it was declined");
  } catch (error) {
    signal.throwIfAborted();
    log.error("the confirm callback failed", { req_id: request.req_id, error: describeError(error) });
    return refuse("asking for it failed");
  }
}

function nobodyToAsk({ server, tool }: ToolRoute): string {
  return `this Computer has nobody to ask; its owner can allow it with "auto_apply": true for "${tool}" in "tool_meta", ` +
    `or in "default_tool_meta" of server "${server}"`;
}

function toQuestion(
  request: ToolCallReq,
  route: ToolRoute,
): Omit<ConfirmRequest, "signal" | "agent" | "isLocal"> {
  const { agent: claimedAgent, req_id: reqId, tool_name: name, params } = request;
  const { server, tool, definition: { title, description, annotations = {} } } = route;
  return { claimedAgent, reqId, server, tool, name, title, description, annotations, params };
}
