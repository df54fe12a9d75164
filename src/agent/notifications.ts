/** What the Server tells an Agent, as events (`docs/protocol/calls-and-offices.md#notifications`). */
import type { LinkListener } from "../link/link.ts";
import type { Logger } from "../log.ts";
import { badRequest, toErrorAck } from "../protocol/errors.ts";
import * as events from "../protocol/events.ts";
import {
  parseAgentCallData,
  parseOfficeNotification,
  parseUpdateComputerConfigReq,
  parseUpdateProgressReq,
} from "../protocol/office_requests.ts";
import { describeError } from "../text/text.ts";
import type { ProgressReaders } from "./calls.ts";
import type { AgentEvent, AgentEventName, AgentEvents, ComputerChange, OfficeMember } from "./events.ts";
import type { Listeners } from "./listeners.ts";

const NOTIFICATION_PREFIX = "notify:";

/** The events that say no more than whose view has changed. */
type ChangeName = {
  [Name in AgentEventName]: ComputerChange extends AgentEvents[Name] ? Name : never;
}[AgentEventName];

const CHANGES: Readonly<Record<string, ChangeName>> = {
  [events.UPDATE_CONFIG_NOTIFICATION]: "updateConfig",
  [events.UPDATE_TOOL_LIST_NOTIFICATION]: "updateToolList",
  [events.UPDATE_DESKTOP_NOTIFICATION]: "updateDesktop",
  [events.UPDATE_FINDER_NOTIFICATION]: "updateFinder",
  [events.UPDATE_RESOURCES_NOTIFICATION]: "updateResources",
  [events.UPDATE_PROMPTS_NOTIFICATION]: "updatePrompts",
};

/**
 * Reads a notification. An unknown one, such as one of a newer peer, becomes a `notification` event.
 *
 * @throws {SmcpError} 400 when it is malformed.
 */
export function readNotification(event: string, body: unknown): AgentEvent {
  const change = CHANGES[event];
  if (change !== undefined) return { type: change, computer: parseUpdateComputerConfigReq(body).computer };
  switch (event) {
    case events.ENTER_OFFICE_NOTIFICATION:
      return { type: "enterOffice", ...readMember(body) };
    case events.LEAVE_OFFICE_NOTIFICATION:
      return { type: "leaveOffice", ...readMember(body) };
    case events.UPDATE_PROGRESS_NOTIFICATION: {
      const { computer, req_id: reqId, progress, total, has_message } = parseUpdateProgressReq(body);
      const numbers = total === undefined ? { progress } : { progress, total };
      return { type: "updateProgress", computer, reqId, ...numbers, hasMessage: has_message === true };
    }
    case events.CANCEL_TOOL_CALL_NOTIFICATION: {
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

/** Tells an Agent's listeners what comes by its link. */
export function toLinkListener(
  listeners: Listeners,
  { followed, logger, ending, office }: {
    readonly followed: ProgressReaders;
    readonly logger: Logger;
    /** Aborted when the link has failed. */
    readonly ending: AbortController;
    readonly office: () => string | undefined;
  },
): LinkListener {
  return {
    onEvent: ({ event, body, reply }) => {
      if (!event.startsWith(NOTIFICATION_PREFIX)) {
        logger.warn("unexpected event", { event });
        const refusal = badRequest("event", `Cannot serve "${event}": an Agent does not answer requests`);
        reply?.(toErrorAck(refusal, event));
        return;
      }
      try {
        const news = readNotification(event, body);
        if (news.type === "updateProgress") followed.onUpdate(news);
        listeners.tell(news);
      } catch (error) {
        logger.warn("notification dropped", { event, error: describeError(error) });
      }
    },
    onLost: ({ reason, farewell }) => listeners.tell({ type: "disconnected", reason, farewell }),
    onReturned: () => listeners.tell({ type: "reconnected", office: office() }),
    onFailed: (error) => {
      logger.error("connection failed, and is not retried", { error: error.message });
      listeners.tell({ type: "failed", error });
      ending.abort(error);
    },
  };
}
