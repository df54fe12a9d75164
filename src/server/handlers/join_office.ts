/** `server:join_office`. */
import { ErrorCode } from "../../protocol/error_codes.ts";
import { SmcpError } from "../../protocol/errors.ts";
import { parseEnterOfficeReq } from "../../protocol/parse.ts";
import { done, type Handled, type Hub, type Route } from "../hub.ts";
import type { Member } from "../office_store.ts";
import { arrive, depart } from "./membership.ts";
import { requirePace, toTextAnswer } from "./_require.ts";

/** Makes the caller a member of an office; acks `(true, null)` or `(false, "reason")`. */
export const joinOffice: Route = {
  async handle(call): Promise<Handled> {
    const { hub, connection, body } = call;
    const { role, name, office_id: officeId } = parseEnterOfficeReq(body);
    requirePace(call, { name, officeId });
    const outcome = await hub.offices.join({
      ...connection.identity,
      isObserver: connection.identity.isObserver && role === "agent",
      joinedAt: new Date().toISOString(),
      sid: connection.sid,
      role,
      name,
      officeId,
    });
    if (outcome.kind === "refused") throw new SmcpError(ErrorCode.FORBIDDEN, outcome.reason);
    if (outcome.kind === "joined") {
      if (outcome.left !== undefined) depart(hub, outcome.left);
      if (outcome.replaced !== undefined) replace(hub, outcome.replaced);
      arrive(hub, connection, outcome.member);
    }
    return done(true, null);
  },
  refuse: toTextAnswer,
};

/** Ends what is left of a member's lost connection: its owner has come back on this one. */
function replace(hub: Hub, ghost: Member): void {
  depart(hub, ghost);
  hub.connection(ghost.sid)?.close();
}
