/** What the commands for the machines of a Server answer. */
import type { MachinesValue, MachineValue } from "../../api_values.ts";
import { MACHINE_PREFIX, sleepText } from "../../protocol/presence.ts";
import type { GrantedRole } from "../../server/admission/provider.ts";
import type { Machine } from "../../server/admission/machine_list.ts";
import type { SeenMachine } from "../../server/observe/insight.ts";
import { auditFields } from "../../server/observe/logs.ts";
import { drawColumns } from "../../terminal/shapes.ts";
import { toSeenName, toSeenWord } from "../../text/safe_text.ts";
import { unknownName } from "../../text/spelling.ts";
import { timeText } from "../../text/text.ts";
import { colored, type CommandAnswer } from "../answers/answer.ts";
import { CommandFailedError, UsageError } from "../outcome.ts";
import { commandLineOf } from "../program.ts";
import type { OperatedMachines } from "./machines.ts";
import type { OperatedServer } from "./operated_server.ts";

/** What a machine may do. */
export interface MachineLimits {
  readonly office?: readonly string[];
  readonly role?: readonly GrantedRole[];
}

export async function showMachines(server: OperatedServer): Promise<CommandAnswer> {
  const { machines, joins } = machinesOf(server);
  const seen = await server.insight.askMachines();
  machines.noteSeen(seen);
  const seats = Map.groupBy(seen, ({ principal }) => principal);
  const problem = machines.problem ?? unwrittenProblem(machines.unwritten);
  const value: MachinesValue = {
    problem: problem ?? null,
    machines: machines.list().map((each) => toValue(each, seats.get(MACHINE_PREFIX + each.id) ?? [])),
    waiting: joins.waiting.map(({ name, system, address = "", audience, since }) => ({
      name,
      system,
      address,
      server: audience,
      since: new Date(since).toISOString(),
    })),
  };
  return {
    value,
    ...colored(({ strong, faint }) =>
      [
        ...problem === undefined ? [] : [`problem: ${problem}`],
        drawColumns(value.machines.map(cellsOf), { paints: [faint, strong] }) || "no machine has joined",
        ...value.waiting.map(({ name, system, address, server: url, since }) =>
          `waits for "${commandLineOf("server")} machines approve CODE": ${toSeenWord(name)}, ${
            toSeenWord(system)
          }, from ${address}, for ${url}, since ${timeText(since)}`
        ),
      ].join("\n")
    ),
  };
}

function unwrittenProblem(machines: readonly Machine[]): string | undefined {
  if (machines.length === 0) return undefined;
  const names = machines.map(({ name }) => toSeenName(name)).join(", ");
  return `the file of machines could not be changed, and still has ${names}: revoke again before this Server ends`;
}

function cellsOf(
  { id, name, offices, roles, since, last_seen, asleep_since, in: seats }: MachineValue,
): string[] {
  const seen = asleep_since === null ? `last seen ${timeText(last_seen)}` : sleepText(asleep_since);
  return [
    id,
    toSeenWord(name),
    offices.map(toSeenWord).join(", "),
    roles.join(", "),
    `since ${since.slice(0, 10)}`,
    seats.length > 0 && asleep_since === null ? `online in ${seats.map(toSeenWord).join(", ")}` : seen,
  ];
}

function toValue(machine: Machine, seats: readonly SeenMachine[]): MachineValue {
  const { id, name, formerName, offices, roles, system, audience, since, lastSeen } = machine;
  const isAwake = seats.some(({ asleepSince }) => asleepSince === undefined);
  return {
    id,
    name,
    former_name: formerName ?? null,
    offices,
    roles,
    system,
    server: audience,
    since: new Date(since).toISOString(),
    last_seen: new Date(lastSeen).toISOString(),
    asleep_since: isAwake || seats.length === 0 ? null : new Date(lastSeen).toISOString(),
    in: [...new Set(seats.filter(({ isConnected }) => isConnected).map(({ office }) => office))],
  };
}

