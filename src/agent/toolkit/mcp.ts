/** What MCP clients get, in MCP's own shapes: the same in 2025-11-25 and 2026-07-28. */
import type { CallProgress } from "../../protocol/progress.ts";
import type { AccessRights } from "../../protocol/rights.ts";
import type { OnQuestion } from "../questions.ts";

/** Any JSON object. */
export type Json = Readonly<Record<string, unknown>>;

/** A tool, as `tools/list` has it. */
export interface McpTool {
  /** The name to call it by. */
  readonly name: string;
  /** The title, for display. */
  readonly title?: string;
  /** The description, for the model. */
  readonly description?: string;
  /** The JSON Schema of the arguments. */
  readonly inputSchema: Json & { readonly type: "object" };
  /** The JSON Schema of `structuredContent`. */
  readonly outputSchema?: Json;
  /** MCP's hints. */
  readonly annotations?: Json;
  /** Icons for display. */
  readonly icons?: readonly Json[];
  /** Metadata: that of the MCP server, and keys that begin with `a2c_`. */
  readonly _meta?: Json;
}

/** An item of a result: a text, an image, audio, a resource or a link to one. */
export type McpContent = { readonly type: string } & Json;

/** A result, as `tools/call` answers it. */
export interface McpToolResult {
  /** The content, for the model. */
  readonly content: readonly McpContent[];
  /** The result for programs. */
  readonly structuredContent?: unknown;
  /** Whether the tool failed. */
  readonly isError?: boolean;
  /** Metadata of the result. */
  readonly _meta?: Json;
}

export interface ToolContext {
  readonly client?: object | string | undefined;
  /** What the client calls itself; Computers are told it. */
  readonly clientName?: string | undefined;
  /** Whether the person at the Computer is asked before the tool runs, whatever its configuration allows. */
  readonly ask?: boolean | undefined;
  /** What the client of a gateway may do. */
  readonly rights?: AccessRights | undefined;
  readonly signal: AbortSignal;
  /** Called with the progress; `undefined` when the client does not want to know. */
  readonly onProgress?: ((progress: CallProgress) => void) | undefined;
  /** Asks the user of the client; `undefined` when the client cannot. */
  readonly onQuestion?: OnQuestion | undefined;
}

/** A tool that gateway and toolkit answer themselves, beside those of the Computers. */
export interface LocalTool {
  readonly definition: McpTool;
  /** Runs it. A failure is a result with `isError` whose text says what to do; it rejects only when `signal` is aborted. */
  run(args: Readonly<Record<string, unknown>>, context: ToolContext): Promise<McpToolResult>;
}

/** A result that is one text. */
export function textResult(text: string): McpToolResult {
  return { content: [{ type: "text", text: text.toWellFormed() }] };
}

/** A failure: the text says what to do, for a model. */
export function errorResult(text: string, meta?: Json): McpToolResult {
  return { ...textResult(text), isError: true, ...(meta === undefined ? {} : { _meta: meta }) };
}

/** The most characters of the JSON of one entry of a list. */
const MAX_ENTRY_LENGTH = 256 * 1024;

/**
 * Whether an entry can stand in a list: one that is huge, or nested so deeply that it cannot be written, would cost all
 * others.
 */
export function fitsIntoList(entry: unknown): boolean {
  try {
    return JSON.stringify(entry).length <= MAX_ENTRY_LENGTH;
  } catch {
    return false;
  }
}
