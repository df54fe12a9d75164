/** Declares the commands about the settings of one tool. */
import type { Command } from "commander";
import { addCommand, type RunCommand } from "./command.ts";

const settings = () => import("./answers/tool_settings.ts");

const EDITS = [
  { verb: "hide", about: "hide a tool from the Agent" },
  { verb: "show", about: "show a hidden tool to the Agent again" },
  { verb: "allow", about: "run a tool without a confirmation, as it is now" },
  { verb: "ask", about: "ask before each call of a tool" },
] as const;

export function addToolCommands(program: Command, run: RunCommand): void {
  const group = program.command("tool").description(
    "show all tools of the MCP servers, hide one, or say whether it needs a confirmation; edits the config",
  );
  addCommand(group, run, {
    usage: "list",
    about: "show all tools, also hidden ones and those that were set aside",
    needs: "servers",
    work: async (context) => (await settings()).listAllTools(context),
  }).alias("ls");
  for (const { verb, about } of EDITS) {
    addCommand(group, run, {
      usage: `${verb} <tool>`,
      about,
      needs: "servers",
      work: async (context, name: string, { mcpServer: server }: { mcpServer?: string }) =>
        (await settings()).editTool(context, { verb, name, server }),
    }).option("--mcp-server <name>", "the MCP server, where several have a tool of that name");
  }
}
