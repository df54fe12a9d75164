/** The options of the hub: those of a Server, and its own. */
import type { ToolsMode } from "../../gateway/gateway_options.ts";
import type { ServerCliOptions } from "../server/options.ts";

export type HubOptions = ServerCliOptions & {
  /** An origin. */
  readonly publicUrl?: string;
  readonly mcpTokenFile?: string;
  readonly hubName: string;
  readonly tools: ToolsMode;
  readonly activityLog?: string;
};
