/** The tools with which a client finds and calls all others. */
import { makeLocalTool } from "../../local_tools/local_tool.ts";
import { errorResult, type Json, type McpToolResult } from "../../local_tools/mcp.ts";
import type { LocalTool, ToolContext } from "../../agent/toolkit/tool_context.ts";
import { A2C_STALE, isForModel } from "../../agent/toolkit/tool_definition.ts";
import { noToolResult } from "../../agent/toolkit/tool_result.ts";
import type { OfficeTool } from "../../agent/toolkit/toolset.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { toSafeJson, toSeenName } from "../../text/safe_text.ts";
import { unknownName } from "../../text/spelling.ts";
import type { LongResults } from "./long_results.ts";
import type { ToolIndex } from "./tool_index.ts";

export const SEARCH_TOOL_NAMES = ["find_tools", "call_tool", "call_read_tool", "read_result"] as const;

const DEFAULT_LIMIT = 5;
const MAX_LIMIT = 20;
/** The most names that an unknown one may mean. */
const MAX_SIMILAR = 3;

export interface SearchParts {
  readonly index: () => Promise<ToolIndex>;
  readonly isReached: (tool: OfficeTool) => boolean;
  readonly computers: () => readonly string[];
  /** Why the office cannot be reached, in words for users; `undefined` while it can. */
  readonly problem: () => string | undefined;
  /** The tool of this name that the client reaches. */
  readonly find: (name: string) => OfficeTool | undefined;
  /** Whether the client has this tool in its list, so that it needs no search. */
  readonly isListed: (name: string) => boolean;
  readonly call: (tool: OfficeTool, args: Json, context: ToolContext) => Promise<McpToolResult>;
  readonly results: LongResults;
}

/** Makes the tools. To call is split by what a tool does, so that a client can approve one kind alone. */
export function makeSearchTools(given: SearchParts): LocalTool[] {
  const parts = forModels(given);
  return [
    findTools(parts),
    callTool(parts, {
      name: "call_read_tool",
      title: "Call a tool that reads",
      description: "Calls a tool that modifies nothing: one whose annotations have readOnlyHint true.",
      isReadOnly: true,
    }),
    callTool(parts, {
      name: "call_tool",
      title: "Call a tool",
      description: "Calls any tool that find_tools has found, also one that modifies something.",
      isReadOnly: false,
    }),
    readResult(parts),
  ];
}

/** A model uses these tools, so they reach none that is for the page of an MCP App alone. */
function forModels(parts: SearchParts): SearchParts {
  const find = (name: string) => {
    const tool = parts.find(name);
    return tool !== undefined && isForModel(tool.definition) ? tool : undefined;
  };
  return { ...parts, find, isReached: (tool) => parts.isReached(tool) && isForModel(tool.definition) };
}

function findTools(parts: SearchParts): LocalTool {
  return makeLocalTool({
    name: "find_tools",
    title: "Find tools",
    description:
      'Finds the tools of the Computers for a task. Describe the task in a few words, such as "send an email"; the ' +
      "answer has the name, Computer and schema of each tool that fits, and the other Computers that have the same tool. " +
      "Then call one with call_read_tool or call_tool.",
    properties: {
      query: { type: "string", description: "What the tool should do, in a few words." },
      computer: { type: "string", description: "Only tools of this Computer." },
      limit: {
        type: "integer",
        minimum: 1,
        maximum: MAX_LIMIT,
        description: `${DEFAULT_LIMIT} by default.`,
      },
    },
    required: ["query"],
    annotations: { readOnlyHint: true, openWorldHint: false },
    async run(args, context) {
      const query = args.text("query") ?? args.missing("query");
      const computer = args.text("computer");
      const limit = args.integer("limit", { min: 1, max: MAX_LIMIT }) ?? DEFAULT_LIMIT;
      const groups = await findGroups(parts, { query, computer, limit });
      if (groups.length === 0) return nothingFound(parts, computer);
      const structuredContent = { tools: groups.map(describe) };
      const content = [{ type: "text" as const, text: toSafeJson(structuredContent) }];
      return parts.results.shorten({ content, structuredContent }, context);
    },
  });
}

/** The tools that fit best; one whose name is the query comes first, so that its schema can be asked for. */
async function findGroups(
  { index, isReached, find }: SearchParts,
  { query, computer, limit }: {
    readonly query: string;
    readonly computer: string | undefined;
    readonly limit: number;
  },
): Promise<ToolGroup[]> {
  const isWanted = (tool: OfficeTool) =>
    isReached(tool) && (computer === undefined || tool.computer === computer);
  const named = find(query.trim());
  const found = (await index()).search(query, { isWanted });
  const first = named !== undefined && isWanted(named) ? [named] : [];
  return groupEqual([...first, ...found.filter((tool) => tool !== named)], limit);
}

/** Says what to do. */
function nothingFound({ computers, problem }: SearchParts, computer: string | undefined): McpToolResult {
  const there = computers();
  const why = problem();
  if (there.length === 0) {
    return errorResult(
      `No Computer with tools is there now${why === undefined ? "" : `: ${why}`}. Try again later`,
    );
  }
  if (computer !== undefined && !there.includes(computer)) {
    return errorResult(
      `${unknownName("Computer", computer, there)}. Leave out "computer" to search all of them`,
    );
  }
  const wider = computer === undefined ? "" : ', leave out "computer" to search all Computers';
  return {
    content: [{
      type: "text",
      text: `No tool fits. Try other words for the task${wider}, or call list_computers to see what there is`,
    }],
    structuredContent: { tools: [] },
  };
}

