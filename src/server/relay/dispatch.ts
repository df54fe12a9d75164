/** Takes each event in its order, checks its shape, finds its route, and relays requests for Computers. */
import { ErrorCode } from "../../protocol/error_codes.ts";
import { badRequest, SmcpError } from "../../protocol/errors.ts";
import {
  CANCEL_TOOL_CALL_EVENT,
  CLIENT_EVENT_PREFIX,
  JOIN_OFFICE_EVENT,
  LEAVE_OFFICE_EVENT,
  LIST_PRESENCE_EVENT,
  LIST_ROOM_EVENT,
  RENEW_CREDENTIALS_EVENT,
  UPDATE_EVENT_PREFIX,
} from "../../protocol/events.ts";
import { parseComputerCallData } from "../../protocol/office_requests.ts";
import { fitsApproximately } from "../../json/json.ts";
import { timeoutMsOf } from "../../protocol/call.ts";
import { describeError, quoted } from "../../text/text.ts";
import { optionLabel } from "../options/checks.ts";
import { CONNECTION_LOST, departureReason } from "../observe/logs.ts";
import { RawRequest, routingFieldsOf } from "../engine/raw.ts";
import { Call, type Route } from "./call.ts";
import { type Connection, nestedTooDeep } from "./connection.ts";
import { DeferredEvents, type MemberEvent } from "./deferred_events.ts";
import { computerAsleep, computerNotFound } from "./presence.ts";
import type { RelayState } from "./relay_state.ts";
import {
  cancelToolCall,
  joinOffice,
  leaveOffice,
  listPresence,
  listRoom,
  renewCredentials,
  update,
} from "./office_events.ts";
import { type Answer, REQUESTER_LIMIT } from "./pending_requests.ts";
import { CONSTANTS } from "../options/constants.ts";

/** The approximate size limit of an observer's request: observers only read. */
const MAX_OBSERVER_REQUEST_BYTES = 64 * 1024;

/** Returns what handles the events of a connection. A client may send a number as the name of an event. */
export function listenerOf(
  relayState: RelayState,
  connection: Connection,
): (event: unknown, ...args: unknown[]) => void {
  return (event, ...args) => dispatch(relayState, connection, { event: String(event), args });
}

/** Handles an event, or defers it while an earlier one of its connection is being handled. Never throws. */
export function dispatch(relayState: RelayState, connection: Connection, incoming: MemberEvent): void {
  if (connection.isEnded) return;
  const { deferred } = connection;
  if (deferred?.take(incoming, () => dispatch(relayState, connection, incoming))) return;
  const call = new Call(relayState, { connection, incoming, route: routeOf(incoming.event) });
  if (deferred === undefined) handle(call, incoming);
  else call.refuse(tooManyDeferred(call));
}

const unknownEvent: Route = {
  handle(call) {
    throw call.cannotHandle("unknown event");
  },
};

const routes: ReadonlyMap<string, Route> = new Map([
  [JOIN_OFFICE_EVENT, joinOffice],
  [LEAVE_OFFICE_EVENT, leaveOffice],
  [LIST_ROOM_EVENT, listRoom],
  [LIST_PRESENCE_EVENT, listPresence],
  [CANCEL_TOOL_CALL_EVENT, cancelToolCall],
  [RENEW_CREDENTIALS_EVENT, renewCredentials],
]);

/** Finds the route by name, else by prefix, so that the events of newer peers pass. */
function routeOf(event: string): Route {
  if (hasPrefix(event, CLIENT_EVENT_PREFIX)) return relay;
  return routes.get(event) ?? (hasPrefix(event, UPDATE_EVENT_PREFIX) ? update : unknownEvent);
}

function hasPrefix(event: string, prefix: string): boolean {
  return event.length > prefix.length && event.startsWith(prefix);
}

function handle(call: Call, { args }: MemberEvent): void {
  const problem = problemOf(call, args);
  if (problem !== undefined) return call.refuse(problem);
  call.open();
  try {
    const answer = call.route.handle(call, args[0]);
    if (answer === undefined) return;
    if (!(answer instanceof Promise)) return call.finish(answer);
    void (call.route.isUnordered ? finishLater(call, answer) : finishInOrder(call, answer));
  } catch (error) {
    call.fail(error);
  }
}

