/** The MCP servers of a Computer, as they present themselves (`docs/protocol/extensions.md#list-of-mcp-servers`). */
import type { AgentCallAnswer, ComputerCallData } from "./call.ts";
import type { McpNamed, ResourceIcon } from "./resources.ts";

/** `client:get_mcp_servers`. */
export interface GetMcpServersReq extends ComputerCallData {
  /** Only this MCP server; all when absent. */
  mcp_server?: string;
}

/** What an MCP server says of its program. MCP spells `websiteUrl`. */
export interface McpServerAbout extends McpNamed {
  /** Icons for display. */
  icons?: ResourceIcon[];
  /** The name that the program has, for programs. It need not be the name in the Computer's configuration. */
  name?: string;
  /** The version of the program. */
  version?: string;
  /** A page about the program. The MCP server chooses it: do not trust it. */
  website_url?: string;
}

/** An MCP server in the answer to `client:get_mcp_servers`: never an address, a command or a secret. */
export interface McpServerInfo {
  /** The name in the Computer's configuration. */
  mcp_server: string;
  /** `running`, `starting`, `retrying`, `failed`, `stopped`, or a status of a newer peer. */
  status: string;
  /** Whether the owner has paused the Computer: calls and reads are refused. Absent when not. */
  paused?: boolean;
  /** The names under which its tools are listed; absent without tools. */
  tools?: string[];
  /** The version of MCP that the session speaks, such as `2025-11-25`. This and all below only while it runs. */
  mcp_version?: string;
  /** What the MCP server says of its program. */
  server_info?: McpServerAbout;
  /** How to use the MCP server, for the model. */
  instructions?: string;
  /** Whether the instructions were longer than the Computer sends. */
  instructions_cut?: boolean;
  /** The capabilities that the MCP server announced, as MCP writes them. */
  capabilities?: Record<string, unknown>;
}

/** The answer to `client:get_mcp_servers`. */
export interface GetMcpServersRet extends AgentCallAnswer {
  /** In order of precedence. */
  mcp_servers: McpServerInfo[];
}
