/** What a Computer tells those who follow it, and the calls of which it tells. */
import type { Progress } from "../../mcp/call_options.ts";
import type { ServerStatus } from "../../mcp/supervision/server_state.ts";
import type { UpdateKind } from "../office/office_link.ts";

/**
 * The outcome of a call: `declined` by a person; `unconfirmed` when nobody could be asked, or nobody answered in time;
 * `refused` because the owner had paused the Computer.
 */
export type ToolCallOutcome =
  | "ok"
  | "error"
  | "timeout"
  | "cancelled"
  | "declined"
  | "unconfirmed"
  | "refused";

/**
 * Whom a call waits for: the person at the Computer or the user of the Agent who confirms it, the person who answers a
 * question of its MCP server, or the Agent, which has gone meanwhile, to ask for it again.
 */
export type AwaitedPerson = "confirmer" | "approver" | "answerer" | "caller";

/** Who called which tool. */
export interface ToolCaller {
  /** The id of the request. */
  readonly reqId: string;
  /**
   * The name of the calling Agent as the Server states it, or as the request states it when the Server does not;
   * `undefined` for a call by this Computer's own program.
   */
  readonly agent: string | undefined;
  /** The client for whom the Agent made the call, as it says; `undefined` when it does not say. */
  readonly client: string | undefined;
}

/** What calls and reads have in common in the history. */
export interface HistoryEntry extends ToolCaller {
  /** Rises from record to record, in the order in which calls end. */
  readonly id: number;
  /** The id that a call had while it ran: that of {@linkcode RunningToolCall}; of a read, an id of its own. */
  readonly callId: string;
  /** The MCP server; `undefined` when no server has a tool of that name that may be called, and when a read names none. */
  readonly server: string | undefined;
}

/** One tool call that has ended (`docs/protocol/desktop.md#server-order`). */
export interface ToolCallRecord extends HistoryEntry {
  /** Tells it from a read. */
  readonly kind: "call";
  /** The tool's own name, or the name that was called when no such tool exists. */
  readonly tool: string;
  /** When the call arrived; of calls that a pause refused, the first of them. */
  readonly startedAt: Date;
  /**
   * 1, or how often a pause refused it: calls of the same tool by the same Agent, each within five minutes of the one before,
   * are one record with the last `arguments`, which gets a new `id` with each of them.
   */
  readonly calls: number;
  /** When the last of these calls arrived. */
  readonly lastAt: Date;
  /** How long it took, in milliseconds. */
  readonly durationMs: number;
  /** Whether it succeeded, failed, timed out, was cancelled or was not allowed. */
  readonly outcome: ToolCallOutcome;
  /** The error code, 4001–4007; `undefined` for a result of the MCP server, also one with `isError`. */
  readonly errorCode: number | undefined;
  /** The arguments as JSON, with secrets as `***`, and at most 4,096 characters. Never sent to the office. */
  readonly arguments: string;
  /** Whether the arguments are longer, so that only their beginning is kept. */
  readonly isCut: boolean;
}

/** What an Agent has read, without its content. */
export interface AgentReadRecord extends HistoryEntry {
  /** Tells it from a call. */
  readonly kind: "read";
  /**
   * The URI of a document, a window or another resource, the name of a skill or a prompt, `desktop` for all windows, or
   * `finder` for the list of documents and what a search finds.
   */
  readonly read: string;
  /** What was searched in the text of documents; `undefined` when nothing was. */
  readonly query: string | undefined;
  /** The URIs of the first 20 documents of which an answer of the Finder told. */
  readonly documents: readonly string[];
  /** Of how many more documents it told. */
  readonly moreDocuments: number;
  /**
   * How often it was read: reads of the same by the same Agent, each within five minutes of the one before, are one record,
   * which gets a new `id` with each of them.
   */
  readonly reads: number;
  /** When it was read for the first time. */
  readonly firstAt: Date;
  /** When it was read for the last time. */
  readonly lastAt: Date;
  /** `refused` because the owner had paused the Computer. */
  readonly outcome: "ok" | "refused";
}

/** A call or a read in the history. */
export type HistoryRecord = ToolCallRecord | AgentReadRecord;

/** One tool call that runs. */
export interface RunningToolCall extends ToolCaller {
  /** Unique among the calls of this Computer. */
  readonly id: string;
  /** The MCP server. */
  readonly server: string;
  /** The tool's own name. */
  readonly tool: string;
  /** The name that the tool was called by: its alias where it has one. */
  readonly name: string;
  /** Whether this Computer's own program made it. */
  readonly isLocal: boolean;
  /** When the call arrived. */
  readonly startedAt: Date;
  /** When it times out; `undefined` while its time stands still, because a person is asked. */
  readonly timesOutAt: Date | undefined;
  /** The latest progress, without known secrets. */
  readonly progress: Progress | undefined;
  /** Whom it waits for; `undefined` while nobody is asked. */
  readonly awaits: AwaitedPerson | undefined;
  /** Whether it was cancelled or has timed out, and its MCP server has yet to let go of it. */
  readonly isEnding: boolean;
}

/** Something has happened at a Computer. */
export type ComputerEvent =
  /** An Agent would see another view. */
  | { readonly type: "view"; readonly view: UpdateKind }
  /** An MCP server has another status. */
  | { readonly type: "server"; readonly name: string; readonly status: ServerStatus }
  /** An MCP server, or its supervision, has written to its log. */
  | { readonly type: "log"; readonly server: string }
  /** The connection, the office or its Agent is another one. */
  | { readonly type: "connection" }
  /** A call has begun, waits for somebody else, or has made progress. */
  | { readonly type: "running"; readonly call: RunningToolCall }
  /** A call has ended. */
  | { readonly type: "ended"; readonly record: ToolCallRecord }
  /** An Agent has read something, or was refused it. */
  | { readonly type: "read"; readonly record: AgentReadRecord }
  /** New calls and reads of Agents are refused, or taken again. */
  | { readonly type: "paused"; readonly isPaused: boolean };
