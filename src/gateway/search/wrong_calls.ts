/** What is wrong with a call of a tool, in words that a model understands. */
import type { Json, McpTool } from "../../agent/toolkit/mcp.ts";
import type { OfficeTool } from "../../agent/toolkit/toolset.ts";
import { isRecord } from "../../json/json.ts";
import { toSafeJson, toSeenWord } from "../../text/safe_text.ts";
import type { ToolIndex } from "./tool_index.ts";

const MAX_SIMILAR = 3;
/** How similar a name must be, from 0 to 1. */
const MIN_SIMILARITY = 0.5;
const MAX_COMPARED = 64;

/** The names of the tools that a wrong name may mean: those that are written alike, then those that are about the same. */
export function similarNames(
  name: string,
  index: ToolIndex,
  isWanted: (tool: OfficeTool) => boolean,
): string[] {
  const written = pairsOf(name);
  const alike = index.tools.filter(isWanted)
    .map(({ tool, definition }) => ({
      name: definition.name,
      similarity: Math.max(
        similarityOf(written, pairsOf(definition.name)),
        similarityOf(written, pairsOf(tool)),
      ),
    }))
    .filter(({ similarity }) => similarity >= MIN_SIMILARITY)
    .sort((one, other) => other.similarity - one.similarity || (one.name < other.name ? -1 : 1));
  const related = index.search(name, { isWanted }).slice(0, MAX_SIMILAR);
  const names = [...alike, ...related.map(({ definition }) => definition)].map(({ name }) => name);
  return [...new Set(names)].slice(0, MAX_SIMILAR);
}

/** Each two characters that follow one another, whatever separates words. */
function pairsOf(name: string): ReadonlySet<string> {
  const plain = name.slice(0, MAX_COMPARED).toLowerCase().replaceAll(/[-_.\s]/g, "");
  return new Set(Array.from({ length: Math.max(0, plain.length - 1) }, (_, at) => plain.slice(at, at + 2)));
}

function similarityOf(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let shared = 0;
  for (const pair of one) if (other.has(pair)) shared++;
  return one.size + other.size === 0 ? 0 : 2 * shared / (one.size + other.size);
}

/** What is wrong with the names of the arguments; the MCP server checks their values. */
export function argumentProblem({ inputSchema }: McpTool, args: Json): string | undefined {
  const { required, properties, additionalProperties, patternProperties } = inputSchema as Json;
  const missing = Array.isArray(required)
    ? required.map(String).filter((name) => !Object.hasOwn(args, name))
    : [];
  const known = isRecord(properties) ? Object.keys(properties) : [];
  const unknown = additionalProperties === false && patternProperties === undefined
    ? Object.keys(args).filter((name) => !known.includes(name))
    : [];
  const problems = [
    ...(missing.length === 0 ? [] : [`missing ${missing.map(toSeenWord).join(", ")}`]),
    ...(unknown.length === 0 ? [] : [`unknown ${unknown.map(toSeenWord).join(", ")}`]),
  ];
  return problems.length === 0
    ? undefined
    : `arguments ${problems.join("; ")}. Its schema is ${toSafeJson(inputSchema)}`;
}
