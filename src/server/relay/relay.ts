/** Events for other members of the office: `client:*`, `server:tool_call_cancel` and `server:update_*`. */
import { badRequest } from "../../protocol/errors.ts";
import { fitsApproximately } from "../../protocol/size.ts";
import {
  parseAgentCallData,
  parseComputerCallData,
  parseUpdateComputerConfigReq,
  parseUpdateProgressReq,
} from "../../protocol/parse.ts";
import { timeoutMsOf } from "../../protocol/timeouts.ts";
import { computerNotFound, nestedTooDeep } from "./connection.ts";
import type { Call, Route } from "./hub.ts";
import { MAX_OBSERVER_REQUEST_BYTES, quoted } from "../limits.ts";
import { RawRequest, routingFieldsOf } from "../raw.ts";
import { requirePace, requireRole, toErrorAnswer } from "./caller.ts";
import type { AgentCallData } from "../../protocol/call.ts";
import {
  CANCEL_TOOL_CALL_NOTIFICATION,
  UPDATE_EVENT_PREFIX,
  UPDATE_NOTIFICATION_PREFIX,
  UPDATE_PROGRESS_EVENT,
} from "../../protocol/events.ts";
import type { UpdateProgressReq } from "../../protocol/progress.ts";

/** `client:*`: relays the event to a Computer of the caller's office, and its ack back, both unchanged. */
export const relay: Route = {
  handle(call) {
    const { hub, connection: requester, event, body } = call;
    const request = parseComputerCallData(routingFieldsOf(body));
    const { computer, req_id: reqId } = request;
    const { officeId, name: agent, isObserver: isObserving } = requireRole(call, "agent");
    if (isObserving) requireReading(call, officeId);
    if (body instanceof RawRequest && body.isTooDeep) throw nestedTooDeep(event);
    const refusal = hub.drain.refusal();
    if (refusal !== undefined) throw refusal;
    const target = hub.offices.findComputer(officeId, computer);
    if (target === undefined) throw computerNotFound(computer);
    if (!call.wantsAck) {
      target.tell(event, body);
      return [];
    }
    requester.requesterLoad.requireCapacity("this connection", hub.loadLimits.requester);
    target.targetLoad.requireCapacity(`Computer '${computer}'`, hub.loadLimits.target);
    hub.officeLoads.get(officeId).requireCapacity("this office", hub.loadLimits.office);
    const timeoutMs = timeoutMsOf(request) + hub.graceMs;
    const relayed = { event, reqId, agent, computer, officeId, timeoutMs, isObserving };
    target.ask(relayed, { body, requester, onSettled: call.onSettled });
    return undefined;
  },
  refuse: toErrorAnswer,
};

/** Limits the requests of observers, so that the Computers stay available to the Agent. */
function requireReading({ hub, event, body, wantsAck }: Call, officeId: string): void {
  if (!wantsAck) {
    throw badRequest("event", `Cannot relay "${quoted(event)}": observers must ask for an ack`);
  }
  if (!isSmall(body)) {
    throw badRequest("body", `Cannot relay "${quoted(event)}": too large for an observer`);
  }
  hub.observerLoads.get(officeId).requireCapacity("the observers of this office", hub.loadLimits.observers);
}

function isSmall(body: unknown): boolean {
  return body instanceof RawRequest
    ? body.length <= MAX_OBSERVER_REQUEST_BYTES
    : fitsApproximately(body, MAX_OBSERVER_REQUEST_BYTES);
}

/** `server:tool_call_cancel`: notifies the office that the calling Agent cancelled the call with this `req_id`. */
export const cancelToolCall: Route = {
  handle(call) {
    const { req_id } = parseAgentCallData(call.body);
    const { officeId, name } = requireRole(call, "agent");
    const body: AgentCallData = { agent: name, req_id };
    requirePace(call, body);
    call.hub.offices.notify(officeId, {
      event: CANCEL_TOOL_CALL_NOTIFICATION,
      body,
      except: call.connection.sid,
    });
    return [];
  },
  refuse: toErrorAnswer,
};

/** `server:update_*`: notifies the office of a change on the calling Computer, whose name comes from the session. */
export const update: Route = {
  handle(call) {
    const update = readUpdate(call);
    const { officeId, name } = requireRole(call, "computer");
    const body = { ...update, computer: name };
    requirePace(call, body);
    const event = UPDATE_NOTIFICATION_PREFIX + call.event.slice(UPDATE_EVENT_PREFIX.length);
    call.hub.offices.notify(officeId, { event, body, except: call.connection.sid });
    return [];
  },
  refuse: toErrorAnswer,
};

/** What an update tells besides its Computer: of progress the numbers, of everything else nothing. */
function readUpdate({ event, body }: Call): Omit<UpdateProgressReq, "computer"> | undefined {
  if (event !== UPDATE_PROGRESS_EVENT) return void parseUpdateComputerConfigReq(body);
  const { req_id, progress, total, has_message } = parseUpdateProgressReq(body);
  return {
    req_id,
    progress,
    ...(total === undefined ? {} : { total }),
    ...(has_message === true ? { has_message } : {}),
  };
}
