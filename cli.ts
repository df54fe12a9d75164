/**
 * The programs as one: `a2c-smcp server`, `a2c-smcp computer` and `a2c-smcp agent`. It has no exports.
 *
 * ```sh
 * deno run -A cli.ts server --port 3000
 * ```
 *
 * Each of the three needs the permissions of its door, `server.ts`, `computer.ts` or `agent.ts`.
 *
 * @module
 */
import type { ProgramName } from "./src/cli/called_as.ts";
import { ExitCode } from "./src/cli/exit_codes.ts";
import { PROTOCOL_VERSION } from "./src/protocol/version.ts";
import { PACKAGE_VERSION } from "./src/version.ts";

type Run = (args: readonly string[]) => Promise<number>;

/** Each program is loaded when it is asked for: the Server needs nothing of what a Computer needs. */
const programs: Readonly<
  Record<ProgramName, { readonly load: () => Promise<Run>; readonly summary: string }>
> = {
  server: {
    load: async () => (await import("./src/server/cli.ts")).runServerCli,
    summary: "the hub: keeps offices and relays between their members",
  },
  computer: {
    load: async () => (await import("./src/computer/cli.ts")).runComputerCli,
    summary: "hosts MCP servers and offers them to an office's Agent",
  },
  agent: {
    load: async () => (await import("./src/agent/cli.ts")).runAgentCli,
    summary: "uses the Computers of an office",
  },
};

const USAGE = `Usage: a2c-smcp <program> [options]

An AI agent uses the tools, live windows and documents of other people's machines.

Programs:
${Object.entries(programs).map(([name, { summary }]) => `  ${name.padEnd(10)}${summary}`).join("\n")}

"a2c-smcp agent --help" shows the options of one.`;

function isProgram(word: string): word is ProgramName {
  return Object.hasOwn(programs, word);
}

/** Runs the program that the first word names, and gives the exit code. */
async function run([word = "", ...rest]: readonly string[]): Promise<number> {
  if (isProgram(word)) return await (await programs[word].load())(rest);
  const [topic = ""] = rest;
  if (word === "help" && isProgram(topic)) return await run([topic, "--help"]);
  if (["-h", "--help", "help"].includes(word)) {
    console.log(USAGE);
    return ExitCode.OK;
  }
  if (["-V", "--version"].includes(word)) {
    console.log(`a2c-smcp ${PACKAGE_VERSION} (protocol ${PROTOCOL_VERSION})`);
    return ExitCode.OK;
  }
  console.error(word === "" ? USAGE : `Cannot run "${word}": no such program\n\n${USAGE}`);
  return ExitCode.USAGE;
}

if (import.meta.main) Deno.exit(await run(Deno.args));
