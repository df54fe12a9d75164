/** The tools of one MCP server, listed in each session and after each change. */
import { visitInTurns } from "../../async/turns.ts";
import type { McpTool } from "../../mcp/entries.ts";
import { ServerList } from "../../mcp/server_list.ts";
import type { SupervisedServer } from "../../mcp/supervision/supervised_server.ts";
import { describeError, shorten } from "../../text/text.ts";
import { digestOfText } from "../../json/digest.ts";
import { fitsApproximately } from "../../json/json.ts";
import type { SharedParts } from "../shared/shared_parts.ts";

/** The longest wait before a failed list is read again, in milliseconds. */
const MAX_RETRY_DELAY_MS = 60_000;

/** How many of the tools that are left out a warning names. */
const MAX_NAMED = 5;
const MAX_NAME = 128;

export interface ToolListingContext extends Pick<SharedParts, "log" | "warnOnce" | "limits"> {
  readonly onChange: () => void;
}

/** The tools of one MCP server as it listed them last. They stay while the server is not running. */
export class ToolListing {
  readonly #server: SupervisedServer;
  readonly #context: ToolListingContext;
  readonly list: ServerList<McpTool, ReadonlyMap<string, McpTool>>;
  /** By the digest of the tool's JSON: an unchanged tool stays the same object, so that what is known about it stays valid. */
  #tools: ReadonlyMap<string, McpTool> = new Map();
  /** Whether the server's session is still to list its tools. */
  #isAwaited = false;

  constructor(server: SupervisedServer, context: ToolListingContext) {
    this.#server = server;
    this.#context = context;
    const { limits } = context;
    const { readTimeoutMs: timeoutMs } = limits;
    this.list = new ServerList({
      server,
      kind: "tools",
      read: (connection) => connection.listTools({ timeoutMs }),
      take: (listed) => this.#take(listed),
      onList: (tools) => {
        this.#isAwaited = false;
        this.#keep(tools);
        server.report(undefined);
      },
      onFailure: (error) => this.#onFailure(error),
      retry: { firstMs: limits.listRetryDelayMs, maxMs: MAX_RETRY_DELAY_MS },
    });
  }

  get tools(): readonly McpTool[] {
    return [...this.#tools.values()];
  }

  /** Whether the server runs, and its session has not yet listed its tools. */
  get isAwaited(): boolean {
    return this.#isAwaited && this.#server.status === "running";
  }

  /** A new session of the server runs. */
  onRunning(): void {
    this.#isAwaited = this.#server.connection?.capabilities.tools === true;
    if (!this.#isAwaited) this.#keep(new Map());
    this.list.restart();
  }

  #onFailure(error: unknown): void {
    const problem = describeError(error);
    this.#server.report(`cannot list tools: ${problem}`);
    this.#context.log.warn("cannot list tools", { server: this.#server.name, error: problem });
  }

  /** The tools of a list that are within the limits, which apply to each server alone. */
  async #take(listed: readonly McpTool[]): Promise<ReadonlyMap<string, McpTool>> {
    const { maxTools, maxToolBytes, maxToolListBytes } = this.#context.limits;
    const tools = new Map<string, McpTool>();
    const tooLarge: string[] = [];
    let roomBytes = maxToolListBytes;
    let excess = 0;
    await visitInTurns(listed, (tool) => {
      if (!fitsApproximately(tool, maxToolBytes)) {
        tooLarge.push(tool.name);
        return;
      }
      const json = JSON.stringify(tool);
      if (tools.size >= maxTools || json.length > roomBytes) {
        excess++;
        return;
      }
      roomBytes -= json.length;
      // A tool that is listed twice stays here; names.ts leaves it out with a warning.
      const digest = digestOfText(json);
      const key = tools.has(digest) ? `${digest}${tools.size}` : digest;
      tools.set(key, this.#tools.get(key) ?? tool);
    });
    this.#warnOfExcess(tooLarge, excess);
    return tools;
  }

  #warnOfExcess(tooLarge: readonly string[], excess: number): void {
    const { warnOnce, limits: { maxTools, maxToolBytes, maxToolListBytes } } = this.#context;
    const server = this.#server.name;
    if (tooLarge.length > 0) {
      const tools = tooLarge.slice(0, MAX_NAMED).map((name) => shorten(name, MAX_NAME));
      const limit = maxToolBytes;
      warnOnce.warn("tools are left out: too large", {
        server,
        tools,
        count: tooLarge.length,
        limit,
      });
    }
    if (excess > 0) {
      const limits = { tools: maxTools, bytes: maxToolListBytes };
      warnOnce.warn("tools are left out: the server lists too many", { server, count: excess, ...limits });
    }
  }

  #keep(tools: ReadonlyMap<string, McpTool>): void {
    if (hasSameKeys(tools, this.#tools)) return;
    this.#tools = tools;
    this.#context.onChange();
  }
}

/** Whether both have the same keys in the same order. */
function hasSameKeys(one: ReadonlyMap<string, unknown>, other: ReadonlyMap<string, unknown>): boolean {
  if (one.size !== other.size) return false;
  const others = other.keys();
  return one.keys().every((key) => others.next().value === key);
}
