/** Which handler an event has. */
import { badRequest } from "../../protocol/errors.ts";
import {
  CANCEL_TOOL_CALL_EVENT,
  CLIENT_EVENT_PREFIX,
  JOIN_OFFICE_EVENT,
  LEAVE_OFFICE_EVENT,
  LIST_ROOM_EVENT,
  UPDATE_EVENT_PREFIX,
} from "../../protocol/events.ts";
import type { Route } from "../hub.ts";
import { quoted } from "../limits.ts";
import { toErrorAnswer } from "./_require.ts";
import { joinOffice } from "./join_office.ts";
import { leaveOffice } from "./leave_office.ts";
import { listRoom } from "./list_room.ts";
import { relay } from "./relay.ts";
import { cancelToolCall } from "./tool_call_cancel.ts";
import { update } from "./update.ts";

const routes: ReadonlyMap<string, Route> = new Map([
  [JOIN_OFFICE_EVENT, joinOffice],
  [LEAVE_OFFICE_EVENT, leaveOffice],
  [LIST_ROOM_EVENT, listRoom],
  [CANCEL_TOOL_CALL_EVENT, cancelToolCall],
]);

const unknownEvent: Route = {
  handle({ event }) {
    throw badRequest("event", `Cannot serve event "${quoted(event)}": not known here`);
  },
  refuse: toErrorAnswer,
};

/** By name, else by shape: so the events of newer peers pass. */
export function routeOf(event: string): Route {
  if (hasPrefix(event, CLIENT_EVENT_PREFIX)) return relay;
  return routes.get(event) ?? (hasPrefix(event, UPDATE_EVENT_PREFIX) ? update : unknownEvent);
}

function hasPrefix(event: string, prefix: string): boolean {
  return event.length > prefix.length && event.startsWith(prefix);
}