const MAX_ELSEWHERE = 20;

function describe({ tool, elsewhere }: ToolGroup): Json {
  const { title, description, inputSchema, outputSchema, annotations } = tool.definition;
  const others = elsewhere.slice(0, MAX_ELSEWHERE).map(placeOf);
  const more = elsewhere.length - others.length;
  return {
    ...placeOf(tool),
    title,
    description,
    inputSchema,
    outputSchema,
    annotations,
    ...(others.length === 0 ? {} : { sameToolOn: others }),
    ...(more === 0 ? {} : { sameToolOnMore: more }),
  };
}

function placeOf({ computer, definition: { name, _meta } }: OfficeTool): Json {
  return { name, computer, ...(_meta?.[A2C_STALE] === true ? { stale: true } : {}) };
}

function callTool(
  parts: SearchParts,
  { name, title, description, isReadOnly }: {
    readonly name: string;
    readonly title: string;
    readonly description: string;
    readonly isReadOnly: boolean;
  },
): LocalTool {
  return makeLocalTool({
    name,
    title,
    description,
    properties: {
      name: { type: "string", description: "The name of the tool, as find_tools tells it." },
      arguments: { type: "object", description: "The arguments, by the inputSchema of the tool." },
    },
    required: ["name"],
    annotations: { readOnlyHint: isReadOnly, destructiveHint: !isReadOnly, openWorldHint: true },
    async run(args, context) {
      const wanted = args.text("name") ?? args.missing("name");
      const toolArguments = args.object("arguments");
      const tool = parts.find(wanted);
      if (tool === undefined) return await unknownTool(wanted, parts);
      if (isReadOnly && tool.definition.annotations?.["readOnlyHint"] !== true) {
        return errorResult(
          `Cannot call ${toSeenName(wanted)} with ${name}: it may modify something; use call_tool`,
          { error_code: ErrorCode.FORBIDDEN, may_have_run: false },
        );
      }
      return parts.results.shorten(await parts.call(tool, toolArguments, context), context);
    },
  });
}

function readResult({ results }: SearchParts): LocalTool {
  return makeLocalTool({
    name: "read_result",
    title: "Go on with a long result",
    description: "Reads a further part of a result that was too long for one answer.",
    properties: {
      handle: { type: "string", description: "The handle that the part before told." },
      part: { type: "integer", minimum: 1, description: "The number of the part." },
    },
    required: ["handle", "part"],
    annotations: { readOnlyHint: true, openWorldHint: false },
    run(args) {
      const part = args.integer("part", { min: 1, max: Number.MAX_SAFE_INTEGER }) ?? args.missing("part");
      return results.read(args.text("handle") ?? args.missing("handle"), part);
    },
  });
}

async function unknownTool(name: string, parts: SearchParts): Promise<McpToolResult> {
  if (parts.isListed(name)) {
    return errorResult(
      `Cannot call ${toSeenName(name)} by way of another tool: it is in the list of tools; call it directly`,
      { error_code: ErrorCode.BAD_REQUEST, may_have_run: false },
    );
  }
  const problem = parts.problem();
  if (problem !== undefined) return noToolResult(name, { problem, gone: undefined });
  const similar = (await parts.index()).search(name, { isWanted: parts.isReached }).slice(0, MAX_SIMILAR);
  const names = similar.map(({ definition }) => `"${definition.name}"`);
  const hint = names.length === 0 ? "" : ` Similar ones: ${names.join(", ")}.`;
  return errorResult(`No tool named ${toSeenName(name)} is there now.${hint} Find tools with find_tools`, {
    error_code: ErrorCode.TOOL_NOT_FOUND,
    may_have_run: false,
  });
}

/** A tool, and the same one on other Computers. */
export interface ToolGroup {
  readonly tool: OfficeTool;
  readonly elsewhere: readonly OfficeTool[];
}

const MAX_LOOKED_AT = 2_000;

/**
 * The first `limit` groups of these tools, in their order. Tools that several Computers have are told once: with many
 * equal Computers, one tool would fill the whole answer.
 */
export function groupEqual(tools: readonly OfficeTool[], limit: number): ToolGroup[] {
  const groups = new Map<string, { tool: OfficeTool; elsewhere: OfficeTool[] }>();
  const names = new Set<string>();
  for (const tool of tools.slice(0, MAX_LOOKED_AT)) {
    const isFull = groups.size >= limit;
    // To write a definition takes time, and most tools have another name.
    if (isFull && !names.has(tool.tool)) continue;
    const key = contentOf(tool);
    const group = groups.get(key);
    if (group !== undefined) {
      group.elsewhere.push(tool);
    } else if (!isFull) {
      groups.set(key, { tool, elsewhere: [] });
      names.add(tool.tool);
    }
  }
  return [...groups.values()];
}

/** What is the same in equal tools: all that a model reads, apart from the name that the gateway gave. */
function contentOf({ tool, definition }: OfficeTool): string {
  const { title, description, inputSchema, outputSchema, annotations } = definition;
  return JSON.stringify([tool, title, description, inputSchema, outputSchema, annotations]);
}
