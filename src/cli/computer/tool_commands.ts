/** Declares the commands about the settings of tools. */
import type { Command } from "commander";
import { addCommand, type RunCommand } from "./command.ts";

const settings = () => import("./answers/tool_settings.ts");

const EDITS = [
  { verb: "hide", about: "hide tools from the Agent" },
  { verb: "show", about: "show hidden tools to the Agent again" },
  { verb: "allow", about: "run tools without a confirmation, as they are now" },
  { verb: "ask", about: "ask before each call of these tools" },
] as const;

export function addToolCommands(program: Command, run: RunCommand): void {
  const group = program.command("tool").description(
    "show all tools of the MCP servers, hide some, or say whether they need a confirmation; edits the config",
  );
  addCommand(group, run, {
    usage: "list",
    about: "show all tools, also hidden ones and those that were set aside",
    needs: "servers",
    work: async (context) => (await settings()).listAllTools(context),
  }).alias("ls");
  for (const { verb, about } of EDITS) {
    addCommand(group, run, {
      usage: `${verb} <tools...>`,
      about,
      needs: "servers",
      work: async (context, names: string[], { mcpServer: server }: { mcpServer?: string }) =>
        (await settings()).editTools(context, { verb, names, server }),
    }).option("--mcp-server <name>", "the MCP server, where several have a tool of such a name");
  }
}
