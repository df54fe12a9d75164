/** Routes each event to its handler, answers it, and logs its failure. */
import { ErrorCode } from "../../protocol/error_codes.ts";
import { isRecord } from "../../json.ts";
import { badRequest, fromErrorAck, readRequestId, SmcpError } from "../../protocol/errors.ts";
import type { LogFields } from "../../log.ts";
import { describeError } from "../../text.ts";
import { type AuditAction, auditFields, departureReason, LoggedRefusal } from "../observe/audit.ts";
import { answerLost } from "../offices/offices.ts";
import type { Ack, Connection } from "./connection.ts";
import type { Answer, Settlement } from "./pending_requests.ts";
import { renewCredentials } from "./credentials.ts";
import { joinOffice, leaveOffice, listRoom } from "./membership.ts";
import { cancelToolCall, relay, update } from "./relay.ts";
import { optionLabel } from "../number_options.ts";
import {
  CANCEL_TOOL_CALL_EVENT,
  CLIENT_EVENT_PREFIX,
  JOIN_OFFICE_EVENT,
  LEAVE_OFFICE_EVENT,
  LIST_ROOM_EVENT,
  RENEW_CREDENTIALS_EVENT,
  UPDATE_EVENT_PREFIX,
} from "../../protocol/events.ts";
import { toErrorAnswer } from "./caller.ts";
import type { Hub, Route } from "./hub.ts";
import { HeldEvents, type Incoming } from "./held_events.ts";
import { MAX_EVENT_LENGTH, MAX_HELD_EVENTS, quoted } from "../limits.ts";
import type { MeteredEvent, Outcome } from "../observe/meter.ts";
import { type OpenSpan, startRelay } from "../../tracing.ts";
import { RawAnswer, routingFieldsOf } from "../raw.ts";

/**
 * What the Server keeps of an event until it is answered. It does not keep the body, which may be large, while the answer
 * may take a day.
 */
interface Request extends MeteredEvent {
  readonly hub: Hub;
  readonly connection: Connection;
  readonly reqId: string | undefined;
  readonly computer: string | undefined;
  readonly ack: Ack | undefined;
  readonly route: Route;
  readonly office: string | undefined;
  readonly span: OpenSpan | undefined;
}

const RELAY_SPAN = "relay";

/** Handles an event, or holds it while an earlier one of its connection is being handled. Never throws. */
export function dispatch(hub: Hub, connection: Connection, incoming: Incoming): void {
  if (connection.isEnded) return;
  const { held } = connection;
  if (held === undefined) return handle(toRequest(hub, connection, incoming), incoming);
  if (held.take(incoming)) return;
  const request = toRequest(hub, connection, incoming);
  reply(request, refuse(request, tooManyHeld(request)));
}

function toRequest(hub: Hub, connection: Connection, { event, args }: Incoming): Request {
  const fields = routingFieldsOf(args[0]);
  const reqId = readRequestId(fields);
  const route = routeOf(event);
  return {
    hub,
    connection,
    event,
    startedAt: hub.meter?.start() ?? 0,
    reqId,
    computer: readText(fields, "computer"),
    office: route === relay ? undefined : readText(fields, "office_id"),
    ack: ackOf(args),
    route,
    span: route === relay ? startRelay(RELAY_SPAN, reqId) : undefined,
  };
}

function ackOf(args: readonly unknown[]): Ack | undefined {
  const last = args.at(-1);
  return typeof last === "function" ? last as Ack : undefined;
}

/** Ends the membership of a closed connection, after the change of it that is under way. Never throws. */
export function dispatchDisconnect(
  hub: Hub,
  { connection, cause }: { readonly connection: Connection; readonly cause: string },
): void {
  const { held, sid, farewell } = connection;
  hub.departureReasons.set(sid, departureReason(cause, farewell));
  connection.end();
  if (held === undefined) leave(hub, connection);
  else void held.released.then(() => leave(hub, connection));
}

function leave(hub: Hub, { sid }: Connection): void {
  hub.offices.leave(sid).catch((error) => {
    hub.logger.error("failed to end the membership of a lost connection", {
      sid,
      error: describeError(error),
    });
  }).finally(() => hub.departureReasons.delete(sid));
}

