/** The `server:*` events: joining, leaving and listing offices, renewed credentials, and notifications of the office. */
import { fitsApproximately, isRecord } from "../../json/json.ts";
import type { AgentCallData } from "../../protocol/call.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { badRequest, SmcpError } from "../../protocol/errors.ts";
import {
  CANCEL_TOOL_CALL_NOTIFICATION,
  LIST_PRESENCE_EVENT,
  UPDATE_EVENT_PREFIX,
  UPDATE_NOTIFICATION_PREFIX,
  UPDATE_PROGRESS_EVENT,
} from "../../protocol/events.ts";
import type { ListRoomRet, SessionInfo } from "../../protocol/office.ts";
import {
  parseAgentCallData,
  parseEnterOfficeReq,
  parseLeaveOfficeReq,
  parseListPresenceReq,
  parseListRoomReq,
  parseUpdateComputerConfigReq,
  parseUpdateProgressReq,
} from "../../protocol/office_requests.ts";
import { type ListPresenceRet, MACHINE_PREFIX } from "../../protocol/presence.ts";
import type { UpdateProgressReq } from "../../protocol/progress.ts";
import { type Credentials, describeGrant, isGranted, type WantedSeat } from "../admission/provider.ts";
import { LoggedRefusal } from "../observe/logs.ts";
import type { Member } from "../offices/office.ts";
import type { Call, Route } from "./call.ts";
import type { Connection } from "./connection.ts";
import type { Answer, Settlement } from "./pending_requests.ts";
import { CONSTANTS } from "../options/constants.ts";

/** How long a process of the Server may take to tell of its Computer; a ping is part of it. */
const PRESENCE_TIMEOUT_MS = 5_000;

/** `server:join_office`: makes the caller a member of an office; acks `(true, null)` or `(false, "reason")`. */
export const joinOffice: Route = {
  async handle(call, body) {
    const { relayState, connection } = call;
    const { role, name, office_id: officeId } = parseEnterOfficeReq(body);
    call.requirePace({ name, officeId });
    if (role === "computer" && name.startsWith(MACHINE_PREFIX)) {
      const reason = `Cannot join office "${officeId}" as "${name}": a name that begins with ` +
        `"${MACHINE_PREFIX}" is the id of a machine. Use another name`;
      throw new SmcpError(ErrorCode.FORBIDDEN, reason);
    }
    const isObserver = connection.identity.isObserver && role === "agent";
    requireGrant(connection, { officeId, role, isObserver, name });
    const outcome = await relayState.offices.join({
      ...connection.identity,
      isObserver,
      joinedAt: new Date().toISOString(),
      sid: connection.sid,
      role,
      name,
      officeId,
    });
    if (outcome.kind === "refused") throw new SmcpError(outcome.code, outcome.reason);
    return [true, null];
  },
  acksTexts: true,
  action: "join",
};

/** The refusal is the same for an office that exists and one that does not. */
function requireGrant({ grant }: Connection, seat: WantedSeat): void {
  if (grant === undefined || isGranted(grant, seat)) return;
  const role = seat.isObserver ? "observer (an agent that only reads)" : seat.role;
  const { names = [] } = grant;
  const [name] = isGranted({ ...grant, names: undefined }, seat) ? names : [];
  if (name !== undefined) {
    throw new LoggedRefusal(
      ErrorCode.FORBIDDEN,
      `The credentials do not allow the name "${seat.name}", but "${name}"; leave out --name`,
      { log: describeGrant(grant) },
    );
  }
  throw new LoggedRefusal(
    ErrorCode.FORBIDDEN,
    `The credentials do not allow the role ${role} in office "${seat.officeId}"; ` +
      "ask who runs the Server for credentials of this office and role",
    { log: describeGrant(grant) },
  );
}

/** `server:leave_office`: ends the membership of the caller; acks `(true, null)` or `(false, "reason")`. */
export const leaveOffice: Route = {
  async handle(call, body) {
    requireOwnOffice(call, { officeId: parseLeaveOfficeReq(body).office_id, verb: "leave" });
    await call.relayState.offices.leave(call.connection.sid);
    return [true, null];
  },
  acksTexts: true,
  action: "leave",
};

/** `server:list_room`: lists the members of the caller's office, for any role. */
export const listRoom: Route = {
  async handle(call, body) {
    const { office_id: officeId, req_id } = parseListRoomReq(body);
    requireOwnOffice(call, { officeId, verb: "list" });
    const members = await call.relayState.offices.members(officeId);
    // What this process knows may be out of date.
    call.requireServedMember();
    const answer: ListRoomRet = { sessions: members.map(toSessionInfo), req_id };
    return [answer];
  },
  action: "list",
};

function requireOwnOffice(
  call: Call,
  { officeId, verb }: { readonly officeId: string; readonly verb: string },
): void {
  if (call.requireMember().officeId === officeId) return;
  throw new SmcpError(ErrorCode.FORBIDDEN, `Cannot ${verb} office "${officeId}": the sender is not in it`);
}

function toSessionInfo({ sid, name, role, officeId, version }: Member): SessionInfo {
  const session = { sid, name, role, office_id: officeId };
  return version === undefined ? session : { ...session, a2c_version: version };
}

/** What is told of one: nothing when it has just left, or when its process does not say. */
type State = { readonly last_read?: string; readonly asleep_since?: string };

