/** The last tool calls: what orders Desktop and Finder. */

/** The most calls that are remembered. */
const MAX_CALLS = 100;

/** How a call ended. */
export type ToolCallOutcome = "ok" | "error" | "timeout" | "cancelled";

/** One tool call (`desktop.md`, ToolCallRecord). */
export interface ToolCallRecord {
  /** The id of the request. */
  readonly reqId: string;
  /** The MCP server. */
  readonly server: string;
  /** The tool's own name. */
  readonly tool: string;
  /** When the call came. */
  readonly startedAt: Date;
  /** How long it took, in milliseconds. */
  readonly durationMs: number;
  /** How it ended. */
  readonly outcome: ToolCallOutcome;
}

/** The last 100 tool calls, oldest first. */
export class ToolCallHistory {
  #records: ToolCallRecord[] = [];
  #servers: readonly string[] | undefined;

  push(record: ToolCallRecord): void {
    this.#records.push(record);
    if (this.#records.length > MAX_CALLS) this.#records.shift();
    this.#servers = undefined;
  }

  get records(): readonly ToolCallRecord[] {
    return [...this.#records];
  }

  /** The servers that were called, oldest first, one entry a call. */
  get servers(): readonly string[] {
    return this.#servers ??= this.#records.map(({ server }) => server);
  }
}
