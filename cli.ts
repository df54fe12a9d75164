/**
 * The programs as one command: `a2c-smcp server`, `computer`, `agent`, `hub`, `documents` and `demo`. It has no exports.
 *
 * ```sh
 * deno run -A cli.ts server --port 3000
 * ```
 *
 * Each program needs the permissions that `server.ts`, `computer.ts`, `agent.ts`, `hub.ts` or `@a2c-smcp/documents` names.
 *
 * @module
 */
import type { ProgramName } from "./src/cli/program.ts";
import { ExitCode } from "./src/cli/outcome.ts";
import type { Command } from "commander";
import { didYouMean } from "./src/text/spelling.ts";
import { printableLine } from "./src/text/safe_text.ts";
import { PROTOCOL_VERSION } from "./src/protocol/version.ts";
import { PACKAGE_VERSION } from "./src/version.ts";

/** A program once it is loaded. */
interface Program {
  readonly run: (args: readonly string[]) => Promise<number>;
  /** Lines of completions for the last word; none by default. */
  readonly suggest?: (words: readonly string[]) => Promise<string>;
}

function ownProgram(run: Program["run"], create: (signal: AbortSignal) => Command): Program {
  return {
    run,
    async suggest(words) {
      const { suggestedLines } = await import("./src/cli/shell_completion.ts");
      return await suggestedLines(create(new AbortController().signal), words);
    },
  };
}

/** The programs. Only the one that runs is loaded. */
const programs: Readonly<
  Record<ProgramName | "demo", { readonly load: () => Promise<Program>; readonly summary: string }>
> = {
  server: {
    load: async () => {
      const { runServerCli, createServerProgram } = await import("./src/cli/server/main.ts");
      return ownProgram(runServerCli, createServerProgram);
    },
    summary: "the relay: keeps offices and passes requests on between their members",
  },
  computer: {
    load: async () => {
      const { runComputerCli, createComputerProgram } = await import("./src/cli/computer/main.ts");
      return ownProgram(runComputerCli, createComputerProgram);
    },
    summary: "hosts MCP servers and offers them to an office's Agent",
  },
  agent: {
    load: async () => {
      const { runAgentCli, createAgentProgram } = await import("./src/cli/agent/main.ts");
      return ownProgram(runAgentCli, createAgentProgram);
    },
    summary: "uses the Computers of an office",
  },
  hub: {
    load: async () => {
      const { runHubCli, createHubProgram } = await import("./src/cli/hub/main.ts");
      return ownProgram(runHubCli, createHubProgram);
    },
    summary: "a Server, and its offices for MCP clients on the same port",
  },
  documents: {
    load: async () => {
      const [{ documentsProgram }, { runOtherProgram }] = await Promise.all([
        import("./src/own_imports.ts"),
        import("./src/cli/other_program.ts"),
      ]);
      return { run: (args) => runOtherProgram(documentsProgram, args) };
    },
    summary: "makes files documents, as an MCP server",
  },
  demo: {
    load: async () => {
      const [{ demoProgram }, { runOtherProgram }] = await Promise.all([
        import("./src/own_imports.ts"),
        import("./src/cli/other_program.ts"),
      ]);
      return { run: () => runOtherProgram(demoProgram, []) };
    },
    summary: "shows all of it on this machine, in some seconds",
  },
};

const USAGE = `Usage: a2c-smcp <program> [options]

An AI agent uses the tools, live windows and documents of other people's machines.

Programs:
${Object.entries(programs).map(([name, { summary }]) => `  ${name.padEnd(10)}${summary}`).join("\n")}

"a2c-smcp agent --help" shows the options of a program.
"a2c-smcp completion bash" (or zsh, fish) prints a completion script for the shell.`;

function isProgram(word: string): word is keyof typeof programs {
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
  if (shell === "words") {
    const lines = await suggestWords(words);
    if (lines !== "") console.log(lines);
    return ExitCode.OK;
  }
  const { completionScript, SHELLS } = await import("./src/cli/shell_completion.ts");
  const script = completionScript(shell);
  if (script === undefined) {
    console.error(`error: Cannot print a completion script for shell "${shell}": give ${SHELLS.join(", ")}`);
    return ExitCode.USAGE;
  }
  console.log(script);
  return ExitCode.OK;
}

async function suggestWords([first = "", ...rest]: readonly string[]): Promise<string> {
  if (rest.length > 0 && isProgram(first)) return await (await programs[first].load()).suggest?.(rest) ?? "";
  const { SHELLS, toLines } = await import("./src/cli/shell_completion.ts");
  if (rest.length > 0) {
    return first === "completion" ? toLines(SHELLS.map((word) => ({ word, about: "" }))) : "";
  }
  return toLines([
    ...Object.entries(programs).map(([word, { summary }]) => ({ word, about: summary })),
    { word: "completion", about: "print a completion script" },
  ]);
}

if (import.meta.main) {
  const launcher = Number(Deno.env.get("A2C_LAUNCHER_PID"));
  Deno.env.delete("A2C_LAUNCHER_PID");
  if (launcher > 0) (await import("./src/cli/other_program.ts")).endWithLauncher(launcher);
  Deno.exit(await run(Deno.args));
}
