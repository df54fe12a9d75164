/** The commands of a hub's operator: invitations, and the grants of clients. They work while the hub runs. */
import { type Command, InvalidArgumentError, Option } from "commander";
import type { GrantValue } from "../../api_values.ts";
import type { Grant, GrantChange, Grants } from "../../hub/grants.ts";
import { hasPath } from "../../gateway/http/paths.ts";
import { isRecord } from "../../json/json.ts";
import { type LogFields, silentLogger } from "../../log.ts";
import type { Invitations } from "../../hub/invitations.ts";
import { ACCESS_RIGHTS, type AccessRights } from "../../protocol/rights.ts";
import { countOf, describeError } from "../../text/text.ts";
import { toBareLine, toSeenName } from "../../text/safe_text.ts";
import { closestWord, didYouMean, unknownName } from "../../text/spelling.ts";
import type { CommandAnswer } from "../answers/answer.ts";
import type { Actor } from "../control/server.ts";
import { collect, parseGrantedOffice, parseName } from "../options.ts";
import { CommandFailedError, UsageError } from "../outcome.ts";
import { existingStateFiles } from "../../files/state_folder.ts";
import { hubStateFile, type HubStateOptions, toolNamesFile } from "./options.ts";

export interface Printed {
  readonly json?: boolean;
}

type Told = Pick<CommandAnswer, "value" | "text" | "warning">;
type UseState = (state: HubState) => Told | Promise<Told>;

/** Opens the state of the hub, and prints what was done with it. */
export type RunGrantCommand = (printed: Printed, use: UseState) => Promise<void>;

/** Declares `invite` and `grants`. */
export function addGrantCommands(program: Command, run: RunGrantCommand): void {
  addInvite(program, run);
  const group = program.command("grants")
    .description(
      "show and change what clients may do; a change counts at once, also for tokens that are out",
    );
  addList(group, run);
  addRename(group, run);
  addLimit(group, run);
  addRevoke(group, run);
}

interface Invited extends Printed, Pick<Limits, "rights" | "computer"> {
  readonly for?: string;
}

function addInvite(program: Command, run: RunGrantCommand): void {
  program.command("invite <offices...>")
    .description(
      "make a code with which a person connects one client to these offices; it is good for 10 minutes",
    )
    .option("--for <name>", "who will consent; grants and Computers have it behind the client's name")
    .addOption(
      new Option("--rights <rights>", "the most that the person may allow (default: call)").choices(
        ACCESS_RIGHTS,
      ),
    )
    .addOption(computerOption("a Computer that the client may use, of all offices; can be repeated"))
    .addOption(jsonOption())
    .action((names: string[], { for: person, rights, computer, ...printed }: Invited) =>
      run(printed, async ({ invitations, computersOf, record }) => {
        const offices = [...new Set(names.map(parseInvitedOffice))];
        const name = person === undefined ? undefined : parseAs("name", person);
        const computers = computer?.map((each) => parseAs("Computer", each));
        const warning = warningOfSlip(computers, await computersOf(offices));
        const { code, expiresAt } = record((note) => {
          note("a code was made by a command", { offices, for: name, rights, computers });
          return invitations.add({ name, offices, rights, computers });
        });
        const until = new Date(expiresAt).toLocaleTimeString("sv");
        return {
          value: {
            code,
            offices,
            rights: rights ?? "call",
            computers: computers ?? null,
            expires_at: new Date(expiresAt).toISOString(),
          },
          text: `${code}\nGood once, until ${until}, for ${offices.map(toSeenName).join(", ")}${
            rights === undefined ? "" : `, at most ${rights}`
          }${computersText(computers)}`,
          warning,
        };
      })
    );
}

function addList(group: Command, run: RunGrantCommand): void {
  group.command("list", { isDefault: true })
    .description("list the grants: clients, who consented, offices, rights, last use and calls")
    .addOption(jsonOption())
    .action((printed: Printed) =>
      run(printed, ({ grants }) => {
        const listed = grants.list();
        return { value: listed.map(toJson), text: listed.map(describe).join("\n") || "No grants" };
      })
    );
}

function addRename(group: Command, run: RunGrantCommand): void {
  group.command("rename <id> <name>")
    .description("give a client another name, which Computers are told as well")
    .addOption(jsonOption())
    .action((id: string, name: string, printed: Printed) =>
      run(printed, (state) => {
        find(state.grants, id);
        return change(state, id, { client: parseAs("name", name) });
      })
    );
}

