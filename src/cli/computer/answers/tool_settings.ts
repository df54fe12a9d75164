/** `tool list|hide|show|allow|ask`: all tools of the MCP servers, and how the configuration treats them. */
import type { ToolValue } from "../../../api_values.ts";
import type { OwnerTool } from "../../../computer/tools/directory.ts";
import { hideToolText, setAutoApplyText, showToolText } from "../../../config/edit_tools.ts";
import { toolDetails } from "../../../protocol/tool_details.ts";
import { drawColumns } from "../../../terminal/shapes.ts";
import { toSeenWord } from "../../../text/safe_text.ts";
import { didYouMean } from "../../../text/spelling.ts";
import { colored, type CommandAnswer } from "../../answers/answer.ts";
import { CommandFailedError, UsageError } from "../../outcome.ts";
import { toShownName } from "../../questions/shown_question.ts";
import type { CommandContext, HostedComputer } from "../hosted_computer.ts";

interface ChosenTools {
  /** As they are listed. */
  readonly names: readonly string[];
  /** The MCP server, where several have a tool of such a name. */
  readonly server?: string | undefined;
}

/** All tools, also those that are hidden or set aside. */
export function listAllTools({ hosted: { computer, people } }: CommandContext): CommandAnswer {
  const tools = computer.mcp.tools.map((tool) => ({ ...tool, isAlways: people.isAllowed(tool) }));
  const rows = tools.map((tool) => {
    const { shown, server } = tool;
    const isReadOnly = toolDetails(shown).annotations?.readOnlyHint === true;
    const claim = isReadOnly ? ["only reads, as its server says"] : [];
    return [toSeenWord(shown.name), toSeenWord(server), standingOf(tool), ...claim];
  });
  return {
    value: { computer: computer.name, tools: tools.map(toToolEntry) },
    ...colored(({ strong, faint }) =>
      rows.length === 0 ? "no tools" : drawColumns(rows, { paints: [strong, faint] })
    ),
  };
}

interface ListedTool extends OwnerTool {
  /** Whether a person has allowed it by `always`. */
  readonly isAlways: boolean;
}

function toToolEntry(
  { shown, server, tool, isAutoApplied, isAlways, isHidden, changed }: ListedTool,
): ToolValue {
  return {
    ...shown,
    server,
    tool,
    auto_apply: isAutoApplied,
    always: isAlways,
    hidden: isHidden,
    set_aside: changed?.isBlocked ?? false,
    changed: changed?.summary,
    changes: changed?.changes.map(({ part, removed, added }) => ({ member: part, removed, added })) ?? [],
  };
}

function standingOf({ isAutoApplied, isAlways, isHidden, changed }: ListedTool): string {
  if (isHidden) return "hidden";
  if (changed !== undefined) {
    return `${changed.isBlocked ? "set aside" : "asks"}: ${changed.summary} has changed`;
  }
  if (isAutoApplied) return "runs unasked";
  return isAlways ? "always allowed" : "asks";
}

interface EditedOwnerTool {
  /** The server by its name in the configuration. */
  readonly server: string;
  readonly tool: string;
  readonly spellings: readonly string[];
}

interface ToolEdit {
  readonly change: (text: string, tool: EditedOwnerTool) => string;
  readonly done: string;
}

export type ToolVerb = "hide" | "show" | "allow" | "ask";

const EDITS: Readonly<Record<ToolVerb, ToolEdit>> = {
  hide: { change: hideToolText, done: "is hidden" },
  show: { change: showToolText, done: "is shown" },
  allow: {
    change: (text, tool) => setAutoApplyText(text, { ...tool, isApplied: true }),
    done: "runs without a confirmation",
  },
  ask: {
    change: (text, tool) => setAutoApplyText(text, { ...tool, isApplied: false }),
    done: "needs a confirmation",
  },
};

/** Edits how the configuration treats tools, all at once; to allow a tool allows it as it is listed now. */
export async function editTools(
  { hosted }: CommandContext,
  { verb, names, server }: ChosenTools & { readonly verb: ToolVerb },
): Promise<CommandAnswer> {
  const { change, done } = EDITS[verb];
  const { mcp } = hosted.computer;
  const tools = [...new Set(names)].map((name) => find(hosted, { name, server }));
  const edited = tools.filter((tool) => {
    const wasAlways = verb === "ask" && hosted.askAgain(tool);
    // What was allowed by `always` alone is not in the config.
    return !wasAlways || tool.isAutoApplied;
  });
  const applied = edited.length === 0 ? undefined : await hosted.edit((text) =>
    edited.reduce(
      (text, { server, tool, spellings }) =>
        change(text, { tool, spellings, server: mcp.writtenNameOf(server) }),
      text,
    )
  );
  for (const name of names) {
    if (verb === "allow") mcp.allowChanged(find(hosted, { name, server }));
    if (verb === "show" && find(hosted, { name, server }).isHidden) {
      throw new CommandFailedError(
        `Cannot show tool "${name}": "allowed_tools" of its MCP server leaves it out; add it there`,
      );
    }
  }
  return {
    value: {
      tools: tools.map(({ shown, server, tool }) => ({ name: shown.name, server, tool })),
      config: hosted.store.file ?? null,
      change: applied ?? null,
    },
    text: tools.map(({ server, tool }) => `tool ${toShownName(tool)} of ${toShownName(server)} ${done}`).join(
      "\n",
    ),
  };
}

function find(
  { computer }: HostedComputer,
  { name, server }: { readonly name: string; readonly server: string | undefined },
): OwnerTool {
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
