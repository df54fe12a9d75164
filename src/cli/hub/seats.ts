/** How a hub takes the Agents' seats in the offices of its Server. */
import { Agent, type AgentOptions } from "../../agent/agent.ts";
import type { SeatsOptions } from "../../gateway/seats.ts";
import { connectionsOver } from "../../link/connect.ts";
import { JoinRefusedError } from "../../link/errors.ts";
import { toSeenName } from "../../text/safe_text.ts";
import { describeError } from "../../text/text.ts";
import type { InnerSide } from "../../server/server.ts";

/** The Server, and as whom the seats are taken. */
export interface HubPlace extends InnerSide {
  readonly connection: Omit<AgentOptions, "office" | "signal" | "timeoutMs" | "observer">;
}

/** Joins offices as an Agent; where somebody else's Agent has the seat, the clients are told who. */
export function seatsAt(place: Promise<HubPlace>): Pick<SeatsOptions, "join" | "explain"> {
  return {
    async join(office, signal) {
      const { connection, openSocket } = await place;
      const open = connectionsOver(openSocket);
      return await Agent.connectBy({ ...connection, office, signal, timeoutMs: Infinity }, { open });
    },
    async explain(office, error) {
      const isTaken = error instanceof JoinRefusedError && error.isPassing;
      const [holder] = isTaken ? await namesOf("agent", office, await place) ?? [] : [];
      const what = `the hub cannot join office ${toSeenName(office)} now, and tries again`;
      return holder === undefined
        ? `${what}: ${describeError(error)}`
        : `${what}: the Agent ${toSeenName(holder)} has its seat. End that Agent, or wait until it leaves`;
    },
  };
}

/** The names of the Agent or of the Computers in an office; `undefined` while the Server cannot tell. */
export async function namesOf(
  role: "agent" | "computer",
  office: string,
  { membersOf }: Pick<HubPlace, "membersOf">,
): Promise<string[] | undefined> {
  const members = await membersOf(office).catch(() => undefined);
  return members?.filter((each) => each.role === role).map(({ name }) => name);
}
