/** The tools that one kind of client is offered. */
import type { LocalTool, ToolContext } from "../agent/toolkit/local_tool.ts";
import { errorResult, type McpTool, type McpToolResult } from "../agent/toolkit/mcp.ts";
import type { OfficeCalls } from "../agent/toolkit/office_calls.ts";
import type { OfficeTool, Toolset } from "../agent/toolkit/toolset.ts";
import { pageOf } from "./paging.ts";
import type { Scope } from "./scope.ts";

/** The most tools in one page of a list. Clients that do not ask for the next page see these. */
const PAGE_SIZE = 1_000;

/** A page of tools. */
export interface ToolPage {
  readonly tools: readonly McpTool[];
  readonly nextCursor?: string;
}

/** Whom a call was for, as the activity log has it. */
export interface CallTarget {
  /** The Computer; `undefined` for a tool of the gateway itself. */
  readonly computer: string | undefined;
  /** The tool, by the name that the client called. */
  readonly tool: string;
}

/** Lists and calls the tools of a scope. */
export class ScopedTools {
  readonly #toolset: Toolset;
  readonly #calls: OfficeCalls;
  readonly #scope: Scope;
  readonly #locals: ReadonlyMap<string, LocalTool>;
  /** The last list, and what it was made from. */
  #listed: { readonly from: readonly OfficeTool[]; readonly tools: readonly McpTool[] } | undefined;

  constructor(
    toolset: Toolset,
    { calls, scope, locals }: {
      readonly calls: OfficeCalls;
      readonly scope: Scope;
      readonly locals: readonly LocalTool[];
    },
  ) {
    this.#toolset = toolset;
    this.#calls = calls;
    this.#scope = scope;
    this.#locals = new Map(locals.map((tool) => [tool.definition.name, tool]));
  }

  /** All tools: those of the gateway itself first, since they explain the others. */
  get all(): readonly McpTool[] {
    const from = this.#offered;
    if (this.#listed?.from !== from) {
      const own = [...this.#locals.values()].map(({ definition }) => definition);
      this.#listed = { from, tools: [...own, ...from.map(({ definition }) => definition)] };
    }
    return this.#listed.tools;
  }

  /** A page of the list. */
  page(cursor: string | undefined): ToolPage {
    const { page: tools, next } = pageOf(this.all, { size: PAGE_SIZE, cursor, keyOf: ({ name }) => name });
    return { tools, ...next };
  }

  /** The definition of a tool. */
  find(name: string): McpTool | undefined {
    return this.#locals.get(name)?.definition ?? this.#find(name)?.definition;
  }

  /** Whom a call of this name is for. */
  targetOf(name: string): CallTarget {
    return { computer: this.#find(name)?.computer, tool: name };
  }

  /** Calls a tool. Rejects only with the reason of `context.signal`. */
  call(
    name: string,
    args: Readonly<Record<string, unknown>>,
    context: ToolContext,
  ): Promise<McpToolResult> {
    const local = this.#locals.get(name);
    if (local !== undefined) return local.run(args, context);
    const tool = this.#find(name);
    if (tool !== undefined) return this.#calls.call(tool, args, context);
    const { problem } = this.#toolset;
    return Promise.resolve(errorResult(
      problem === undefined
        ? `No tool named "${name}" is there now: its Computer may have left the office, or the list has changed. List ` +
          "the tools again and call one of those"
        : `No tool named "${name}" is there now: ${problem}. Try again in a few seconds`,
    ));
  }

  get #offered(): readonly OfficeTool[] {
    return this.#scope.kind === "computer" ? this.#toolset.of(this.#scope.computer) : this.#toolset.all;
  }

  #find(name: string): OfficeTool | undefined {
    const tool = this.#toolset.find(name);
    return this.#scope.kind === "computer" && tool?.computer !== this.#scope.computer ? undefined : tool;
  }
}
