/** Reads notifications of the Server (`docs/protocol/calls-and-offices.md#notifications`). */
import {
  CANCEL_TOOL_CALL_NOTIFICATION,
  ENTER_OFFICE_NOTIFICATION,
  LEAVE_OFFICE_NOTIFICATION,
  UPDATE_CONFIG_NOTIFICATION,
  UPDATE_DESKTOP_NOTIFICATION,
  UPDATE_FINDER_NOTIFICATION,
  UPDATE_PROGRESS_NOTIFICATION,
  UPDATE_PROMPTS_NOTIFICATION,
  UPDATE_RESOURCES_NOTIFICATION,
  UPDATE_TOOL_LIST_NOTIFICATION,
} from "../protocol/events.ts";
import { badRequest } from "../protocol/errors.ts";
import {
  parseAgentCallData,
  parseOfficeNotification,
  parseUpdateComputerConfigReq,
  parseUpdateProgressReq,
} from "../protocol/parse.ts";
import type { AgentEvent, OfficeMember } from "./events.ts";

export const NOTIFICATION_PREFIX = "notify:";

/**
 * Reads a notification. An unknown one, such as one of a newer peer, becomes a `notification` event.
 *
 * @throws {SmcpError} 400 when it is malformed.
 */
export function readNotification(event: string, body: unknown): AgentEvent {
  switch (event) {
    case ENTER_OFFICE_NOTIFICATION:
      return { type: "enterOffice", ...readMember(body) };
    case LEAVE_OFFICE_NOTIFICATION:
      return { type: "leaveOffice", ...readMember(body) };
    case UPDATE_CONFIG_NOTIFICATION:
      return { type: "updateConfig", computer: readComputer(body) };
    case UPDATE_TOOL_LIST_NOTIFICATION:
      return { type: "updateToolList", computer: readComputer(body) };
    case UPDATE_DESKTOP_NOTIFICATION:
      return { type: "updateDesktop", computer: readComputer(body) };
    case UPDATE_FINDER_NOTIFICATION:
      return { type: "updateFinder", computer: readComputer(body) };
    case UPDATE_RESOURCES_NOTIFICATION:
      return { type: "updateResources", computer: readComputer(body) };
    case UPDATE_PROMPTS_NOTIFICATION:
      return { type: "updatePrompts", computer: readComputer(body) };
    case UPDATE_PROGRESS_NOTIFICATION: {
      const { computer, req_id: reqId, progress, total, has_message } = parseUpdateProgressReq(body);
      const numbers = total === undefined ? { progress } : { progress, total };
      return { type: "updateProgress", computer, reqId, ...numbers, hasMessage: has_message === true };
    }
    case CANCEL_TOOL_CALL_NOTIFICATION: {
      const { agent, req_id } = parseAgentCallData(body);
      return { type: "cancelToolCall", agent, reqId: req_id };
    }
    default:
      return { type: "notification", event, body };
  }
}

/** A notification has exactly one of `computer` and `agent`; some peers send the other as null. */
function readMember(body: unknown): OfficeMember {
  const { office_id: office, computer, agent } = parseOfficeNotification(body);
  if (typeof computer === "string" && typeof agent !== "string") {
    return { office, role: "computer", name: computer };
  }
  if (typeof agent === "string" && typeof computer !== "string") {
    return { office, role: "agent", name: agent };
  }
  throw badRequest(
    "computer",
    `Cannot read a notification of office "${office}": expected either "computer" or "agent"`,
  );
}

function readComputer(body: unknown): string {
  return parseUpdateComputerConfigReq(body).computer;
}
