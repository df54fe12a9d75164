/** The commands about MCP servers: `servers`, `prompts`, `prompt`, `resources`, `templates`, `complete`. */
import { type Command, InvalidArgumentError } from "commander";
import { UsageError } from "../outcome.ts";
import { toTexts, type TypedArguments, typedArguments } from "./arguments.ts";
import type { RunRequest } from "./requests.ts";

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
  for (const [name, list] of Object.entries(LISTS)) addList(program, run, { name, ...list });
  addPrompt(program, run);
  addComplete(program, run);
}

/** Loaded when a command runs, so that a command for another process starts fast. */
function requests() {
  return import("./mcp_requests.ts");
}

interface List {
  readonly about: string;
  /** What the name of a server chooses. */
  readonly chosen?: string;
  readonly work: "listServers" | "listPrompts" | "listResources" | "listTemplates";
}

const LISTS: Readonly<Record<string, List>> = {
  servers: {
    about: "list the MCP servers of the Computer, as they present themselves",
    chosen: "show only this MCP server, with its instructions and capabilities",
    work: "listServers",
  },
  prompts: { about: "list the prompts of the MCP servers", work: "listPrompts" },
  resources: { about: "list the resources of the MCP servers, of any scheme", work: "listResources" },
  templates: { about: "list the resource templates of the MCP servers", work: "listTemplates" },
};

function addList(
  program: Command,
  run: RunRequest,
  { name, about, chosen = "only of this MCP server", work }: List & { readonly name: string },
): void {
  program.command(name).description(about)
    .argument("[server]", chosen)
    .action((server: string | undefined) =>
      run({
        name,
        awaits: { server },
        work: async (context) => (await requests())[work](context, { server }),
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
