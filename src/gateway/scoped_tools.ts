/** The tools that one kind of client is offered. */
import { errorResult, type Json, type McpTool, type McpToolResult } from "../local_tools/mcp.ts";
import type { LocalTool, ToolContext } from "../agent/toolkit/tool_context.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import type { AccessRights } from "../protocol/rights.ts";
import { toSeenName } from "../text/safe_text.ts";
import type { OfficeCalls } from "../agent/toolkit/office_calls.ts";
import { noToolResult } from "../agent/toolkit/tool_result.ts";
import type { OfficeTool, Toolset } from "../agent/toolkit/toolset.ts";
import { pageOf } from "./paging.ts";
import { type CallTarget, concerns, type Scope, type ToolsMode } from "./gateway_options.ts";
import type { PinnedTools } from "./pinned_tools.ts";
import type { LongResults } from "./search/long_results.ts";
import { makeSearchTools } from "./search/search_tools.ts";
import type { ToolIndex } from "./search/tool_index.ts";

/** The most tools in one page of a list, as far as their bytes allow. Clients that do not ask for the next page see these. */
const PAGE_SIZE = 1_000;

const CALLING_TOOLS: ReadonlySet<string> = new Set(["call_tool", "call_read_tool"]);

/** The tool that a call is for. A call by way of the search is for the tool that it names. */
export function calledTool({ name, args }: { readonly name: string; readonly args: Json }): string {
  const inner = CALLING_TOOLS.has(name) ? args["name"] : undefined;
  return typeof inner === "string" ? inner : name;
}

/** Whether a client with these rights may call a tool of a Computer, after its owner was asked, or not at all. */
export function permissionOf({ annotations }: McpTool, rights: AccessRights): "call" | "ask" | "none" {
  if (rights === "call" || annotations?.["readOnlyHint"] === true) return "call";
  return rights === "confirm" ? "ask" : "none";
}

export interface ScopedToolParts {
  readonly calls: OfficeCalls;
  readonly scope: Scope;
  readonly locals: readonly LocalTool[];
  readonly mode: ToolsMode;
  readonly index: ToolIndex;
  readonly results: LongResults;
  readonly pinned: PinnedTools;
  /** Tools of the gateway that take the names of tools of Computers, which then get longer ones. */
  readonly connectors?: readonly LocalTool[];
}

/** The metadata of a call that the client may not make. */
const FORBIDDEN = { error_code: ErrorCode.FORBIDDEN, may_have_run: false };

/** What follows the name of a tool of a Computer, where the gateway has a tool of this name for connectors. */
const OF_COMPUTER = "_of_computer";

export class ScopedTools {
  readonly #toolset: Toolset;
  readonly #calls: OfficeCalls;
  readonly #pinned: PinnedTools;
  readonly #scope: Scope;
  readonly #mode: ModeSwitch;
  readonly #index: ToolIndex;
  readonly #locals: ReadonlyMap<string, LocalTool>;
  readonly #searchTools: ReadonlyMap<string, LocalTool>;
  /** The tools that the client reaches, and those that there were. */
  #reached: { readonly from: readonly OfficeTool[]; readonly tools: readonly OfficeTool[] } | undefined;
  /** The tools of the gateway for connectors, whose names are those of many tools of MCP servers. */
  readonly #connectors: ReadonlySet<string>;
  /** The last list, and what it was made from. */
  #listed: { readonly from: readonly OfficeTool[]; readonly tools: readonly McpTool[] } | undefined;

