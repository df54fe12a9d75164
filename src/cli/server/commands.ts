/** Declares the commands for a Server that runs: for the shell, for its control socket and for its page. */
import { type Command, Option } from "commander";
import type { CommandAnswer } from "../answers/answer.ts";
import type { ConsoleFlags } from "../answers/console.ts";
import { GRANTED_ROLES } from "../../server/admission/provider.ts";
import { collect, parseGrantedOffice, parseName, wholeNumber } from "../options.ts";
import type { MachineLimits } from "./machine_answers.ts";
import type { EndFlags, ServerCommandContext } from "./operated_server.ts";

// Loaded when a command runs, so that a command for another process starts fast.
const answers = () => import("./answers.ts");
const machines = () => import("./machine_answers.ts");
const page = () => import("../answers/console.ts");

/** The commands that only read: a request that changes nothing may run them. */
export const READING_COMMANDS: readonly string[] = [
  ...["overview", "offices", "members", "audit", "tokens", "machines list"],
];

export interface ServerCommandCall {
  readonly json: boolean;
  readonly work: (context: ServerCommandContext) => CommandAnswer | Promise<CommandAnswer>;
}

export type RunServerCommand = (call: ServerCommandCall) => Promise<void>;

/** How a command is written, and what it does with its arguments and options. */
interface DeclaredCommand<Args extends readonly unknown[]> {
  readonly usage: string;
  readonly about: string;
  /** Whether it is the command of its group that is run without a word; false by default. */
  readonly isDefault?: boolean;
  readonly work: (context: ServerCommandContext, ...args: Args) => Promise<CommandAnswer>;
}

/** Declares commands of a group. */
function adder(group: Command, run: RunServerCommand) {
  return <Args extends readonly unknown[]>(declared: DeclaredCommand<Args>): Command => {
    const { usage, about, isDefault = false, work } = declared;
    const command = group.command(usage, { isDefault }).description(about);
    return command.addOption(new Option("--json", "print one JSON document").default(false))
      .action((...args: Args) =>
        run({ json: command.opts<{ json: boolean }>().json, work: (context) => work(context, ...args) })
      );
  };
}

export function addServerCommands(program: Command, run: RunServerCommand): void {
  const add = adder(program, run);
  add({
    usage: "overview",
    about: "show whether the Server is ready, its members, rates, memory and changed options",
    work: async ({ server }) => (await answers()).showOverview(server),
  });
  add({
    usage: "offices",
    about: "list the offices with their members",
    work: async ({ server }) => (await answers()).showOffices(server),
  });
  add({
    usage: "members <office>",
    about: "list the members of an office with their connections",
    work: async ({ server }, office: string) => (await answers()).showMembers(server, office),
  });
  add({
    usage: "events <office>",
    about: "show what the members of an office send, without its content, until Ctrl-C",
    work: async (context, office: string) => (await answers()).followEvents(context, office),
  });
  add({
    usage: "watch <office>",
    about: "have the console tell the events of an office on its stream for a minute",
    work: async ({ server }, office: string) => (await answers()).watchEvents(server, office),
  });
  add({
    usage: "end",
    about: "end a connection, or all connections of a principal",
    work: async ({ server }, flags: EndFlags) => (await answers()).endConnections(server, flags),
  })
    .option("--member <sid>", "the connection, as `members` shows it")
    .option("--principal <name>", "all connections of this principal")
    .requiredOption("--reason <text>", "what the clients are told, and the audit trail")
    .option("--may-return", "let the clients reconnect with the same credentials", false);
  add({
    usage: "audit",
    about: "show the last lines of the audit trail, of 2,000 at most",
    work: async ({ server }, { lines }: { lines: number }) => (await answers()).showAudit(server, lines),
  }).addOption(new Option("--lines <n>", "how many").argParser(wholeNumber(0)).default(50));
  add({
    usage: "tokens",
    about: "list the names of the accepted tokens, their offices, roles and expiry, but no values",
    work: async ({ server }) => (await answers()).showTokens(server),
  });
  addMachineCommands(program, run);
  add({
    usage: "console",
    about: "open the page of the Server in the browser, and print its link",
    work: async ({ server, conversation }, flags: ConsoleFlags) =>
      (await page()).answerConsole(server.console, { ...flags, conversation }),
  })
    .option("--no-open", "print the link and open no browser")
    .option("--stop", "close the console: its link is good no more", false);
  add({
    usage: "drain",
    about: "end the Server without losing requests, as SIGTERM does",
    work: async ({ server }) => (await answers()).drain(server),
  });
}

function addMachineCommands(program: Command, run: RunServerCommand): void {
  const group = program.command("machines").description(
    "list the machines that have joined by code; approve, rename, limit or revoke one",
  );
  const add = adder(group, run);
  const office = () =>
    new Option("--office <office>", "an office that it may join; repeatable")
      .argParser((raw: string, earlier?: readonly string[]) => collect(parseGrantedOffice(raw), earlier));
  const role = () =>
    new Option("--role <role...>", "the roles that it may have (default: computer)").choices(GRANTED_ROLES);
  add({
    usage: "list",
    about: "list the machines: id, name, offices, since when, last seen, and which wait",
    isDefault: true,
    work: async ({ server }) => (await machines()).showMachines(server),
  });
  add({
    usage: "approve <code>",
    about: "let the machine join that shows this code",
    work: async ({ server }, code: string, flags: MachineLimits) =>
      (await machines()).approveMachine(server, code, flags),
  }).addOption(office()).addOption(role()).addOption(
    new Option("--name <name>", "its name (default: the one that it asks for)").argParser(parseName),
  );
  add({
    usage: "rename <machine> <name>",
    about: "give a machine, by id or name, another name",
    work: async ({ server }, machine: string, name: string) =>
      (await machines()).renameMachine(server, machine, parseName(name)),
  });
  add({
    usage: "limit <machine>",
    about: "change the offices or roles of a machine; it reconnects",
    work: async ({ server }, machine: string, flags: MachineLimits) =>
      (await machines()).limitMachine(server, machine, flags),
  }).addOption(office()).addOption(role());
  add({
    usage: "revoke <machine>",
    about: "end the connections of a machine at once, and refuse it from now on",
    work: async ({ server }, machine: string) => (await machines()).revokeMachine(server, machine),
  });
}
