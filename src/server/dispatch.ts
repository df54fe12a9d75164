/** From an event that came in to the ack that goes out: every event is answered, and every failure logged. */
import { ErrorCode } from "../protocol/error_codes.ts";
import { badRequest, describeError, readRequestId, SmcpError } from "../protocol/errors.ts";
import type { Connection } from "./connection.ts";
import type { Answer } from "./pending_answer.ts";
import { depart } from "./handlers/membership.ts";
import { routeOf } from "./handlers/route.ts";
import type { Call, Hub, Route } from "./hub.ts";
import { MAX_EVENT_LENGTH, quoted } from "./limits.ts";

/** An event as Socket.IO hands it over. */
export interface Incoming {
  readonly event: string;
  /** Its arguments; the last one is a function when an ack was asked for. */
  readonly args: readonly unknown[];
}

type Ack = (...answer: unknown[]) => void;

/** Handles an event in its connection's turn. Never throws. */
export function dispatch(hub: Hub, connection: Connection, { event, args }: Incoming): void {
  const last = args.at(-1);
  const ack = typeof last === "function" ? last as Ack : undefined;
  const count = ack === undefined ? args.length : args.length - 1;
  const call: Call = { hub, connection, event, body: args[0], isAnswered: ack !== undefined };
  const route = routeOf(event);
  const end = (answer: Answer) => reply(call, { ack, answer, route });
  if (connection.openRequests >= hub.maxOpenRequests) return end(refuse(call, route, tooManyOpen(call)));
  if (event.length > MAX_EVENT_LENGTH) return end(refuse(call, route, nameTooLong(call)));
  if (count !== 1) return end(refuse(call, route, wrongArgumentCount(call, count)));
  connection.openRequests++;
  connection.takeTurn(() => handle(call, route, end));
}

/** Ends a lost connection's membership, once its earlier events are handled. */
export function dispatchDisconnect(hub: Hub, connection: Connection): void {
  connection.exit();
  connection.takeTurn(async () => {
    try {
      const member = await hub.offices.leave(connection.sid);
      if (member !== undefined) depart(hub, member);
    } catch (error) {
      hub.logger.error("Cannot end the membership of a lost connection", {
        sid: connection.sid,
        error: describeError(error),
      });
    }
  });
}

async function handle(call: Call, route: Route, end: (answer: Answer) => void): Promise<void> {
  const finish = (answer: Answer) => {
    call.connection.openRequests--;
    end(answer);
  };
  try {
    const handled = await route.handle(call);
    if (handled.kind === "done") finish(handled.answer);
    else handled.answer.then(finish, (error) => finish(refuse(call, route, error)));
  } catch (error) {
    finish(refuse(call, route, error));
  }
}

/** Logs a failure and turns it into the arguments of its ack. */
function refuse(call: Call, route: Route, error: unknown): Answer {
  const isExpected = error instanceof SmcpError;
  const refusal = isExpected ? error : new SmcpError(ErrorCode.INTERNAL_ERROR, "Internal error");
  const fields = { ...describeCall(call), code: refusal.code };
  if (isExpected) call.hub.logger.warn(error.message, fields);
  else call.hub.logger.error("Cannot handle an event", { ...fields, error: describeError(error) });
  return route.refuse(refusal, { event: call.event, reqId: readRequestId(call.body) });
}

/** Sends the ack, where one was asked for; an answer that cannot be written becomes an error. */
function reply(
  call: Call,
  { ack, answer, route }: { readonly ack: Ack | undefined; readonly answer: Answer; readonly route: Route },
): void {
  if (ack === undefined) return;
  try {
    ack(...answer);
  } catch (error) {
    ack(...refuse(call, route, error));
  }
}

function describeCall({ connection, event, body }: Call): Record<string, unknown> {
  const reqId = readRequestId(body);
  const { member, sid } = connection;
  return {
    event: quoted(event),
    req_id: reqId && quoted(reqId),
    office: member?.officeId,
    [member?.role ?? "sid"]: member?.name ?? sid,
  };
}

function tooManyOpen({ hub, event }: Call): SmcpError {
  const limit = hub.maxOpenRequests;
  return new SmcpError(
    ErrorCode.BAD_REQUEST,
    `Cannot handle "${quoted(event)}": ${limit} requests of this connection are open`,
    { details: { field: "event", limit } },
  );
}

function nameTooLong({ event }: Call): SmcpError {
  return badRequest("event", `Cannot serve event "${quoted(event)}": over ${MAX_EVENT_LENGTH} characters`);
}

function wrongArgumentCount({ event }: Call, count: number): SmcpError {
  return badRequest("body", `Cannot read "${quoted(event)}": ${count} arguments in place of one`);
}
