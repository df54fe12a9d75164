/** The last tool calls: what they came to, and what orders Desktop and Finder. */

/** The most calls that are remembered. */
const MAX_CALLS = 100;

/** How a call ended. */
export type ToolCallOutcome = "ok" | "error" | "timeout" | "cancelled";

/** One tool call (`docs/protocol/desktop.md#server-order`). */
export interface ToolCallRecord {
  /** The id of the request. */
  readonly reqId: string;
  /**
   * The Agent that called, by the name that the Server vouches for or, where the Server does not tell, as it calls
   * itself; `undefined` for a call of this Computer's own program.
   */
  readonly agent: string | undefined;
  /** The MCP server; `undefined` when the call was refused because no server has such a tool to call. */
  readonly server: string | undefined;
  /** The tool's own name, or the one that was called where there is no such tool. */
  readonly tool: string;
  /** When the call came. */
  readonly startedAt: Date;
  /** How long it took, in milliseconds. */
  readonly durationMs: number;
  /** How it ended. */
  readonly outcome: ToolCallOutcome;
  /** Which of 4001–4007 it ended with; `undefined` when it brought the MCP server's own result. */
  readonly errorCode: number | undefined;
}

/** The last 100 tool calls, oldest first. */
export class ToolCallHistory {
  readonly #records: ToolCallRecord[] = [];
  /** Of their own, so that refused calls drive no server out. */
  #servers: readonly string[] = [];

  push(record: ToolCallRecord): void {
    this.#records.push(record);
    if (this.#records.length > MAX_CALLS) this.#records.shift();
    if (record.server !== undefined) this.#servers = [...this.#servers, record.server].slice(-MAX_CALLS);
  }

  get records(): readonly ToolCallRecord[] {
    return [...this.#records];
  }

  /** The servers of the last 100 calls that had one, oldest first, one entry a call. */
  get servers(): readonly string[] {
    return this.#servers;
  }
}
