/** `server:leave_office`. */
import { ErrorCode } from "../../protocol/error_codes.ts";
import { SmcpError } from "../../protocol/errors.ts";
import { parseLeaveOfficeReq } from "../../protocol/parse.ts";
import { done, type Handled, type Route } from "../hub.ts";
import { depart } from "./membership.ts";
import { requireMember, toTextAnswer } from "./_require.ts";

/** Ends the caller's membership of its office; acks `(true, null)` or `(false, "reason")`. */
export const leaveOffice: Route = {
  async handle(call): Promise<Handled> {
    const { hub, connection } = call;
    const { office_id } = parseLeaveOfficeReq(call.body);
    if (requireMember(call).officeId !== office_id) {
      throw new SmcpError(ErrorCode.FORBIDDEN, `Cannot leave room '${office_id}': the sender is not in it`);
    }
    const member = await hub.offices.leave(connection.sid);
    if (member !== undefined) depart(hub, member);
    return done(true, null);
  },
  refuse: toTextAnswer,
};