/** The code proves that the machine is the one in front of whoever reads it out. */
export async function approveMachine(
  server: OperatedServer,
  code: string,
  { name: given, office: offices, role: roles = ["computer"] }: MachineLimits & { readonly name?: string },
): Promise<CommandAnswer> {
  const { machines, joins, wrongCodes } = machinesOf(server);
  if (offices === undefined) throw new UsageError("Cannot approve the machine: give at least one --office");
  if (wrongCodes.waitMs() > 0) {
    throw new CommandFailedError("Cannot approve: too many wrong codes; wait a minute");
  }
  const waiting = joins.findByCode(code);
  if (waiting === undefined) {
    wrongCodes.take();
    throw new CommandFailedError(
      "Cannot approve: no machine waits with this code; it is good for 10 minutes, once. It is not the code of a " +
        "sign-in at an MCP server",
    );
  }
  const { id, key, audience, system, address } = waiting;
  await machines.add({ key, audience, system, name: given ?? waiting.name, offices, roles });
  joins.endCode(waiting);
  return answerOf(server, { id, deed: "approved", about: `at ${address}, which has joined ${audience}` });
}

export async function renameMachine(
  server: OperatedServer,
  which: string,
  name: string,
): Promise<CommandAnswer> {
  const { machines } = machinesOf(server);
  const { id, name: before } = find(machines.list(), which);
  await machines.change(id, { name });
  const about = name === before
    ? "which gives up the name of before"
    : "which takes the name at its next start";
  return answerOf(server, { id, deed: "renamed", about });
}

export async function limitMachine(
  server: OperatedServer,
  which: string,
  { office, role }: MachineLimits,
): Promise<CommandAnswer> {
  const { machines } = machinesOf(server);
  const { id, offices, roles } = find(machines.list(), which);
  if (office === undefined && role === undefined) {
    throw new UsageError("Cannot limit the machine: give --office or --role");
  }
  await machines.change(id, { offices: office ?? offices, roles: role ?? roles });
  return answerOf(server, { id, deed: "limited" });
}

export async function revokeMachine(server: OperatedServer, which: string): Promise<CommandAnswer> {
  const { machines } = machinesOf(server);
  const machine = find([...machines.list(), ...machines.unwritten], which);
  await machines.revoke(machine.id);
  return answerOf(server, { id: machine.id, deed: "revoked", machine });
}

function machinesOf({ machines }: OperatedServer): OperatedMachines {
  if (typeof machines !== "string") return machines;
  throw new CommandFailedError(`Cannot use machines: this Server takes none: ${machines}`);
}

/** Tells of a machine what was done with it, also in the audit trail. */
function answerOf(
  server: OperatedServer,
  { id, deed, about, ...done }: {
    readonly id: string;
    readonly deed: string;
    readonly about?: string;
    /** One that is no longer in the list. */
    readonly machine?: Machine;
  },
): CommandAnswer {
  const { machines, logger } = machinesOf(server);
  const machine = done.machine ?? find(machines.list(), id);
  const { name, offices, roles, audience } = machine;
  const facts = { id, name, offices, roles, server: audience, ...server.actor };
  logger.info(`${deed} a machine`, auditFields("machine", facts));
  const more = about === undefined ? "" : `, ${about}`;
  const where = `${roles.join(", ")} in ${offices.map(toSeenName).join(", ")}`;
  return { value: toValue(machine, []), text: `${deed} ${id} ${toSeenName(name)}: ${where}${more}` };
}

/** By its id, or by a name that one machine has. */
function find(machines: readonly Machine[], which: string): Machine {
  const byId = machines.filter(({ id }) => id === which);
  const found = byId.length > 0 ? byId : machines.filter(({ name }) => name === which);
  const [machine, ...more] = found;
  if (machine === undefined) {
    throw new UsageError(unknownName("machine", which, machines.map(({ name }) => name)));
  }
  if (more.length === 0) return machine;
  const ids = found.map(({ id, offices }) => `${id} (in ${offices.map(toSeenName).join(", ")})`).join(", ");
  throw new UsageError(`Cannot choose machine "${which}": several have this name; give an id: ${ids}`);
}