  constructor(toolset: Toolset, parts: ScopedToolParts) {
    const { calls, scope, locals, mode, index, results, connectors = [] } = parts;
    this.#toolset = toolset;
    this.#connectors = new Set(connectors.map(({ definition }) => definition.name));
    this.#calls = calls;
    this.#pinned = parts.pinned;
    this.#scope = scope;
    this.#mode = new ModeSwitch(scope.kind === "search" ? "search" : mode);
    this.#index = index;
    this.#locals = byName([...locals, ...connectors]);
    this.#searchTools = byName(makeSearchTools({
      index: () => this.#indexed(),
      isReached: (tool) => this.#isOffered(tool),
      computers: () => this.#toolset.computers.filter((computer) => concerns({ computer }, scope)),
      problem: () => this.#toolset.problem,
      find: (name) => this.#find(name),
      isListed: (name) => this.#local(name) !== undefined,
      call: (tool, args, context) => this.#call(tool, args, context),
      results,
    }));
  }

  /** All tools: those of the gateway itself first, since they explain the others. */
  get all(): readonly McpTool[] {
    const from = this.#offered;
    if (this.#listed?.from !== from) {
      const all = this.#withOwnNames(from.map(({ definition }) => definition));
      const offered = this.#mode.isSearch(all) ? definitionsOf(this.#searchTools) : all;
      this.#listed = { from, tools: [...definitionsOf(this.#locals), ...offered] };
    }
    return this.#listed.tools;
  }

  page(cursor: string | undefined): { readonly tools: readonly McpTool[]; readonly nextCursor?: string } {
    const { page: tools, next } = pageOf(this.all, { size: PAGE_SIZE, cursor, keyOf: ({ name }) => name });
    return { tools, ...next };
  }

  find(name: string): McpTool | undefined {
    return this.#local(name)?.definition ?? this.#find(name)?.definition;
  }

  /** Whom a call is for. */
  targetOf(name: string, args: Json): CallTarget {
    const tool = calledTool({ name, args });
    const isLocal = tool === name && this.#local(name) !== undefined;
    return { computer: isLocal ? undefined : this.#find(tool)?.computer, tool };
  }

  /** Calls a tool. Rejects only with the reason of `context.signal`. */
  call(
    name: string,
    args: Json,
    context: ToolContext,
  ): Promise<McpToolResult> {
    const local = this.#local(name);
    if (local !== undefined) return local.run(args, context);
    const tool = this.#find(name);
    if (tool !== undefined) return this.#call(tool, args, context);
    const gone = this.#toolset.goneOf(name);
    const isSeen = gone !== undefined && concerns(gone, this.#scope);
    const { problem } = this.#toolset;
    return Promise.resolve(noToolResult(name, { problem, gone: isSeen ? gone : undefined }));
  }

  /** Every call of a tool of a Computer comes this way, so that the rights of its client are checked here alone. */
  #call(tool: OfficeTool, args: Json, context: ToolContext): Promise<McpToolResult> {
    const change = this.#pinned.changeOf(tool);
    if (change === "block") return Promise.resolve(errorResult(changedText(tool), FORBIDDEN));
    const permission = permissionOf(tool.definition, context.rights ?? "read");
    if (permission !== "none") {
      this.#pinned.pin(tool);
      const ask = permission === "ask" || change === "ask";
      return this.#calls.call(tool, args, { ...context, ask });
    }
    return Promise.resolve(errorResult(
      `Cannot call ${
        toSeenName(tool.definition.name)
      }: this client may only call tools that modify nothing ` +
        "(readOnlyHint). The tool did not run. Tell the user, who can give it the right to call tools",
      FORBIDDEN,
    ));
  }

  /** The list stays the same object until something changes. */
  get #offered(): readonly OfficeTool[] {
    const { all } = this.#toolset;
    if (this.#reached?.from !== all) {
      this.#reached = { from: all, tools: all.filter((tool) => this.#isOffered(tool)) };
    }
    return this.#reached.tools;
  }

  #isOffered(tool: OfficeTool): boolean {
    return concerns(tool, this.#scope) && this.#pinned.changeOf(tool) !== "block";
  }

  /** The tools of the search can be called in either mode: a client may have listed them before it changed. */
  #local(name: string): LocalTool | undefined {
    return this.#locals.get(name) ?? this.#searchTools.get(name);
  }

  /** Renames the tools of Computers whose names are those of tools for connectors. */
  #withOwnNames(tools: readonly McpTool[]): readonly McpTool[] {
    if (this.#connectors.size === 0) return tools;
    const taken = new Set(tools.map(({ name }) => name).filter((name) => this.#connectors.has(name)));
    return tools.filter(({ name }) => !taken.has(shadowed(name)))
      .map((tool) => taken.has(tool.name) ? { ...tool, name: `${tool.name}${OF_COMPUTER}` } : tool);
  }

  #find(given: string): OfficeTool | undefined {
    const isShadowed = this.#connectors.has(shadowed(given)) &&
      this.#toolset.find(shadowed(given)) !== undefined;
    const name = isShadowed ? shadowed(given) : given;
    const tool = this.#toolset.find(name);
    return tool !== undefined && concerns(tool, this.#scope) ? tool : undefined;
  }

  /** The index, with what has changed since the last search. */
  async #indexed(): Promise<ToolIndex> {
    const { computers } = this.#toolset;
    await this.#index.update(new Map(computers.map((computer) => [computer, this.#toolset.of(computer)])));
    return this.#index;
  }
}

function changedText({ computer, definition: { name } }: OfficeTool): string {
  return `Cannot call ${toSeenName(name)} on Computer ${
    toSeenName(computer)
  }: its description, schema or annotations are ` +
    "others than when it was called first. The tool did not run. Tell the user, who can look at the tool and allow it as " +
    "it is, by another file of --state";
}

/** The name of a tool before it was renamed; empty for one that was not. */
function shadowed(name: string): string {
  return name.endsWith(OF_COMPUTER) ? name.slice(0, -OF_COMPUTER.length) : "";
}

function byName(tools: readonly LocalTool[]): ReadonlyMap<string, LocalTool> {
  return new Map(tools.map((tool) => [tool.definition.name, tool]));
}

function definitionsOf(tools: ReadonlyMap<string, LocalTool>): McpTool[] {
  return [...tools.values()].map(({ definition }) => definition);
}

/** From so many tools or tokens on, `auto` searches. */
const SEARCH_FROM = { tools: 40, tokens: 10_000 } as const;
/** Below both of these it lists all again. The gap keeps a list from changing back and forth. */
const ALL_BELOW = { tools: 32, tokens: 8_000 } as const;
/** About how many characters of JSON a model counts as one token. */
const CHARACTERS_PER_TOKEN = 4;

/** About how many tokens the definitions take in a model's context: their JSON, at four characters for one. */
export function tokensOf(tools: readonly McpTool[]): number {
  const characters = tools.reduce((sum, tool) => sum + JSON.stringify(tool).length, 0);
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

/** Decides for one list of tools after the other. */
export class ModeSwitch {
  readonly #mode: ToolsMode;
  #last: { readonly tools: readonly McpTool[]; readonly isSearch: boolean } | undefined;

  constructor(mode: ToolsMode) {
    this.#mode = mode;
  }

  /** Whether to offer a search in place of these tools. The same list is weighed once. */
  isSearch(tools: readonly McpTool[]): boolean {
    if (this.#mode !== "auto") return this.#mode === "search";
    if (this.#last?.tools === tools) return this.#last.isSearch;
    const limits = this.#last?.isSearch === true ? ALL_BELOW : SEARCH_FROM;
    const isSearch = tools.length >= limits.tools || tokensOf(tools) >= limits.tokens;
    this.#last = { tools, isSearch };
    return isSearch;
  }
}