interface Limits extends Printed {
  readonly rights?: AccessRights;
  readonly office?: readonly string[];
  readonly computer?: readonly string[];
}

function addLimit(group: Command, run: RunGrantCommand): void {
  group.command("limit <id>")
    .description("let a client do less; more than the person has consented to needs a new consent")
    .addOption(new Option("--rights <rights>", "what it may do").choices(ACCESS_RIGHTS))
    .addOption(
      new Option("--office <office>", "an office that it may use; can be repeated").argParser(collect),
    )
    .addOption(computerOption("a Computer that it may use, of all its offices; can be repeated"))
    .addOption(jsonOption())
    .action((id: string, { rights, office, computer, ...printed }: Limits) =>
      run(printed, async (state) => {
        if (rights === undefined && office === undefined && computer === undefined) {
          throw new UsageError("Cannot limit the grant: give --rights, --office or --computer");
        }
        const grant = find(state.grants, id);
        const offices = office?.map((each) => parseAs("office", each));
        const computers = computer?.map((each) => parseAs("Computer", each));
        requireLess(grant, { rights, offices, computers });
        const known = await state.computersOf(offices ?? grant.offices);
        const warning = warningOfSlip(computers, [...known, ...grant.computers ?? []]);
        return { ...change(state, id, { rights, offices, computers }), warning };
      })
    );
}

/** The tokens that are out are for what the person has consented to. */
function requireLess(grant: Grant, { rights, offices, computers }: GrantChange): void {
  if (rights !== undefined && ACCESS_RIGHTS.indexOf(rights) > ACCESS_RIGHTS.indexOf(grant.rights)) {
    throw moreThan(grant, `its rights are ${grant.rights}`);
  }
  const { offices: own, computers: seen } = grant;
  const office = offices?.find((each) => !own.includes(each));
  if (office !== undefined) throw moreThan(grant, `it has no rights in office ${toSeenName(office)}`);
  const computer = computers?.find((each) => seen?.includes(each) === false);
  if (computer !== undefined) throw moreThan(grant, `it does not see Computer ${toSeenName(computer)}`);
}

/** A wrong name gives the client nothing. A Computer without tools, and a new one, is not among those that are known. */
function warningOfSlip(computers: readonly string[] = [], known: readonly string[]): string | undefined {
  const slip = computers.find((each) => !known.includes(each) && closestWord(each, known) !== undefined);
  return slip && `no client has seen a tool of Computer ${toSeenName(slip)}${didYouMean(slip, known)}`;
}

function moreThan({ id }: Grant, why: string): UsageError {
  return new UsageError(`Cannot limit grant "${id}" to more than it has: ${why}; connect the client again`);
}

function addRevoke(group: Command, run: RunGrantCommand): void {
  group.command("revoke <ids...>")
    .description("end grants and all of their tokens")
    .addOption(jsonOption())
    .action((ids: string[], printed: Printed) =>
      run(printed, ({ grants, record }) => {
        const found = ids.map((id) => find(grants, id));
        record((note) => {
          for (const { id, client } of found) {
            grants.revoke(id);
            note("a grant was revoked by a command", { grant: id, client });
          }
        });
        const lines = found.map(({ id, client }) => `Revoked ${id}, ${toSeenName(client)}`);
        return { value: found.map(toJson), text: lines.join("\n") };
      })
    );
}

interface HubState {
  readonly grants: Grants;
  readonly invitations: Invitations;
  /** The Computers of these offices of which clients have seen tools, also those that are away. */
  readonly computersOf: (offices: readonly string[]) => Promise<readonly string[]>;
  /** Does it, with lines for the audit trail of the hub: all of it, or nothing. */
  readonly record: <T>(work: (note: (message: string, fields: LogFields) => void) => T) => T;
}

/** Does it with the file of these options, which a hub may use meanwhile. */
export async function runGrantCommand(
  options: HubStateOptions,
  { actor, use }: { readonly actor: Actor; readonly use: UseState },
): Promise<Told> {
  const path = stateFileOf(options);
  // Loaded only now, so that --help and a wrong command line are fast.
  const [{ StateFile, StateFileError }, { Grants }, { Invitations }, { noteCommand }] = await Promise.all([
    import("../../hub/state_file.ts"),
    import("../../hub/grants.ts"),
    import("../../hub/invitations.ts"),
    import("../../hub/commands.ts"),
  ]);
  try {
    using file = StateFile.openExisting(path);
    return await use({
      grants: new Grants(file),
      invitations: new Invitations(file),
      computersOf: (offices) => knownComputers(path, offices),
      record: (work) =>
        file.transact(() =>
          work((message, fields) => noteCommand(file, { message, fields: { ...fields, ...actor } }))
        ),
    });
  } catch (error) {
    if (error instanceof StateFileError) throw new UsageError(error.message, { cause: error });
    if (isRecord(error) && error["code"] === SQLITE_ERROR) throw cannotChange(path, error);
    throw error;
  }
}

