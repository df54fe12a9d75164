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
import type { Suggestion } from "./src/cli/prompt/completion.ts";
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

/** Prints the completion script for a shell, or behind `words` what may stand in the place of the last of them. */
async function printCompletion([shell = "", ...words]: readonly string[]): Promise<number> {
  const { completionScript, SHELLS, suggestionLines } = await import("./src/cli/shell_completion.ts");
  if (shell === "words") {
    const lines = suggestionLines(await suggestWords(words, SHELLS));
    if (lines !== "") console.log(lines);
    return ExitCode.OK;
  }
  const script = completionScript(shell);
  if (script === undefined) {
    console.error(`error: Cannot print a completion script for shell "${shell}": give ${SHELLS.join(", ")}`);
    return ExitCode.USAGE;
  }
  console.log(script);
  return ExitCode.OK;
}

async function suggestWords(words: readonly string[], shells: readonly string[]): Promise<Suggestion[]> {
  const [name = "", ...rest] = words.slice(0, -1);
  if (words.length > 1) {
    if (name === "completion") return shells.map((word) => ({ word, about: "" }));
    if (!isProgram(name)) return [];
    const { suggest } = await import("./src/cli/prompt/completion.ts");
    const program = await (await programs[name].load()).create(new AbortController().signal);
    return await suggest(program, { words: rest, word: words.at(-1) ?? "" });
  }
  return [
    ...Object.entries(programs).map(([word, { summary }]) => ({ word, about: summary })),
    { word: "completion", about: "print a completion script" },
  ];
}

if (import.meta.main) {
  const launcher = Number(Deno.env.get("A2C_LAUNCHER_PID"));
  Deno.env.delete("A2C_LAUNCHER_PID");
  if (launcher > 0) (await import("./src/cli/other_program.ts")).endWithLauncher(launcher);
  Deno.exit(await run(Deno.args));
}
