/** `server:update_<x>` → `notify:update_<x>`. */
import { UPDATE_EVENT_PREFIX, UPDATE_NOTIFICATION_PREFIX } from "../../protocol/events.ts";
import type { UpdateComputerConfigReq } from "../../protocol/office.ts";
import { parseUpdateComputerConfigReq } from "../../protocol/parse.ts";
import { done, type Handled, type Route } from "../hub.ts";
import { requirePace, requireRole, toErrorAnswer } from "./_require.ts";

/** Tells the office that something of the calling Computer changed. Who that is, the session says, not the payload. */
export const update: Route = {
  handle(call): Handled {
    parseUpdateComputerConfigReq(call.body);
    const { officeId, name } = requireRole(call, "computer");
    const body: UpdateComputerConfigReq = { computer: name };
    requirePace(call, body);
    const event = UPDATE_NOTIFICATION_PREFIX + call.event.slice(UPDATE_EVENT_PREFIX.length);
    call.hub.broadcast(officeId, { event, body, except: call.connection.sid });
    return done();
  },
  refuse: toErrorAnswer,
};
