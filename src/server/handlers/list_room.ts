/** `server:list_room`. */
import { ErrorCode } from "../../protocol/error_codes.ts";
import { SmcpError } from "../../protocol/errors.ts";
import type { ListRoomRet, SessionInfo } from "../../protocol/office.ts";
import { parseListRoomReq } from "../../protocol/parse.ts";
import { done, type Handled, type Route } from "../hub.ts";
import type { Member } from "../office_store.ts";
import { requireMember, toErrorAnswer } from "./_require.ts";

/** Lists the members of the caller's own office, whatever the caller's role. */
export const listRoom: Route = {
  async handle(call): Promise<Handled> {
    const { office_id, req_id } = parseListRoomReq(call.body);
    if (requireMember(call).officeId !== office_id) {
      throw new SmcpError(ErrorCode.FORBIDDEN, `Cannot list room '${office_id}': the sender is not in it`);
    }
    const members = await call.hub.offices.members(office_id);
    const answer: ListRoomRet = { sessions: members.map(toSessionInfo), req_id };
    return done(answer);
  },
  refuse: toErrorAnswer,
};

function toSessionInfo({ sid, name, role, officeId, version }: Member): SessionInfo {
  const session = { sid, name, role, office_id: officeId };
  return version === undefined ? session : { ...session, a2c_version: version };
}
