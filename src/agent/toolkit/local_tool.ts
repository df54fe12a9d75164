/** Tools that gateway and toolkit answer themselves, beside those of the Computers. */
import type { CallProgress } from "../../protocol/progress.ts";
import type { OnQuestion } from "../questions.ts";
import type { McpTool, McpToolResult } from "./mcp.ts";

export interface ToolContext {
  readonly client?: object | string | undefined;
  readonly signal: AbortSignal;
  /** Called with the progress; `undefined` when the client does not want to know. */
  readonly onProgress?: ((progress: CallProgress) => void) | undefined;
  /** Asks the user of the client; `undefined` when the client cannot. */
  readonly onQuestion?: OnQuestion | undefined;
}

/** A tool that needs no Computer of its own. */
export interface LocalTool {
  readonly definition: McpTool;
  /** Runs it. A failure is a result with `isError` whose text says what to do; it rejects only when `signal` is aborted. */
  run(args: Readonly<Record<string, unknown>>, context: ToolContext): Promise<McpToolResult>;
}
