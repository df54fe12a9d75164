/** From an event that came in to the ack that goes out: every event is answered, and every failure logged. */
import { ErrorCode } from "../protocol/error_codes.ts";
import { isRecord } from "../json.ts";
import { badRequest, fromErrorAck, readRequestId, SmcpError } from "../protocol/errors.ts";
import { describeError } from "../text.ts";
import type { Connection } from "./connection.ts";
import type { Answer } from "./pending_answer.ts";
import { depart } from "./handlers/membership.ts";
import { routeOf } from "./handlers/route.ts";
import type { Hub, Route } from "./hub.ts";
import { MAX_EVENT_LENGTH, quoted } from "./limits.ts";

/** An event as Socket.IO hands it over. */
export interface Incoming {
  readonly event: string;
  /** Its arguments; the last one is a function when an ack was asked for. */
  readonly args: readonly unknown[];
}

type Ack = (...answer: unknown[]) => void;

/**
 * What is kept of an event until it is answered. The body is not kept: it may be large, is relayed at once, and the answer
 * may take a day.
 */
interface Request {
  readonly hub: Hub;
  readonly connection: Connection;
  readonly event: string;
  readonly reqId: string | undefined;
  /** The Computer that it is for, if it is for one. */
  readonly computer: string | undefined;
  readonly ack: Ack | undefined;
  readonly route: Route;
}

/** Handles an event in its connection's turn. Never throws. */
export function dispatch(hub: Hub, connection: Connection, { event, args }: Incoming): void {
  const last = args.at(-1);
  const ack = typeof last === "function" ? last as Ack : undefined;
  const count = ack === undefined ? args.length : args.length - 1;
  const body = args[0];
  const reqId = readRequestId(body);
  const request = { hub, connection, event, reqId, computer: readComputer(body), ack, route: routeOf(event) };
  const problem = problemOf(request, { body, count });
  if (problem !== undefined) return reply(request, refuse(request, problem));
  connection.openRequests++;
  connection.takeTurn(() => handle(request, body));
}

/** Ends a lost connection's membership once the event that is being handled is done. Events that wait are dropped. */
export function dispatchDisconnect(hub: Hub, connection: Connection): void {
  connection.end();
  connection.takeTurn(async () => {
    try {
      const member = await hub.offices.leave(connection.sid);
      if (member !== undefined) depart(hub, member);
    } catch (error) {
      hub.logger.error("failed to end the membership of a lost connection", {
        sid: connection.sid,
        error: describeError(error),
      });
    }
  });
}

async function handle(request: Request, body: unknown): Promise<void> {
  const { hub, connection, event, ack, route } = request;
  if (connection.isEnded) return finish(request, undefined);
  try {
    const handled = await route.handle({ hub, connection, event, body, isAnswered: ack !== undefined });
    if (handled.kind === "done") finish(request, handled.answer);
    else finishLater(request, handled.answer);
  } catch (error) {
    finish(request, refuse(request, error));
  }
}

function finishLater(request: Request, answer: Promise<Answer | undefined>): void {
  answer.then((answer) => {
    if (answer !== undefined) logRelayedError(request, answer);
    finish(request, answer);
  }, (error) => finish(request, refuse(request, error)));
}

/** Answers the request, unless its sender has left. */
function finish(request: Request, answer: Answer | undefined): void {
  request.connection.openRequests--;
  if (answer !== undefined) reply(request, answer);
}

/** Logs a failure and turns it into the arguments of its ack. */
function refuse(request: Request, error: unknown): Answer {
  const isExpected = error instanceof SmcpError;
  const refusal = isExpected ? error : new SmcpError(ErrorCode.INTERNAL_ERROR, "Internal error");
  const fields = { ...describeRequest(request), code: refusal.code };
  const { log } = request.connection;
  if (isExpected) log.write("warn", error.message, fields);
  else log.write("error", "failed to handle an event", { ...fields, error: describeError(error) });
  return request.route.refuse(refusal, request);
}

/** Sends the ack, where one was asked for; an answer that cannot be written becomes an error. */
function reply(request: Request, answer: Answer): void {
  const { ack, connection } = request;
  if (ack === undefined) return;
  try {
    connection.answer(ack, answer);
  } catch (error) {
    const refusal = refuse(request, error);
    ack(...refusal);
  }
}

/** Logs the code when a Computer answered with an error. Nothing else of an answer is read. */
function logRelayedError(request: Request, answer: Answer): void {
  const error = fromErrorAck(answer[0]);
  if (error === undefined) return;
  const fields = { ...describeRequest(request), code: error.code };
  request.connection.log.write("info", "relayed an error of a Computer", fields);
}

function readComputer(body: unknown): string | undefined {
  const computer = isRecord(body) ? body["computer"] : undefined;
  return typeof computer === "string" ? quoted(computer) : undefined;
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

/** Checks everything but the body of an event, in whose place the parser may have put why it did not read it. */
function problemOf({ hub, connection, event }: Request, { body, count }: {
  readonly body: unknown;
  readonly count: number;
}): SmcpError | undefined {
  if (body instanceof SmcpError) return body;
  const limit = hub.maxOpenRequests;
  if (connection.openRequests >= limit) {
    return new SmcpError(
      ErrorCode.BAD_REQUEST,
      `Cannot handle "${quoted(event)}": ${limit} requests of this connection are open`,
      { details: { field: "event", limit } },
    );
  }
  if (event.length > MAX_EVENT_LENGTH) {
    return badRequest("event", `Cannot serve event "${quoted(event)}": over ${MAX_EVENT_LENGTH} characters`);
  }
  if (count === 1) return undefined;
  return badRequest("body", `Cannot read "${quoted(event)}": ${count} arguments in place of one`);
}
