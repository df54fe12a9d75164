/** What differs between two definitions of a tool, for people. Pure. */
import type { McpTool } from "../../mcp/entries.ts";

/** What a person allows with a tool: all of it that a model or a person reads. */
export interface ToolDefinition {
  /** For display. */
  readonly title: string | undefined;
  /** For models. */
  readonly description: string;
  /** The JSON schema of the arguments. */
  readonly inputSchema: Record<string, unknown>;
  /** The JSON schema of the structured result. */
  readonly outputSchema: Record<string, unknown> | null;
  /** Such as `readOnlyHint`, as the MCP server says them. */
  readonly annotations: Record<string, unknown> | undefined;
}

/** A part of a tool that is another one now. */
export interface ToolChange {
  /** The part: `description`, `input schema`. */
  readonly part: string;
  /** The lines that are gone: texts of the MCP server, any characters. */
  readonly removed: readonly string[];
  /** The lines that have come, likewise. */
  readonly added: readonly string[];
}

const PARTS = {
  title: "title",
  description: "description",
  inputSchema: "input schema",
  outputSchema: "output schema",
  annotations: "annotations",
} as const satisfies Record<keyof ToolDefinition, string>;

/** The most lines of one part, and the most characters of each, that a change shows of either side. */
const MAX_LINES = 20;
const MAX_LINE_LENGTH = 300;
/** What is shown of a long line before the first difference. */
const SHARED_SHOWN = 40;

export function definitionOf({ title, description, inputSchema, outputSchema, annotations }: McpTool) {
  return { title, description, inputSchema, outputSchema, annotations } satisfies ToolDefinition;
}

/** The parts that differ; none when both are the same. */
export function toolChanges(before: ToolDefinition, after: ToolDefinition): ToolChange[] {
  const keys = Object.keys(PARTS) as (keyof typeof PARTS)[];
  return keys.flatMap((key): ToolChange[] => {
    const [old, now] = [linesOf(before[key]), linesOf(after[key])];
    if (old.join("\n") === now.join("\n")) return [];
    const [gone, come] = [without(old, now), without(now, old)];
    return [{ part: PARTS[key], removed: shownOf(gone, come), added: shownOf(come, gone) }];
  });
}

/** The lines of a text, or of the JSON of anything else, each member in a line. */
function linesOf(value: unknown): string[] {
  if (value === undefined || value === null) return [];
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 1);
  return text.split(/\r\n|[\n\r\u2028\u2029]/);
}

function without(lines: readonly string[], others: readonly string[]): string[] {
  const known = new Set(others);
  return lines.filter((line) => !known.has(line));
}

/** The lines within their bounds, a long one from where it differs from its counterpart. */
function shownOf(lines: readonly string[], others: readonly string[]): string[] {
  const shown = lines.slice(0, MAX_LINES).map((line, at) => cut(line, sharedLength(line, others[at] ?? "")));
  return lines.length > MAX_LINES ? [...shown, `… ${lines.length - MAX_LINES} more lines`] : shown;
}

function cut(line: string, sharedLength: number): string {
  if (line.length <= MAX_LINE_LENGTH) return line;
  const from = Math.max(0, sharedLength - SHARED_SHOWN);
  const shown = line.slice(from, from + MAX_LINE_LENGTH).toWellFormed();
  const rest = line.length - from - MAX_LINE_LENGTH;
  return `${from > 0 ? "…" : ""}${shown}${rest > 0 ? `… ${rest} more characters` : ""}`;
}

/** How many characters two lines have in common at their beginning. */
function sharedLength(line: string, other: string): number {
  let length = 0;
  while (length < line.length && line[length] === other[length]) length++;
  return length;
}

/** The parts in one line, as a caller reads them: `description and input schema`. */
export function describeChanges(changes: readonly ToolChange[]): string {
  const parts = changes.map(({ part }) => part);
  const last = parts.pop() ?? "";
  return parts.length === 0 ? last : `${parts.join(", ")} and ${last}`;
}
