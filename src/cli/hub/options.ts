/** The options of the hub: those of a Server, and its own. */
import type { ToolsMode } from "../../gateway/gateway_options.ts";
import type { ResourceServerOptions } from "../resource_server.ts";
import type { ServerCliOptions } from "../server/options.ts";
import type { HubStateOptions } from "./state.ts";

export type HubOptions = ServerCliOptions & HubStateOptions & ResourceServerOptions & {
  /** An origin. */
  readonly publicUrl?: string;
  readonly mcpTokenFile?: string;
  readonly operatorTokenFile?: string;
  readonly hubName: string;
  readonly tools: ToolsMode;
  readonly activityLog?: string;
};
