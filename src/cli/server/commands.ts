/** Declares the commands for a Server that runs: for the shell, for its control socket and for its page. */
import { type Command, Option } from "commander";
import type { CommandAnswer } from "../answers/answer.ts";
import type { ConsoleFlags } from "../answers/console.ts";
import { wholeNumber } from "../options.ts";
import { UsageError } from "../outcome.ts";
import type { EndFlags, ServerCommandContext } from "./operated_server.ts";

// Loaded when a command runs, so that a command for another process starts fast.
const answers = () => import("./answers.ts");

/** The commands that only read: a request that changes nothing may run them. */
export const READING_COMMANDS: readonly string[] = [
  "overview",
  "offices",
  "members",
  "audit",
  "tokens",
];

export interface ServerCommandCall {
  readonly name: string;
  readonly json: boolean;
  readonly work: (context: ServerCommandContext) => CommandAnswer | Promise<CommandAnswer>;
}

export type RunServerCommand = (call: ServerCommandCall) => Promise<void>;

interface Printed {
  readonly json: boolean;
}

export function addServerCommands(program: Command, run: RunServerCommand): void {
  const add = (usage: string, about: string) =>
    program.command(usage).description(about)
      .addOption(new Option("--json", "print one JSON document").default(false));
  add("overview", "show whether the Server is ready, its members, rates, memory and changed options")
    .action(({ json }: Printed) =>
      run({ name: "overview", json, work: async ({ server }) => (await answers()).showOverview(server) })
    );
  add("offices", "list the offices with their members").action(({ json }: Printed) =>
    run({ name: "offices", json, work: async ({ server }) => (await answers()).showOffices(server) })
  );
  add("members <office>", "list the members of an office with their connections")
    .action((office: string, { json }: Printed) =>
      run({
        name: "members",
        json,
        work: async ({ server }) => (await answers()).showMembers(server, office),
      })
    );
  add("events <office>", "show what the members of an office send, without its content, until Ctrl-C")
    .action((office: string, { json }: Printed) =>
      run({
        name: "events",
        json,
        work: async (context) => (await answers()).followEvents(context, office),
      })
    );
  add("watch <office>", "have the console tell the events of an office on its stream for a minute")
    .action((office: string, { json }: Printed) =>
      run({ name: "watch", json, work: async ({ server }) => (await answers()).watchEvents(server, office) })
    );
  addEnd(add, run);
  add("audit", "show the last lines of the audit trail, of 2,000 at most")
    .addOption(new Option("--lines <n>", "how many").argParser(wholeNumber(0)).default(50))
    .action(({ json, lines }: Printed & { readonly lines: number }) =>
      run({ name: "audit", json, work: async ({ server }) => (await answers()).showAudit(server, lines) })
    );
  add("tokens", "list the names of the accepted tokens, their offices, roles and expiry, but no values")
    .action(({ json }: Printed) =>
      run({ name: "tokens", json, work: async ({ server }) => (await answers()).showTokens(server) })
    );
  add("console", "open the page of the Server in the browser, and print its link")
    .option("--no-open", "print the link and open no browser")
    .option("--stop", "close the console: its link is good no more", false)
    .action(({ json, ...flags }: ConsoleFlags & Printed) =>
      run({
        name: "console",
        json,
        work: async (context) => (await answers()).openConsole(context, flags),
      })
    );
  add("drain", "end the Server without losing requests, as SIGTERM does").action(({ json }: Printed) =>
    run({ name: "drain", json, work: async ({ server }) => (await answers()).drain(server) })
  );
}

function addEnd(add: (usage: string, about: string) => Command, run: RunServerCommand): void {
  add("end", "end a connection, or all connections of a principal")
    .option("--member <sid>", "the connection, as `members` shows it")
    .option("--principal <name>", "all connections of this principal")
    .requiredOption("--reason <text>", "what the clients are told, and the audit trail")
    .option("--may-return", "let the clients reconnect with the same credentials", false)
    .action(({ json, ...flags }: EndFlags & Printed) => {
      if ((flags.member === undefined) === (flags.principal === undefined)) {
        throw new UsageError("Cannot end connections: give either --member or --principal");
      }
      return run({
        name: "end",
        json,
        work: async ({ server }) => (await answers()).endConnections(server, flags),
      });
    });
}
