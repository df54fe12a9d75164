/** A command that asks a Computer, as it was typed. */
import type { CommandAnswer } from "./answer.ts";
import type { RequestContext } from "./requests.ts";

export interface RequestCall {
  readonly name: string;
  readonly work: (context: RequestContext) => Promise<CommandAnswer>;
  /** The MCP server or the tool that must be there first; all MCP servers by default. */
  readonly awaits?: { readonly server?: string | undefined; readonly tool?: string | undefined };
  /** The words for a Computer of another process, if they differ from what was typed. */
  readonly toWords?: (signal: AbortSignal) => Promise<readonly string[]>;
}

export type RunRequest = (call: RequestCall) => Promise<void>;
