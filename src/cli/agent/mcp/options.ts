/** The options of `mcp` and of the commands below it. */
import type { HttpOptions } from "../../http_service.ts";

export const DEFAULT_ENTRY_NAME = "a2c";

export interface McpOptions extends HttpOptions {
  readonly nameLength?: number;
  readonly tools: "all" | "search" | "auto";
  readonly builtinTools: boolean;
  readonly state?: string;
  /** Seconds. */
  readonly timeout?: number;
  /** Seconds. */
  readonly patience?: number;
  readonly activityLog?: string;
  readonly activityArguments?: boolean;
  readonly printConfig: boolean;
}

/** How a client's file is changed. */
export interface ChangeOptions {
  readonly as: string;
  /** Shows what would change, and changes nothing. */
  readonly dryRun: boolean;
  /** Asks nobody. */
  readonly yes: boolean;
  /** The client's file, if it is another one. */
  readonly file?: string | undefined;
}
