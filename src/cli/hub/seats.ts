/** How a hub takes the Agents' seats in the offices of a Server. */
import { Agent, type AgentOptions } from "../../agent/agent.ts";
import type { SeatsOptions } from "../../gateway/seats.ts";
import { JoinRefusedError } from "../../link/errors.ts";
import type { SessionInfo } from "../../protocol/office.ts";
import { toSeenName } from "../../text/safe_text.ts";
import { describeError } from "../../text/text.ts";

/** How long to ask who holds a seat, in milliseconds. */
const ASK_MS = 5_000;

/** Where and as whom the seats are taken. */
export type SeatConnection = Omit<AgentOptions, "office" | "signal" | "timeoutMs" | "observer">;

/** Joins offices as an Agent; where somebody else's Agent has the seat, the clients are told who. */
export function seatsAt(connection: () => SeatConnection): Pick<SeatsOptions, "join" | "explain"> {
  return {
    join: (office, signal) => Agent.connect({ ...connection(), office, signal, timeoutMs: Infinity }),
    async explain(office, error, signal) {
      const isTaken = error instanceof JoinRefusedError && error.isPassing;
      const holder = isTaken ? await holderOf(office, { connection: connection(), signal }) : undefined;
      const what = `the hub cannot join office ${toSeenName(office)} now, and tries again`;
      return holder === undefined
        ? `${what}: ${describeError(error)}`
        : `${what}: the Agent ${toSeenName(holder)} has its seat. End that Agent, or wait until it leaves`;
    },
  };
}

/** The Server names the holder of a seat to members of the office alone, so an observer asks. */
async function holderOf(
  office: string,
  asking: { readonly connection: SeatConnection; readonly signal?: AbortSignal },
): Promise<string | undefined> {
  return (await membersOf(office, asking))?.find(({ role }) => role === "agent")?.name;
}

/** The Computers in an office; `undefined` where the office does not say, or not in time. */
export async function computersOf(
  office: string,
  connection: SeatConnection,
): Promise<string[] | undefined> {
  const members = await membersOf(office, { connection });
  return members?.filter(({ role }) => role === "computer").map(({ name }) => name);
}

/** Who is in an office; `undefined` where the office does not say, or not in time. */
async function membersOf(
  office: string,
  { connection, signal }: { readonly connection: SeatConnection; readonly signal?: AbortSignal },
): Promise<readonly SessionInfo[] | undefined> {
  try {
    await using observer = await Agent.connect({
      ...connection,
      office,
      observer: true,
      timeoutMs: ASK_MS,
      signal,
    });
    return await observer.listOffice({ timeoutMs: ASK_MS, ...(signal === undefined ? {} : { signal }) });
  } catch {
    // Whoever asked can do without.
    return undefined;
  }
}
