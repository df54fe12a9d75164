/** Tools as text, grouped by MCP server. Pure: values in, text out. */
import { isRecord } from "../../json/json.ts";
import type { SMCPTool } from "../../protocol/tools.ts";
import { isForModel, toolDetails } from "../../protocol/tool_details.ts";
import { countOf } from "../../text/text.ts";
import {
  printableLine,
  toSafeJson,
  toSafeLine,
  toSeenUri,
  toSeenWord,
  withoutSequences,
} from "../../text/safe_text.ts";
import { cropToWidth } from "../../terminal/display_width.ts";
import type { Screen } from "../../terminal/screen.ts";

/** The title, and whether the tool is for its page alone: `Set amount [app only]` */
function remarkOf(tool: SMCPTool): string {
  const { title } = toolDetails(tool);
  const parts = [
    title === undefined || title === tool.name ? "" : title,
    isForModel(tool) ? "" : "[app only]",
  ];
  return parts.filter((part) => part !== "").join(" ");
}

/** `message: string, times?: integer` */
function parametersText(schema: Readonly<Record<string, unknown>>): string {
  const { properties, required } = schema;
  if (!isRecord(properties)) return "";
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name);
  return Object.entries(properties).map(([name, property]) => {
    const type = isRecord(property) ? property["type"] : undefined;
    return `${name}${isRequired(name) ? "" : "?"}${typeof type === "string" ? `: ${type}` : ""}`;
  }).join(", ");
}

function serverOf(tool: SMCPTool): string | undefined {
  return toolDetails(tool).mcpServer;
}

/** Draws the tools of each MCP server, one or two lines for each tool, cropped to the width of the terminal. */
export function drawTools(listed: readonly SMCPTool[], { columns, palette }: Screen): string {
  const blocks = [...Map.groupBy(listed, serverOf)].map(([server, tools]) => {
    const name = server === undefined ? "" : `${palette.strong(toSeenWord(server))}  `;
    const head = `${name}${palette.faint(countOf(tools.length, "tool"))}`;
    return [head, ...tools.flatMap((tool) => drawTool(tool, { columns, palette }))].join("\n");
  });
  return [...blocks, palette.faint(`"tools NAME" shows one tool in full`)].join("\n\n");
}

function drawTool(tool: SMCPTool, { columns, palette }: Screen): string[] {
  const { name, description, params_schema } = tool;
  const safeName = toSeenWord(name);
  const parameters = toSafeLine(`(${parametersText(params_schema)})`);
  const free = Math.max(0, columns - 3 - safeName.length);
  const what = toSafeLine([remarkOf(tool), description].filter((part) => part !== "").join(": "));
  return [
    `  ${palette.accent(cropToWidth(safeName, columns - 3))}${cropToWidth(parameters, free)}`,
    ...what === "" ? [] : [`      ${palette.faint(cropToWidth(what, columns - 7))}`],
  ];
}

/** One tool in full: name, parameters and title, description, origin, and the schema of its parameters. */
export function toolText(tool: SMCPTool): string {
  const { name, description, params_schema } = tool;
  const head = [`${toSeenWord(name)}(${parametersText(params_schema)})`, remarkOf(tool)];
  const lines = description.trim().split("\n").filter((line) => line !== "").map((line) => `    ${line}`);
  const schema = toSafeJson(params_schema, 2);
  const server = serverOf(tool);
  const { ui, taskSupport } = toolDetails(tool);
  const origin = [
    ...(server === undefined ? [] : [`MCP server ${toSeenWord(server)}`]),
    ...(ui?.resourceUri === undefined ? [] : [`page ${toSeenUri(ui.resourceUri)}`]),
    ...(taskSupport === undefined ? [] : [`as a task: ${toSeenWord(taskSupport)}`]),
  ];
  if (origin.length > 0) origin.push("");
  const title = printableLine(head.filter((part) => part !== "").join("  "));
  return withoutSequences([title, ...lines, "", ...origin, "parameters", schema].join("\n"));
}