function handle(request: Request, { args }: Incoming): void {
  const { hub, connection, event, ack, route } = request;
  const body = args[0];
  const count = ack === undefined ? args.length : args.length - 1;
  const problem = problemOf(request, { body, count });
  if (problem !== undefined) return void reply(request, refuse(request, problem));
  connection.openRequests++;
  const onSettled = (settlement: Settlement) => settle(request, settlement);
  try {
    const answer = route.handle({ hub, connection, event, body, wantsAck: ack !== undefined, onSettled });
    if (answer === undefined) return;
    if (answer instanceof Promise) {
      return void (route.isUnordered ? finishLater(request, answer) : finishInOrder(request, answer));
    }
    finish(request, answer, "handled");
  } catch (error) {
    fail(request, error);
  }
}

async function finishLater(request: Request, answer: Promise<Answer>): Promise<void> {
  try {
    finish(request, await answer, "handled");
  } catch (error) {
    fail(request, error);
  }
}

async function finishInOrder(request: Request, answer: Promise<Answer>): Promise<void> {
  const { hub, connection } = request;
  const held = connection.held = new HeldEvents(hub.openCount(connection.sid));
  await finishLater(request, answer);
  connection.held = undefined;
  held.release();
  for (const incoming of held.takeAll()) dispatch(hub, connection, incoming);
}

function settle(request: Request, settlement: Settlement): void {
  switch (settlement.kind) {
    case "answered": {
      const { hub, connection, event, computer = "" } = request;
      if (!hub.offices.isServing(connection.sid)) {
        return fail(request, answerLost({ event, computer }));
      }
      const isError = logRelayedError(request, settlement.answer);
      return finish(request, settlement.answer, isError ? "computer_error" : "answered");
    }
    case "failed":
      return fail(request, settlement.error);
    case "dropped":
      return finish(request, undefined, "dropped");
  }
}

/** Answers the request, unless its sender has left, and counts it. */
function finish(request: Request, answer: Answer | undefined, outcome: Outcome): void {
  request.connection.openRequests--;
  if (answer !== undefined && !reply(request, answer)) return;
  request.hub.meter?.ended(request, outcome);
  if (request.span !== undefined) endSpan(request, { outcome });
}

function fail(request: Request, error: unknown): void {
  request.connection.openRequests--;
  reply(request, refuse(request, error));
}

function refuse(request: Request, error: unknown): Answer {
  const isExpected = error instanceof SmcpError;
  const refusal = isExpected ? error : new SmcpError(ErrorCode.INTERNAL_ERROR, "Internal error");
  const fields = auditRefusal(request, { ...describeRequest(request), code: refusal.code });
  const { log } = request.connection;
  request.hub.meter?.failed(request, refusal.code);
  if (request.span !== undefined) endSpan(request, { outcome: "error", error: refusal.code });
  if (error instanceof LoggedRefusal) log.write("warn", error.message, { ...error.log, ...fields });
  else if (isExpected) log.write("warn", error.message, fields);
  else log.write("error", "failed to handle an event", { ...fields, error: describeError(error) });
  return request.route.refuse(refusal, request);
}

const ACTIONS: ReadonlyMap<Route, AuditAction> = new Map([
  [joinOffice, "join"],
  [leaveOffice, "leave"],
  [listRoom, "list"],
  [renewCredentials, "renew"],
]);

/**
 * Puts a refusal for lack of a right into the audit trail; so does a request to a Computer that is not in the office, and
 * refused newer credentials.
 */
function auditRefusal(
  { route, connection, office }: Request,
  fields: LogFields & { readonly code: number },
): LogFields {
  const isRight = fields.code === ErrorCode.FORBIDDEN ||
    (route === relay && fields.code === ErrorCode.NOT_FOUND) ||
    (route === renewCredentials && fields.code === ErrorCode.UNAUTHORIZED);
  if (!isRight) return fields;
  const own = connection.member?.officeId;
  const isCrossing = office !== undefined && own !== undefined && office !== own;
  return auditFields(ACTIONS.get(route) ?? "request", {
    ...fields,
    sid: connection.sid,
    principal: connection.identity.principal,
    ...(office === undefined ? {} : { wanted_office: office }),
    ...(isCrossing ? { cross_office: true } : {}),
  });
}

