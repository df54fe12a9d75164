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

export interface ChangeOptions {
  readonly as: string;
  readonly dryRun: boolean;
  readonly yes: boolean;
  readonly file?: string | undefined;
}
