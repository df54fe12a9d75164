/** The command line of `hub.ts`: a Server, and the gateway to its offices, on one port. */
import { type Command, Option } from "commander";
import { addServerOptions, readServerOptions } from "../server/main.ts";
import { runServer } from "../server/run.ts";
import { didYouMean } from "../../text/spelling.ts";
import { parseName } from "../options.ts";
import { showAnswer } from "../answers/answer.ts";
import { printError, UsageError } from "../outcome.ts";
import { addCommandHelp, commandLineOf, createProgram, helpPart, runProgram } from "../program.ts";
import { presentingOptions } from "../gateway_options.ts";
import { parsePublicUrl, resourceServerOptions } from "../resource_server.ts";
import { typingUser } from "../../files/user_sockets.ts";
import { addGrantCommands, runGrantCommand } from "./grants.ts";
import { type HubOptions, stateFileOption } from "./options.ts";

/** Runs a hub until Ctrl-C, SIGTERM or SIGHUP and returns the exit code. */
export function runHubCli(args: readonly string[]): Promise<number> {
  return runProgram(args, (signal) => createHubProgram(signal));
}

export function createHubProgram(signal: AbortSignal): Command {
  const program = createProgram(
    "hub",
    "Run a Server, and serve its offices to MCP clients on the same port.",
  );
  for (const option of hubOptions()) program.addOption(option.helpGroup("Hub:"));
  addServerOptions(program);
  program.addHelpText("after", examples(commandLineOf("hub")));
  addGrantCommands(program, async ({ json = false }, use) => {
    refuseIdle(program);
    const actor = { via: "command", by: typingUser() } as const;
    const answer = await runGrantCommand(program.opts<HubOptions>(), { actor, use });
    showAnswer(answer, { print: console.log, printError }, { json, screen: undefined });
  });
  addCommandHelp(program, "hub", `Of the options of "${commandLineOf("hub")} --help", --state-file applies.`);
  const names = program.commands.map((command) => command.name());
  program.argument("[command]").allowExcessArguments().usage("[options] [command]");
  return program.action(async (word: string | undefined) => {
    if (word !== undefined) {
      throw new UsageError(`Cannot run "${word}": unknown command${didYouMean(word, names)}`);
    }
    const warnings = await readServerOptions(program);
    const options = program.opts<HubOptions>();
    // Loaded only now, so that --help and a wrong command line are fast.
    const [{ openHub }, { TokenOwners }] = await Promise.all([import("./hub.ts"), import("./mcp_tokens.ts")]);
    const owners = new TokenOwners();
    await runServer(program, {
      signal,
      warnings,
      claim: owners.claim,
      surround: (context) => openHub(options, { ...context, owners }),
    });
  });
}

/** Options that the commands have a use for, or that change nothing of what they do. */
const OF_COMMANDS: readonly string[] = ["--state-file", "--log-level", "--log-format"];

/** With another option, such as a port, somebody means another hub. */
function refuseIdle(program: Command): void {
  const idle = program.options.find((option) =>
    program.getOptionValueSource(option.attributeName()) === "cli" && !OF_COMMANDS.includes(option.long ?? "")
  );
  if (idle === undefined) return;
  throw new UsageError(
    `Cannot use ${idle.long} here: a command finds its hub by --state-file alone; give the --state-file of that hub`,
  );
}

function hubOptions(): Option[] {
  return [
    new Option(
      "--public-url <url>",
      "where clients reach the hub, such as https://hub.example.com (default: where it listens)",
    ).argParser(parsePublicUrl).env("A2C_PUBLIC_URL"),
    new Option(
      "--mcp-token-file <file>",
      "admit MCP clients with the tokens in this file, one per line, each with its offices and rights; read again " +
        "when it changes",
    ).env("A2C_MCP_TOKEN_FILE"),
    new Option(
      "--operator-token-file <file>",
      "let whoever has a token of this file consent to clients, without an invitation; one per line, with its offices",
    ).env("A2C_OPERATOR_TOKEN_FILE"),
    stateFileOption(),
    ...resourceServerOptions({ prefix: "A2C_HUB" }),
    new Option(
      "--oauth-operator-claim <claim>",
      "let people of that provider consent to clients without an invitation: the claim with the offices for which they may",
    ).env("A2C_HUB_OAUTH_OPERATOR_CLAIM"),
    new Option("--hub-name <name>", "the name of the hub as the Agent of an office").argParser(parseName)
      .default("hub").env("A2C_HUB_NAME"),
    ...presentingOptions(),
  ];
}

function examples(hub: string): string {
  return helpPart(
    "Examples:",
    `  ${hub} --token-file tokens.txt
  ${hub} --public-url https://hub.example.com --trust-proxy loopback --token-file tokens.txt
  ${hub} invite lab`,
  );
}
