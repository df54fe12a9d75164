/** `tool list|hide|show|allow|ask`: all tools of the MCP servers, and how the configuration treats one. */
import type { OwnerTool } from "../../../computer/tools/directory.ts";
import { hideToolText, setAutoApplyText, showToolText } from "../../../config/edit_tools.ts";
import { drawColumns } from "../../../terminal/shapes.ts";
import { toSeenWord } from "../../../text/safe_text.ts";
import { didYouMean } from "../../../text/spelling.ts";
import { colored, type CommandAnswer } from "../../answers/answer.ts";
import { CommandFailedError, UsageError } from "../../outcome.ts";
import { toShownName } from "../../questions/shown_question.ts";
import type { CommandContext, HostedComputer } from "../hosted_computer.ts";

export interface ChosenTool {
  /** As it is listed. */
  readonly name: string;
  /** The MCP server, where several have a tool of that name. */
  readonly server?: string | undefined;
}

/** All tools, also those that are hidden or set aside. */
export function listAllTools({ hosted: { computer } }: CommandContext): CommandAnswer {
  const tools = computer.mcp.tools;
  const rows = tools.map((tool) => [toSeenWord(tool.shown.name), toSeenWord(tool.server), standingOf(tool)]);
  return {
    value: { computer: computer.name, tools: tools.map(toToolEntry) },
    ...colored(({ strong, faint }) =>
      rows.length === 0 ? "no tools" : drawColumns(rows, { paints: [strong, faint] })
    ),
  };
}

function toToolEntry({ shown, tool, isAutoApplied, isHidden, changed }: OwnerTool): Record<string, unknown> {
  return {
    ...shown,
    tool,
    auto_apply: isAutoApplied,
    hidden: isHidden,
    set_aside: changed?.isBlocked ?? false,
    changed: changed?.summary,
    changes: changed?.changes.map(({ part, removed, added }) => ({ member: part, removed, added })) ?? [],
  };
}

function standingOf({ isAutoApplied, isHidden, changed }: OwnerTool): string {
  if (isHidden) return "hidden";
  if (changed !== undefined) {
    return `${changed.isBlocked ? "set aside" : "asks"}: ${changed.summary} has changed`;
  }
  return isAutoApplied ? "runs unasked" : "asks";
}

/** Neither lists the tool nor lets it be called. */
export async function hideTool(context: CommandContext, chosen: ChosenTool): Promise<CommandAnswer> {
  return await edit(context, chosen, { change: hideToolText, done: "is hidden" });
}

/** Lists the tool again. */
export async function showTool(context: CommandContext, chosen: ChosenTool): Promise<CommandAnswer> {
  const answer = await edit(context, chosen, { change: showToolText, done: "is shown" });
  const { isHidden } = find(context.hosted, chosen);
  if (!isHidden) return answer;
  throw new CommandFailedError(
    `Cannot show tool "${chosen.name}": "allowed_tools" of its MCP server leaves it out; add it there`,
  );
}

/** Lets the tool run without a confirmation, as it is listed now. */
export async function allowTool(context: CommandContext, chosen: ChosenTool): Promise<CommandAnswer> {
  const change = (text: string, tool: EditedOwnerTool) =>
    setAutoApplyText(text, { ...tool, isApplied: true });
  const answer = await edit(context, chosen, { change, done: "runs without a confirmation" });
  const { hosted: { computer } } = context;
  computer.mcp.allowChanged(find(context.hosted, chosen));
  return answer;
}

/** Asks before each call of the tool. */
export async function askBeforeTool(context: CommandContext, chosen: ChosenTool): Promise<CommandAnswer> {
  const change = (text: string, tool: EditedOwnerTool) =>
    setAutoApplyText(text, { ...tool, isApplied: false });
  return await edit(context, chosen, { change, done: "needs a confirmation" });
}

interface EditedOwnerTool {
  /** The server by its name in the configuration. */
  readonly server: string;
  readonly tool: string;
  readonly spellings: readonly string[];
}

async function edit(
  { hosted }: CommandContext,
  chosen: ChosenTool,
  { change, done }: {
    readonly change: (text: string, tool: EditedOwnerTool) => string;
    readonly done: string;
  },
): Promise<CommandAnswer> {
  const { tool, server, spellings } = find(hosted, chosen);
  const edited = { tool, spellings, server: hosted.computer.mcp.writtenNameOf(server) };
  const applied = await hosted.edit((text) => change(text, edited));
  return {
    value: { name: chosen.name, server, tool, config: hosted.store.file ?? null, change: applied ?? null },
    text: `tool ${toShownName(tool)} of ${toShownName(server)} ${done}`,
  };
}

function find({ computer }: HostedComputer, { name, server }: ChosenTool): OwnerTool {
  const all = computer.mcp.tools.filter((each) => server === undefined || each.server === server);
  const found = all.filter(({ shown }) => shown.name === name);
  const [only, ...more] = found;
  if (only === undefined) {
    const names = all.map(({ shown }) => shown.name);
    throw new CommandFailedError(
      `Cannot find tool "${name}"${didYouMean(name, names) || '; "tool list" lists all tools'}`,
    );
  }
  if (more.length === 0) return only;
  const servers = found.map((each) => each.server).join(", ");
  throw new UsageError(`Cannot choose tool "${name}": servers ${servers} have one; choose with --mcp-server`);
}
