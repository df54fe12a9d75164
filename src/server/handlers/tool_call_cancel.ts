/** `server:tool_call_cancel` → `notify:tool_call_cancel`. */
import type { AgentCallData } from "../../protocol/call.ts";
import { CANCEL_TOOL_CALL_NOTIFICATION } from "../../protocol/events.ts";
import { parseAgentCallData } from "../../protocol/parse.ts";
import { done, type Handled, type Route } from "../hub.ts";
import { requirePace, requireRole, toErrorAnswer } from "./_require.ts";

/** Tells the office that the calling Agent gave up the call with this `req_id`. */
export const cancelToolCall: Route = {
  handle(call): Handled {
    const { req_id } = parseAgentCallData(call.body);
    const { officeId, name } = requireRole(call, "agent");
    const body: AgentCallData = { agent: name, req_id };
    requirePace(call, body);
    call.hub.broadcast(officeId, {
      event: CANCEL_TOOL_CALL_NOTIFICATION,
      body,
      except: call.connection.sid,
    });
    return done();
  },
  refuse: toErrorAnswer,
};
