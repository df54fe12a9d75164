/** Whether a client is offered all tools, or a few with which it searches them. */
import type { McpTool } from "../../agent/toolkit/mcp.ts";

/** What a client is offered: `all` tools, a `search`, or `auto`: by the number and the size of the tools. */
export type ToolsMode = "all" | "search" | "auto";

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
