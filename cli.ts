/**
 * The programs as one command: `a2c-smcp server`, `computer`, `agent` and `documents`. It has no exports.
 *
 * ```sh
 * deno run -A cli.ts server --port 3000
 * ```
 *
 * Each program needs the permissions that `server.ts`, `computer.ts`, `agent.ts` or `@a2c-smcp/documents` names.
 *
 * @module
 */
import type { ProgramName } from "./src/cli/program.ts";
import { ExitCode } from "./src/cli/outcome.ts";
import type { Command } from "commander";
import { completionScript, SHELLS } from "./src/cli/shell_completion.ts";
import { didYouMean } from "./src/text/spelling.ts";
import { printableLine } from "./src/text/safe_text.ts";
import { PROTOCOL_VERSION } from "./src/protocol/version.ts";
import { PACKAGE_VERSION } from "./src/version.ts";

/** A program once it is loaded. */
interface Program {
  readonly run: (args: readonly string[]) => Promise<number>;
  /** Declares the commands. */
  readonly create: (signal: AbortSignal) => Command | Promise<Command>;
}

/** The programs. Only the one that runs is loaded. */
const programs: Readonly<
  Record<ProgramName, { readonly load: () => Promise<Program>; readonly summary: string }>
> = {
  server: {
    load: async () => {
      const { runServerCli: run, createServerProgram: create } = await import("./src/cli/server/main.ts");
      return { run, create };
    },
    summary: "the relay: keeps offices and passes requests on between their members",
  },
  computer: {
    load: async () => {
      const { runComputerCli: run, createComputerProgram: create } = await import(
        "./src/cli/computer/main.ts"
      );
      return { run, create };
    },
    summary: "hosts MCP servers and offers them to an office's Agent",
  },
  agent: {
    load: async () => {
      const { runAgentCli: run, createAgentProgram: create } = await import("./src/cli/agent/main.ts");
      return { run, create };
    },
    summary: "uses the Computers of an office",
  },
  documents: {
    load: async () => {
      const [{ documentsProgram }, { readDeclaration, runOtherProgram }] = await Promise.all([
        import("./src/own_imports.ts"),
        import("./src/cli/other_program.ts"),
      ]);
      return {
        run: (args) => runOtherProgram(documentsProgram, args),
        create: () => readDeclaration("documents", documentsProgram),
      };
    },
    summary: "makes files documents, as an MCP server",
  },
};

const USAGE = `Usage: a2c-smcp <program> [options]

An AI agent uses the tools, live windows and documents of other people's machines.

Programs:
${Object.entries(programs).map(([name, { summary }]) => `  ${name.padEnd(10)}${summary}`).join("\n")}

"a2c-smcp agent --help" shows the options of a program.
"a2c-smcp completion bash" (or zsh, fish) prints a completion script for the shell.`;

function isProgram(word: string): word is ProgramName {
  return Object.hasOwn(programs, word);
}

/** Runs the program that the first word names; returns the exit code. */
async function run([word = "", ...rest]: readonly string[]): Promise<number> {
  if (isProgram(word)) return await (await programs[word].load()).run(rest);
  const [topic = ""] = rest;
  if (word === "help" && isProgram(topic)) return await run([topic, "--help"]);
  if (["-h", "--help", "help"].includes(word)) {
    console.log(USAGE);
    return ExitCode.OK;
  }
  if (word === "completion") return await printCompletion(rest);
  if (["-V", "--version"].includes(word)) {
    console.log(`a2c-smcp ${PACKAGE_VERSION} (protocol ${PROTOCOL_VERSION})`);
    return ExitCode.OK;
  }
  if (word === "") console.error(USAGE);
  else {
    const hint = didYouMean(word, Object.keys(programs));
    console.error(`error: Cannot run "${printableLine(word)}": unknown program${hint || `\n\n${USAGE}`}`);
  }
  return ExitCode.USAGE;
}

/** Prints the completion script for a shell. */
async function printCompletion([shell = ""]: readonly string[]): Promise<number> {
  const known = SHELLS.find((name) => name === shell);
  if (known === undefined) {
    console.error(`error: Cannot print a completion script for shell "${shell}": give ${SHELLS.join(", ")}`);
    return ExitCode.USAGE;
  }
  const { signal } = new AbortController();
  const loaded = Object.entries(programs).map(async (
    [name, { load }],
  ) => [name, await (await load()).create(signal)]);
  const commands: Record<string, Command> = Object.fromEntries(await Promise.all(loaded));
  console.log(completionScript(known, { program: "a2c-smcp", commands }).trimEnd());
  return ExitCode.OK;
}

if (import.meta.main) {
  const launcher = Number(Deno.env.get("A2C_LAUNCHER_PID"));
  Deno.env.delete("A2C_LAUNCHER_PID");
  if (launcher > 0) (await import("./src/cli/other_program.ts")).endWithLauncher(launcher);
  Deno.exit(await run(Deno.args));
}