/** Ends the span of a request. Its name is fixed, since a peer chooses the name of the event. */
function endSpan(
  { span, event, computer, connection }: Request,
  { outcome, error }: { readonly outcome: string; readonly error?: number },
): void {
  const { officeId, name } = connection.member ?? {};
  span?.end({
    error,
    attributes: {
      "a2c.event": quoted(event),
      "a2c.outcome": outcome,
      ...(officeId === undefined ? {} : { "a2c.office": officeId }),
      ...(name === undefined ? {} : { "a2c.agent": name }),
      ...(computer === undefined ? {} : { "a2c.computer": computer }),
    },
  });
}

/** Sends the ack if the sender asked for one; `false` when the answer could not be written and became an error. */
function reply(request: Request, answer: Answer): boolean {
  const { ack, connection } = request;
  if (ack === undefined || connection.isEnded) return true;
  try {
    connection.answer(ack, answer);
    return true;
  } catch (error) {
    const refusal = refuse(request, error);
    ack(...refusal);
    return false;
  }
}

/** Logs the code of an error that a Computer answered; `false` for any other answer. */
function logRelayedError(request: Request, answer: Answer): boolean {
  const [first] = answer;
  const code = first instanceof RawAnswer ? first.errorCode : fromErrorAck(first)?.code;
  if (code === undefined) return false;
  const fields = { ...describeRequest(request), code };
  request.connection.relayedErrors.write("info", "relayed an error of a Computer", fields);
  return true;
}

function readText(body: unknown, member: string): string | undefined {
  const text = isRecord(body) ? body[member] : undefined;
  return typeof text === "string" ? quoted(text) : undefined;
}

function describeRequest({ connection, event, reqId, computer }: Request): Record<string, unknown> {
  const { member, sid } = connection;
  return {
    event: quoted(event),
    req_id: reqId && quoted(reqId),
    computer,
    office: member?.officeId,
    [member?.role ?? "sid"]: member?.name ?? sid,
  };
}

const routes: ReadonlyMap<string, Route> = new Map([
  [JOIN_OFFICE_EVENT, joinOffice],
  [LEAVE_OFFICE_EVENT, leaveOffice],
  [LIST_ROOM_EVENT, listRoom],
  [CANCEL_TOOL_CALL_EVENT, cancelToolCall],
  [RENEW_CREDENTIALS_EVENT, renewCredentials],
]);

const unknownEvent: Route = {
  handle({ event }) {
    throw badRequest("event", `Cannot handle "${quoted(event)}": unknown event`);
  },
  refuse: toErrorAnswer,
};

/** Finds the route by name, else by prefix, so that the events of newer peers pass. */
function routeOf(event: string): Route {
  if (hasPrefix(event, CLIENT_EVENT_PREFIX)) return relay;
  return routes.get(event) ?? (hasPrefix(event, UPDATE_EVENT_PREFIX) ? update : unknownEvent);
}

function hasPrefix(event: string, prefix: string): boolean {
  return event.length > prefix.length && event.startsWith(prefix);
}

function tooManyHeld({ event }: Request): SmcpError {
  return new SmcpError(
    ErrorCode.BAD_REQUEST,
    `Cannot handle "${
      quoted(event)
    }": too many events, or too large ones, wait while this connection joins or leaves an office`,
    { details: { field: "event", limit: MAX_HELD_EVENTS } },
  );
}

/** Checks everything but the body. In its place, the parser puts an error for a body that it did not read. */
function problemOf({ hub, connection, event }: Request, { body, count }: {
  readonly body: unknown;
  readonly count: number;
}): SmcpError | undefined {
  const excess = hub.quotas.countRequest(event, connection.quotas);
  if (excess !== undefined) return excess;
  if (body instanceof SmcpError) return body;
  const limit = hub.maxOpenRequests;
  if (connection.openRequests >= limit) {
    return new SmcpError(
      ErrorCode.BAD_REQUEST,
      `Cannot handle "${quoted(event)}": ${limit} requests of this connection are open, the limit by ${
        optionLabel("maxOpenRequests")
      }. ` +
        "Wait until some are answered",
      { details: { field: "event", limit } },
    );
  }
  if (event.length > MAX_EVENT_LENGTH) {
    return badRequest(
      "event",
      `Cannot handle "${quoted(event)}": longer than ${MAX_EVENT_LENGTH} characters`,
    );
  }
  if (count === 1) return undefined;
  return badRequest("body", `Cannot handle "${quoted(event)}": expected one argument, got ${count}`);
}
