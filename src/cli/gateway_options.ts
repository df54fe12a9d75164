/** The options by which `agent mcp` and the hub present their offices to MCP clients: declared once, made anew for each program. */
import { Option } from "commander";
import type { ToolsMode } from "../gateway/gateway_options.ts";
import type { OnToolChange } from "../gateway/pinned_tools.ts";
import { parseSeconds } from "./options.ts";

export interface PresentingOptions {
  readonly tools: ToolsMode;
  readonly onChange: OnToolChange;
  /** Seconds. */
  readonly patience?: number;
  readonly activityLog?: string;
}

export function presentingOptions(): Option[] {
  return [
    new Option(
      "--tools <mode>",
      "offer all tools, or a few to search and call them; auto decides by their number",
    ).choices(["all", "search", "auto"]).default("all").env("A2C_TOOLS"),
    new Option(
      "--on-change <what>",
      "what becomes of a tool that is another one than when it was called first: allow it, ask at its Computer, or block it",
    ).choices(["allow", "ask", "block"]).default("allow").env("A2C_ON_CHANGE"),
    new Option(
      "--patience <seconds>",
      "how long the first answer waits for Server and Computers (default: 3)",
    ).argParser(parseSeconds),
    new Option(
      "--activity-log <file>",
      "append a line of JSON to this file for each call, without its arguments",
    ).env("A2C_ACTIVITY_LOG"),
  ];
}

/** The time of `--patience`; the default of each of its uses without it. */
export function patienceMsOf({ patience }: PresentingOptions): number | undefined {
  return patience === undefined ? undefined : patience * 1_000;
}