const SQLITE_ERROR = "ERR_SQLITE_ERROR";

function cannotChange(path: string, cause: unknown): CommandFailedError {
  return new CommandFailedError(
    `Cannot change the hub's state file "${path}": ${
      describeError(cause)
    }. Nothing was changed: free space on its ` +
      "disk, and run the command again. To keep a client out until then, stop the hub",
  );
}

/** The Computers of which clients of the hub have seen tools; none while that cannot be read. */
async function knownComputers(path: string, offices: readonly string[]): Promise<readonly string[]> {
  const { GatewayState } = await import("../agent/mcp/gateway_state.ts");
  const names = await GatewayState.open(toolNamesFile(path), silentLogger).catch(() => undefined);
  return names?.computersOf(offices) ?? [];
}

/** The file that is given, or is in the state folder; without one, that of the only service of systemd, for root. */
function stateFileOf({ stateFile: given }: HubStateOptions): string {
  if (given !== undefined) return given;
  const own = hubStateFile({});
  const [found = own, ...more] = existingStateFiles("hub.sqlite");
  if (found !== undefined && (found === own || more.length === 0)) return found;
  const state = found === undefined ? "no state folder" : `services have ${[found, ...more].join(", ")}`;
  throw new UsageError(`Cannot find the hub's state file: ${state}; give --state-file`);
}

function find(grants: Grants, id: string): Grant {
  const grant = grants.find(id);
  if (grant !== undefined) return grant;
  throw new UsageError(unknownName("grant", id, grants.list().map((each) => each.id)));
}

function change(
  { grants, record }: HubState,
  id: string,
  changed: GrantChange,
): Told {
  const grant = record((note) => {
    grants.change(id, changed);
    const now = find(grants, id);
    const { client, rights, offices, computers } = now;
    note("a grant was changed by a command", { grant: id, client, rights, offices, computers });
    return now;
  });
  return { value: toJson(grant), text: describe(grant) };
}

function describe(grant: Grant): string {
  const { id, client, rights, offices, computers, returnsTo, consentedBy, since, lastUsed, calls } = grant;
  const where = offices.map(toSeenName).join(", ");
  const used = lastUsed === undefined
    ? "never used"
    : `last used ${timeOf(lastUsed)}, ${countOf(calls, "call")}`;
  return [
    `${id}  ${toBareLine(client)}: ${rights} in ${where}${computersText(computers)}`,
    `  returns to ${toBareLine(returnsTo)}; ${toBareLine(consentedBy)} consented ${timeOf(since)}; ${used}`,
  ].join("\n");
}

function computersText(computers: readonly string[] | undefined): string {
  return computers === undefined ? "" : `, Computers ${computers.map(toSeenName).join(", ")}`;
}

function timeOf(time: number): string {
  return new Date(time).toLocaleString("sv");
}

function toJson(grant: Grant): GrantValue {
  const { id, client, clientId, returnsTo, consentedBy, resource, rights, offices, computers } = grant;
  return {
    id,
    client,
    client_id: clientId,
    returns_to: returnsTo,
    consented_by: consentedBy,
    resource,
    offices,
    computers: computers ?? null,
    rights,
    since: new Date(grant.since).toISOString(),
    last_used: grant.lastUsed === undefined ? null : new Date(grant.lastUsed).toISOString(),
    calls: grant.calls,
  };
}

function parseInvitedOffice(name: string): string {
  const office = parseAs("office", name, parseGrantedOffice);
  if (hasPath(office)) return office;
  throw new UsageError(
    `Cannot use office "${office}": it has no path at the hub; give the office another name`,
  );
}

function parseAs(what: string, name: string, parse = parseName): string {
  try {
    return parse(name);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw new UsageError(`Cannot use ${what} "${name}": ${error.message}`);
  }
}

function computerOption(about: string): Option {
  return new Option("--computer <name>", about).argParser(collect);
}

function jsonOption(): Option {
  return new Option("--json", "print JSON");
}
