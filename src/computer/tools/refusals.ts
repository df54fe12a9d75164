/** Why a call is not made: no such tool, a disabled or changed one, too many calls, or a Computer that is paused. */
import type { Fleet } from "../../mcp/supervision/fleet.ts";
import type { ServerStatus } from "../../mcp/supervision/server_state.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { SmcpError } from "../../protocol/errors.ts";
import type { CallToolResult, ToolResultMeta } from "../../protocol/tools.ts";
import { didYouMean, listWords } from "../../text/spelling.ts";
import { shorten } from "../../text/text.ts";
import { absentServersHint, serversHint } from "../shared/failures.ts";
import type { ToolDirectory } from "./directory.ts";
import type { ChangedTool } from "./approved_tools.ts";
import { otherNamesOf } from "./names.ts";
import { failureResult, type ToolOutcome } from "./results.ts";

/** How much is kept of a name or id that the Agent chose, in characters. */
export const MAX_KEPT_NAME_LENGTH = 128;
const MAX_NAMED_TOOLS = 5;
/** The states of an MCP server whose tools may be there soon. */
const COMING: ReadonlySet<ServerStatus> = new Set(["starting", "retrying"]);

export function busyResult(tool: string, maxCalls: number): CallToolResult {
  const why = `${maxCalls} calls are already running; try again when some of them have ended`;
  return notCalled(tool, why, { error_code: ErrorCode.TOOL_EXECUTION_FAILED, a2c_reason: "busy" });
}

export function pausedResult(tool: string, computer: string): CallToolResult {
  return notCalled(tool, pauseOf(computer), {
    error_code: ErrorCode.TOOL_EXECUTION_FAILED,
    a2c_reason: "paused",
  });
}

/** The answer to any other request for what the owner has. */
export function pausedError(computer: string): SmcpError {
  const message = `Cannot serve the request: ${pauseOf(computer)}`;
  return new SmcpError(ErrorCode.FORBIDDEN, message, { details: { state: "paused" } });
}

function pauseOf(computer: string): string {
  return `the owner has paused Computer "${computer}"; ask the user before you try again`;
}

export function disabledResult(tool: string): CallToolResult {
  return failureResult(`Tool "${tool}" is disabled on this Computer`, {
    error_code: ErrorCode.TOOL_DISABLED,
  });
}

/** A call that was confirmed for the tool as it was before. */
export function changedResult(tool: string, what: string): CallToolResult {
  const why = `${what} of the tool has changed while the call waited for a confirmation; make the call again`;
  return notCalled(tool, why, { error_code: ErrorCode.TOOL_REQUIRES_CONFIRMATION });
}

/** The outcome of a call whose tool has no route. */
export function refuseUnknown(
  tool: string,
  { directory, fleet }: {
    readonly directory: Pick<ToolDirectory, "view" | "awaited">;
    readonly fleet: Pick<Fleet, "servers">;
  },
): ToolOutcome {
  const { view, awaited } = directory;
  if (view.forbidden.has(tool)) return { result: disabledResult(tool), outcome: "error" };
  const changed = view.setAside.get(tool);
  if (changed !== undefined) return { result: setAsideResult(tool, changed.changed), outcome: "error" };
  const others = otherNamesOf(tool, view.routes.values()).slice(0, MAX_NAMED_TOOLS);
  const locked = others.length > 0
    ? undefined
    : fleet.servers.find(({ name, status }) => status === "needs sign-in" && tool.startsWith(`${name}__`));
  if (locked !== undefined) {
    const { name, statusText } = locked;
    const text = `Tool "${tool}" was not called: MCP server "${name}" ${statusText} at the Computer`;
    const meta = { error_code: ErrorCode.TOOL_AUTHORIZATION_REQUIRED };
    return { result: failureResult(text, meta), outcome: "error", server: name };
  }
  const hint = others.length === 0
    ? didYouMean(tool, view.routes.keys()) + absentServersHint(fleet) +
      serversHint("tools not listed yet", awaited)
    : `; it is listed as ${listWords(others.map((name) => shorten(name, MAX_KEPT_NAME_LENGTH)))}`;
  const text = `Tool "${tool}" does not exist on this Computer${hint}`;
  const isToCome = awaited.length > 0 || fleet.servers.some(({ status }) => COMING.has(status));
  const meta: ToolResultMeta = {
    error_code: ErrorCode.TOOL_NOT_FOUND,
    ...(isToCome ? { a2c_reason: "not_running" } : {}),
  };
  return { result: failureResult(text, meta), outcome: "error" };
}

function setAsideResult(tool: string, { summary }: ChangedTool): CallToolResult {
  const why = `${summary} has changed since the Computer's owner allowed it, and the ` +
    'owner has it set aside then ("on_change": "block")';
  return notCalled(tool, why, { error_code: ErrorCode.TOOL_DISABLED });
}

function notCalled(tool: string, why: string, meta: ToolResultMeta): CallToolResult {
  return failureResult(`Tool "${shorten(tool, MAX_KEPT_NAME_LENGTH)}" was not called: ${why}`, meta);
}
