/** The last tool calls. They decide the order of servers in Desktop and Finder. */

const MAX_CALLS = 100;

/** The outcome of a call. */
export type ToolCallOutcome = "ok" | "error" | "timeout" | "cancelled";

/** One tool call (`docs/protocol/desktop.md#server-order`). */
export interface ToolCallRecord {
  /** The id of the request. */
  readonly reqId: string;
  /**
   * The name of the calling Agent as the Server states it, or as the request states it when the Server does not;
   * `undefined` for a call by this Computer's own program.
   */
  readonly agent: string | undefined;
  /** The client for whom the Agent made the call, as it says; `undefined` when it does not say. */
  readonly client: string | undefined;
  /** The MCP server; `undefined` when no server has a tool of that name that may be called. */
  readonly server: string | undefined;
  /** The tool's own name, or the name that was called when no such tool exists. */
  readonly tool: string;
  /** When the call arrived. */
  readonly startedAt: Date;
  /** How long it took, in milliseconds. */
  readonly durationMs: number;
  /** Whether it succeeded, failed, timed out or was cancelled. */
  readonly outcome: ToolCallOutcome;
  /** The error code, 4001–4007; `undefined` for a result of the MCP server, also one with `isError`. */
  readonly errorCode: number | undefined;
}

/** The last 100 tool calls, oldest first. */
export class ToolCallHistory {
  readonly #records: ToolCallRecord[] = [];
  /**
   * The servers of the last 100 calls that reached one, oldest first, one entry for each call. Kept apart from the records,
   * so that refused calls push no server out.
   */
  servers: readonly string[] = [];

  push(record: ToolCallRecord): void {
    this.#records.push(record);
    if (this.#records.length > MAX_CALLS) this.#records.shift();
    if (record.server !== undefined) this.servers = [...this.servers, record.server].slice(-MAX_CALLS);
  }

  get records(): readonly ToolCallRecord[] {
    return [...this.#records];
  }
}
