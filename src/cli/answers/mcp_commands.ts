/** The commands about MCP servers: `servers`, `prompts`, `prompt`, `resources`, `templates`, `complete`. */
import { type Command, InvalidArgumentError } from "commander";
import { UsageError } from "../outcome.ts";
import { toTexts, type TypedArguments, typedArguments } from "./arguments.ts";
import type { RunRequest } from "./request_call.ts";

interface ServerFlags {
  readonly mcpServer?: string;
}

/** Recognizes a template whose host begins with fixed text. */
const HAS_FIXED_HOST = /^(?:dpe|window):\/\/[^/?#{}]/i;

interface Beginning {
  readonly name: string;
  readonly value: string;
}

export function addMcpCommands(program: Command, run: RunRequest): void {
  for (const add of [addServers, addPrompts, addPrompt, addResources, addTemplates, addComplete]) {
    add(program, run);
  }
}

/** Loaded when a command runs, so that a command for another process starts fast. */
function requests() {
  return import("./mcp_requests.ts");
}

function addServers(program: Command, run: RunRequest): void {
  program.command("servers").description("list the MCP servers of the Computer, as they present themselves")
    .argument("[server]", "show only this MCP server, with its instructions and capabilities")
    .action((server: string | undefined) =>
      run({
        name: "servers",
        awaits: { server },
        work: async (context) => (await requests()).listServers(context, { server }),
      })
    );
}

function addPrompts(program: Command, run: RunRequest): void {
  program.command("prompts").description("list the prompts of the MCP servers")
    .argument("[server]", "only of this MCP server")
    .action((server: string | undefined) =>
      run({
        name: "prompts",
        awaits: { server },
        work: async (context) => (await requests()).listPrompts(context, { server }),
      })
    );
}

function addPrompt(program: Command, run: RunRequest): void {
  program.command("prompt <prompt>").description("fill in a prompt and show its messages")
    .addArgument(typedArguments())
    .option("--mcp-server <name>", "the MCP server of the prompt; by default the first that lists it")
    .action((name: string, typed: TypedArguments, { mcpServer }: ServerFlags) =>
      run({
        name: "prompt",
        awaits: { server: mcpServer },
        work: async (context) =>
          (await requests()).fillInPrompt(context, { name, args: toTexts(typed), mcpServer }),
      })
    );
}

function addResources(program: Command, run: RunRequest): void {
  program.command("resources").description("list the resources of the MCP servers, of any scheme")
    .argument("[server]", "only of this MCP server")
    .action((server: string | undefined) =>
      run({
        name: "resources",
        awaits: { server },
        work: async (context) => (await requests()).listResources(context, { server }),
      })
    );
}

function addTemplates(program: Command, run: RunRequest): void {
  program.command("templates").description("list the resource templates of the MCP servers")
    .argument("[server]", "only of this MCP server")
    .action((server: string | undefined) =>
      run({
        name: "templates",
        awaits: { server },
        work: async (context) => (await requests()).listTemplates(context, { server }),
      })
    );
}

function addComplete(program: Command, run: RunRequest): void {
  program.command("complete").description("suggest values for a parameter of a prompt or a template")
    .argument("<target>", "the name of a prompt, or a template with its ://")
    .argument(
      "<parameter>",
      "NAME=BEGINNING of the parameter to complete; BEGINNING may be empty",
      readBeginning,
    )
    .addArgument(typedArguments())
    .option("--mcp-server <name>", "the MCP server of the prompt or the template")
    .action((target: string, argument: Beginning, typed: TypedArguments, { mcpServer }: ServerFlags) => {
      assertCompletable(target, mcpServer);
      return run({
        name: "complete",
        awaits: { server: mcpServer },
        work: async (context) =>
          (await requests()).complete(context, { target, argument, chosen: toTexts(typed), mcpServer }),
      });
    });
}

/** Only `dpe://` and `window://` templates with a fixed host say which MCP server has them. */
function assertCompletable(target: string, mcpServer: string | undefined): void {
  if (mcpServer !== undefined || !target.includes("://") || HAS_FIXED_HOST.test(target)) return;
  throw new UsageError(
    `Cannot complete "${target}": give --mcp-server NAME, since only a dpe:// or window:// template with a fixed ` +
      "host names its MCP server",
  );
}

function readBeginning(word: string): Beginning {
  const cut = word.indexOf("=");
  if (cut < 1) throw new InvalidArgumentError("Write NAME=BEGINNING, such as language=py");
  return { name: word.slice(0, cut), value: word.slice(cut + 1) };
}