/** Checks everything but the body. In its place, the parser puts an error for a body that it did not read. */
function problemOf(call: Call, args: MemberEvent["args"]): SmcpError | undefined {
  const { relayState, connection, event, wantsAck } = call;
  const { principal } = connection.quotas;
  const excess = principal.requests && principal.takeRequest(event);
  if (excess !== undefined) return excess;
  const [body] = args;
  if (body instanceof SmcpError) return body;
  const limit = relayState.settings.maxOpenRequests;
  if (connection.openRequests >= limit) {
    const why = `${limit} requests of this connection are open, the limit by ` +
      `${optionLabel("maxOpenRequests")}. Wait until some are answered`;
    return call.cannotHandle(why, { details: { field: "event", limit } });
  }
  const maxLength = CONSTANTS.maxEventLength.value;
  if (event.length > maxLength) return call.cannotHandle(`longer than ${maxLength} characters`);
  const count = wantsAck ? args.length - 1 : args.length;
  if (count === 1) return undefined;
  return call.cannotHandle(`expected one argument, got ${count}`, { details: { field: "body" } });
}

/** `client:*`: relays the event to a Computer of the caller's office, and its ack back, both unchanged. */
const relay: Route = {
  handle(call, body) {
    const { relayState, connection, event } = call;
    const request = parseComputerCallData(routingFieldsOf(body));
    const { computer, req_id: reqId } = request;
    const { officeId, name: agent, isObserver: isObserving } = call.requireRole("agent");
    if (isObserving) requireReading(call, { body, officeId });
    if (body instanceof RawRequest && body.isTooDeep) throw nestedTooDeep(event);
    if (relayState.drain.refusal !== undefined && !connection.isInner) throw relayState.drain.refusal;
    const target = relayState.offices.findComputer(officeId, computer);
    if (target === undefined) {
      const sleeper = relayState.sleepers.find(officeId, computer);
      throw sleeper === undefined
        ? computerNotFound(computer)
        : computerAsleep(sleeper.member.name, sleeper.since);
    }
    call.nameComputer(target.name);
    if (!call.wantsAck) {
      target.tell(event, body);
      return [];
    }
    connection.sent.requireRoom("this connection", REQUESTER_LIMIT);
    const timeoutMs = timeoutMsOf(request) + relayState.settings.graceMs;
    const relayed = { event, reqId, agent, computer: target.name, officeId, timeoutMs, isObserving };
    target.ask(relayed, {
      body,
      sides: isObserving ? [connection.sent, relayState.observerRequests] : [connection.sent],
      startedAt: call.startedAt,
      onSettled: (settlement) => call.settle(settlement),
    });
    return undefined;
  },
  auditedCode: ErrorCode.NOT_FOUND,
  isRelayed: true,
};

/** Limits the requests of observers, so that the Computers stay available to the Agent. */
function requireReading(
  { relayState, event, wantsAck }: Call,
  { body, officeId }: { readonly body: unknown; readonly officeId: string },
): void {
  if (!wantsAck) {
    throw badRequest("event", `Cannot relay "${quoted(event)}": observers must ask for an ack`);
  }
  const isSmall = body instanceof RawRequest
    ? body.size <= MAX_OBSERVER_REQUEST_BYTES
    : fitsApproximately(body, MAX_OBSERVER_REQUEST_BYTES);
  if (!isSmall) throw badRequest("body", `Cannot relay "${quoted(event)}": too large for an observer`);
  relayState.observerRequests.requireRoom(officeId);
}

async function finishLater(call: Call, answer: Promise<Answer>): Promise<void> {
  try {
    call.finish(await answer);
  } catch (error) {
    call.fail(error);
  }
}

async function finishInOrder(call: Call, answer: Promise<Answer>): Promise<void> {
  const { connection } = call;
  const deferred = connection.deferred = new DeferredEvents(connection.account);
  await finishLater(call, answer);
  connection.deferred = undefined;
  deferred.release();
}

function tooManyDeferred(call: Call): SmcpError {
  const limit = CONSTANTS.maxDeferredEvents.value;
  const why = "too many events, or too large ones, wait while this connection joins or leaves an office";
  return call.cannotHandle(why, { details: { field: "event", limit } });
}

/** Ends the membership of a closed connection, after the change of it that is under way. Never throws. */
export function dispatchDisconnect(
  relayState: RelayState,
  { connection, cause }: { readonly connection: Connection; readonly cause: string },
): void {
  const { deferred, sid, farewell } = connection;
  const reason = departureReason(cause, farewell);
  relayState.departureReasons.set(sid, reason);
  relayState.onLost(connection, cause);
  connection.end({ mayReturn: reason === CONNECTION_LOST });
  if (deferred === undefined) void leave(relayState, connection);
  else deferred.after(() => void leave(relayState, connection));
}

async function leave(relayState: RelayState, { sid }: Connection): Promise<void> {
  try {
    await relayState.offices.leave(sid);
  } catch (error) {
    const fields = { sid, error: describeError(error) };
    relayState.logger.error("failed to end the membership of a lost connection", fields);
  } finally {
    relayState.departureReasons.delete(sid);
  }
}
