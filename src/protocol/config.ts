/** A Computer's configuration (`docs/protocol/data-structures.md#configuration-of-a-computer`). */
import type { AgentCallData } from "./call.ts";
import type { SERVER_NAME, TOOL_NAME, ToolMeta } from "./tools.ts";

/**
 * A text that is one placeholder and nothing else, `${input:id}` or `${env:NAME}`: it stands for a value that keeps
 * its type, so it may stand where a number or a truth value is expected.
 */
export type InputPlaceholder = `\${${string}}`;

/** What the configurations of all MCP servers have in common. */
export interface BaseMCPServerConfig {
  /** What the server is called: unique on its Computer. */
  name: SERVER_NAME;
  /** Not started, and its tools neither listed nor callable. */
  disabled: boolean;
  /** Tools, by their own names, that are neither listed nor callable. */
  forbidden_tools: TOOL_NAME[];
  /**
   * The only tools, by their own names, that are listed and callable; `*` stands for any characters. All tools when
   * absent. Not of the specification: it stays on this Computer, `client:get_config` does not show it.
   */
  allowed_tools?: string[] | null;
  /** Metadata by the tool's own name, over `default_tool_meta` key by key. */
  tool_meta: Record<TOOL_NAME, ToolMeta>;
  /** Metadata of tools that `tool_meta` does not name; never an alias. */
  default_tool_meta?: ToolMeta | null;
  /** A VRL script that transforms the tools' results. */
  vrl?: string | null;
}

/** How to start an MCP server as a child process. */
export interface MCPServerStdioParameters {
  /** The program. */
  command: string;
  /** Its arguments. */
  args: string[];
  /** Variables beyond the few that are passed on. */
  env: Record<string, string> | null;
  /** The folder it runs in; the Computer's own when null. */
  cwd: string | null;
  /**
   * A file with variables, a `NAME=value` a line, read whenever the server starts; those of `env` come before them.
   * Not of the specification: it stays on this Computer, `client:get_config` shows neither it nor its variables.
   */
  env_file?: string | null;
  /**
   * The text encoding of its output, by a name of the web or of Python, such as `gbk`, `latin-1` or `cp936`; one that
   * has ASCII in it. `utf-8` by default. As on the web, `latin-1` is read as `windows-1252`.
   */
  encoding: string;
  /** What to do with bytes that are not of that encoding. */
  encoding_error_handler: "strict" | "ignore" | "replace" | InputPlaceholder;
}

/** An MCP server as a child process. */
export interface MCPServerStdioConfig extends BaseMCPServerConfig {
  /** The kind, by which the members are told apart. */
  type: "stdio";
  /** How to reach it. */
  server_parameters: MCPServerStdioParameters;
}

/** How to reach an MCP server over Streamable HTTP. */
export interface MCPServerStreamableHttpParameters {
  /** Its endpoint. */
  url: string;
  /** HTTP headers of each request. */
  headers: Record<string, unknown> | null;
  /**
   * How long the answer to an HTTP request may take to begin, an ISO 8601 duration such as `PT30S`. A tool call may
   * take as long as `sse_read_timeout` where that is longer, since a server may answer it when the tool is done; it
   * has a time of its own besides. The standing stream may open when its server has something to say.
   */
  timeout: string;
  /**
   * How long an event stream, or the body of an answer, may say nothing before it counts as broken, an ISO 8601
   * duration such as `PT5M`.
   */
  sse_read_timeout: string;
  /** Whether closing ends the session on the server, too. */
  terminate_on_close: boolean | InputPlaceholder;
}

/** An MCP server over Streamable HTTP. */
export interface MCPServerStreamableHttpConfig extends BaseMCPServerConfig {
  /** The kind, by which the members are told apart. */
  type: "streamable";
  /** How to reach it. */
  server_parameters: MCPServerStreamableHttpParameters;
}

/** How to reach an MCP server over HTTP with Server-Sent Events. */
export interface MCPSSEParameters {
  /** Its endpoint. */
  url: string;
  /** HTTP headers of each request. */
  headers: Record<string, unknown> | null;
  /** Seconds until the answer to an HTTP request begins, the opening of the event stream included. */
  timeout: number | InputPlaceholder;
  /** Seconds that the event stream may say nothing before it counts as broken, and the server is connected to anew. */
  sse_read_timeout: number | InputPlaceholder;
}

/** An MCP server over HTTP with Server-Sent Events. */
export interface MCPSSEConfig extends BaseMCPServerConfig {
  /** The kind, by which the members are told apart. */
  type: "sse";
  /** How to reach it. */
  server_parameters: MCPSSEParameters;
}

/** An MCP server of any transport. */
export type MCPServerConfig = MCPServerStdioConfig | MCPServerStreamableHttpConfig | MCPSSEConfig;

/** A configuration whose placeholders are filled in, as a transport needs it. */
export type Resolved<C extends MCPServerConfig> = C extends MCPServerConfig ?
    & C
    & {
      server_parameters: {
        [K in keyof C["server_parameters"]]: Exclude<C["server_parameters"][K], InputPlaceholder>;
      };
    }
  : never;

/** An MCP server of any transport whose placeholders are filled in. */
export type ResolvedServerConfig = Resolved<MCPServerConfig>;

/** What all inputs have in common: `${input:id}` stands for the value. */
export interface MCPServerInputBase {
  /** What `${input:id}` names it by. */
  id: string;
  /** What to ask for. */
  description: string;
}

/** A value that is asked for. */
export interface MCPServerPromptStringInput extends MCPServerInputBase {
  /** The kind, by which the members are told apart. */
  type: "promptString";
  /** The value when nobody gives one. */
  default?: string | null;
  /** Hidden while it is typed, masked wherever it would be shown. */
  password?: boolean | null;
}

/** A value that is chosen. */
export interface MCPServerPickStringInput extends MCPServerInputBase {
  /** The kind, by which the members are told apart. */
  type: "pickString";
  /** What to choose from. */
  options: string[];
  /** The value when nobody gives one. */
  default?: string | null;
}

/** A value that a command prints. */
export interface MCPServerCommandInput extends MCPServerInputBase {
  /** The kind, by which the members are told apart. */
  type: "command";
  /** A shell line. */
  command: string;
  /** Appended as `--key value`, quoted. */
  args?: Record<string, string> | null;
}

/** An input of any kind. */
export type MCPServerInput = MCPServerPromptStringInput | MCPServerPickStringInput | MCPServerCommandInput;

/** `client:get_config`. */
export interface GetComputerConfigReq extends AgentCallData {
  /** The name of the Computer that shall answer. */
  computer: string;
}

/** The answer to `client:get_config`: placeholders as written, secrets masked. */
export interface GetComputerConfigRet {
  /** The definitions of the inputs; never their values. */
  inputs?: MCPServerInput[] | null;
  /** The MCP servers by name. */
  servers: Record<SERVER_NAME, MCPServerConfig>;
}