/** `server:list_presence`: lists the Computers of the caller's office, their machines, and whether each would answer now. */
export const listPresence: Route = {
  async handle(call, body) {
    const { office_id: officeId, req_id, probe } = parseListPresenceReq(body);
    requireOwnOffice(call, { officeId, verb: "list" });
    call.requireRole("agent");
    const { offices, sleepers } = call.relayState;
    const members = await offices.members(officeId);
    const computers = members.filter(({ role }) => role === "computer").map(async (member) => {
      const { name: computer, machine } = member;
      const isKnown = machine !== undefined && offices.findComputer(officeId, machine)?.name === computer;
      return { computer, ...(isKnown ? { machine } : {}), ...(probe ? await askPresence(call, member) : {}) };
    });
    const asleep = sleepers.of(officeId).map(({ member: { name: computer, machine }, since }) => {
      const at = since.toISOString();
      return { computer, ...(machine === undefined ? {} : { machine }), last_read: at, asleep_since: at };
    });
    const answer: ListPresenceRet = { computers: [...await Promise.all(computers), ...asleep], req_id };
    return [answer];
  },
  // A ping may take seconds.
  isUnordered: true,
  action: "list",
};

/** Asks the process that has the Computer, which sends it a ping if it has been silent. Never rejects. */
function askPresence(call: Call, { officeId, name: computer }: Member): Promise<State> {
  const target = call.relayState.offices.findComputer(officeId, computer);
  if (target === undefined) return Promise.resolve({});
  const request = { event: LIST_PRESENCE_EVENT, reqId: "", agent: "", computer, officeId };
  return new Promise((resolve) => {
    const onSettled = (settlement: Settlement) => resolve(toState(settlement));
    const asked = { ...request, isObserving: false, timeoutMs: PRESENCE_TIMEOUT_MS };
    target.ask(asked, { body: {}, sides: [], onSettled });
  });
}

function toState(settlement: Settlement): State {
  const [state] = settlement.kind === "answered" ? settlement.answer : [];
  if (!isRecord(state) || typeof state["last_read"] !== "string") return {};
  const { last_read, asleep_since } = state;
  return { last_read, ...(typeof asleep_since === "string" ? { asleep_since } : {}) };
}

/**
 * `server:renew_credentials`: puts newer credentials in the place of those with which the connection was admitted; acks
 * `(true, null)` or `(false, "reason")`.
 */
export const renewCredentials: Route = {
  async handle({ connection }, body) {
    const sent = parseCredentials(body);
    await connection.credentials?.renew(sent);
    return [true, null];
  },
  // The provider may take seconds.
  isUnordered: true,
  acksTexts: true,
  action: "renew",
  auditedCode: ErrorCode.UNAUTHORIZED,
};

function parseCredentials(body: unknown): Pick<Credentials, "auth" | "headers"> {
  const refuse = (field: string, why: string) =>
    badRequest(field, `Cannot read the credentials field "${field}": ${why}`);
  if (!isRecord(body)) throw refuse("body", "expected an object");
  // As much as a client may send before it is admitted.
  if (!fitsApproximately(body, CONSTANTS.maxPendingBytes.value)) throw refuse("body", "too large");
  const { auth = {}, headers = {} } = body;
  if (!isRecord(auth)) throw refuse("auth", "expected an object");
  if (!isRecord(headers)) throw refuse("headers", "expected an object");
  const named: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value !== "string") throw refuse("headers", "expected texts");
    Object.defineProperty(named, name.toLowerCase(), { value, enumerable: true });
  }
  return { auth, headers: named };
}

/** `server:tool_call_cancel`: notifies the office that the calling Agent cancelled the call with this `req_id`. */
export const cancelToolCall: Route = {
  handle(call, sent) {
    const { req_id } = parseAgentCallData(sent);
    const { officeId, name } = call.requireRole("agent");
    const body: AgentCallData = { agent: name, req_id };
    return notify(call, { officeId, event: CANCEL_TOOL_CALL_NOTIFICATION, body });
  },
};

/** `server:update_*`: notifies the office of a change on the calling Computer, whose name comes from the session. */
export const update: Route = {
  handle(call, sent) {
    const change = readChange(call.event, sent);
    const { officeId, name } = call.requireRole("computer");
    const event = UPDATE_NOTIFICATION_PREFIX + call.event.slice(UPDATE_EVENT_PREFIX.length);
    return notify(call, { officeId, event, body: { ...change, computer: name } });
  },
};

/** What an update tells besides its Computer: of progress the numbers, of everything else nothing. */
function readChange(event: string, body: unknown): Omit<UpdateProgressReq, "computer"> | undefined {
  if (event !== UPDATE_PROGRESS_EVENT) return void parseUpdateComputerConfigReq(body);
  const { req_id, progress, total, has_message } = parseUpdateProgressReq(body);
  return {
    req_id,
    progress,
    ...(total === undefined ? {} : { total }),
    ...(has_message === true ? { has_message } : {}),
  };
}

function notify(call: Call, { officeId, event, body }: {
  readonly officeId: string;
  readonly event: string;
  readonly body: object;
}): Answer {
  call.requirePace(body);
  call.relayState.offices.notify(officeId, { event, body, except: call.connection.sid });
  return [];
}
