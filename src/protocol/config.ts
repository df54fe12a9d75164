/** A Computer's configuration (`docs/protocol/data-structures.md#configuration-of-a-computer`). */
import type { AgentCallData } from "./call.ts";
import type { SERVER_NAME, TOOL_NAME, ToolMeta } from "./tools.ts";

/**
 * A string that consists of one placeholder, `${input:id}` or `${env:NAME}`. Its value is converted to the type that is
 * expected, so it is allowed where a number or a boolean is.
 */
export type InputPlaceholder = `\${${string}}`;

/** The members that the configurations of all MCP servers have. */
export interface BaseMCPServerConfig {
  /** The name of the MCP server, unique on its Computer. */
  name: SERVER_NAME;
  /**
   * The identity of the MCP server from protocol 0.3 on, unique on its Computer: letters of ASCII, digits, `_` and `-`,
   * without two `_` in a row. By default it is derived from `name`. It begins the names of the tools.
   */
  bundle_id?: string | null;
  /** Whether the MCP server is not started; its tools are then neither listed nor callable. */
  disabled: boolean;
  /** Tools that are neither listed nor callable, by the names that the MCP server gives them. */
  forbidden_tools: TOOL_NAME[];
  /**
   * The only tools that are listed and callable, by the names that the MCP server gives them; `*` matches any
   * characters. All tools when absent. Not in the specification: `client:get_config` does not show it.
   */
  allowed_tools?: string[] | null;
  /**
   * Who answers the questions that the MCP server asks during a call: the person at the Computer, the Agent's user, or
   * nobody; each question is then declined. When absent, the person at the Computer, or where nobody is there the
   * Agent's user. Not in the specification: `client:get_config` does not show it.
   */
  elicitation?: "computer" | "agent" | "decline" | null;
  /**
   * Who confirms the calls of tools without `auto_apply`: the person at the Computer, which is the default, or the
   * Agent's user, where the Agent offers to ask them. Not in the specification: `client:get_config` does not show it.
   */
  approval?: "computer" | "agent" | null;
  /**
   * What becomes of a tool with `auto_apply` that the MCP server lists otherwise than when it was allowed: `ask` a person
   * about each call, `block` it, or `allow` it, which is the default. Not in the specification: `client:get_config` does
   * not show it.
   */
  on_change?: "ask" | "block" | "allow" | null;
  /**
   * Which versions of MCP to use: those with sessions (`"2025"`: 2025-11-25 and before), those without (`"2026"`:
   * 2026-07-28), or whichever the MCP server speaks, the newer one first (`"auto"`). When absent, `"2025"` for a child
   * process and `"auto"` for Streamable HTTP; HTTP with SSE has sessions in any case. Not in the specification:
   * `client:get_config` does not show it.
   */
  mcp_version?: "2025" | "2026" | "auto" | null;
  /**
   * Whether the MCP server is told that pages of MCP Apps can be shown: some offer them to nobody else. Set it when the
   * Agent shows pages; false when absent. Not in the specification: `client:get_config` does not show it.
   */
  apps?: boolean | null;
  /** Metadata by the name that the MCP server gives the tool; overrides `default_tool_meta` key by key. */
  tool_meta: Record<TOOL_NAME, ToolMeta>;
  /** Default metadata of all tools, without `alias`. */
  default_tool_meta?: ToolMeta | null;
  /** A VRL script that transforms the results of the tools. */
  vrl?: string | null;
}

/** How to start an MCP server as a child process. */
export interface MCPServerStdioParameters {
  /** The program to run. */
  command: string;
  /** The arguments of the program. */
  args: string[];
  /** Environment variables, added to the few that every MCP server inherits. */
  env: Record<string, string> | null;
  /** The working directory; that of the Computer when null. */
  cwd: string | null;
  /**
   * A file with environment variables, one `NAME=value` per line, read at each start; `env` overrides it. Not in the
   * specification: `client:get_config` shows neither the file nor its variables.
   */
  env_file?: string | null;
  /**
   * The text encoding of its output, as named on the web or in Python, such as `gbk`, `latin-1` or `cp936`. It must be
   * a superset of ASCII. `utf-8` by default. As on the web, `latin-1` means `windows-1252`.
   */
  encoding: string;
  /** What to do with bytes that are invalid in that encoding. */
  encoding_error_handler: "strict" | "ignore" | "replace" | InputPlaceholder;
}

/**
 * What an MCP server in a sandbox may reach: lists, each empty by default; `"*"` in a list is everything. One from npm runs as
 * a program of Deno with these permissions, any other in bubblewrap on Linux.
 */
export interface SandboxSettings {
  /** Files and folders that it may read. */
  read?: string[] | null;
  /** Files and folders that it may read and write. */
  write?: string[] | null;
  /** Hosts that it may connect to, such as `api.example.com` or `localhost:8080`; in bubblewrap all or none. */
  net?: string[] | null;
  /** Environment variables that it may read, besides those of its entry. */
  env?: string[] | null;
  /** Programs that it may start, which are then not limited; in bubblewrap it may start any, in the same sandbox. */
  run?: string[] | null;
  /** Native libraries that it may load, which are then not limited; only for MCP servers from npm. */
  ffi?: string[] | null;
  /** Files and folders that it may not read, although `read` has them. */
  deny_read?: string[] | null;
}

/** An MCP server that is a child process. */
export interface MCPServerStdioConfig extends BaseMCPServerConfig {
  /** The transport. */
  type: "stdio";
  /**
   * What the MCP server may reach; everything that this user may when absent. Not in the specification:
   * `client:get_config` does not show it.
   */
  sandbox?: SandboxSettings | null;
  /** How to start or reach the MCP server. */
  server_parameters: MCPServerStdioParameters;
}

/** How to reach an MCP server over Streamable HTTP. */
export interface MCPServerStreamableHttpParameters {
  /** The URL of the endpoint. */
  url: string;
  /** HTTP headers of each request. */
  headers: Record<string, unknown> | null;
  /**
   * The time until the response to an HTTP request begins, as an ISO 8601 duration such as `PT30S`. For a tool call it
   * is `sse_read_timeout` if that is longer, because some servers respond only when the tool has finished; the call's
   * own time-out also applies. The stream for notifications has no such limit: a server may open it with its first
   * message.
   */
  timeout: string;
  /**
   * How long an event stream or a response body may be silent before it counts as broken, as an ISO 8601 duration such
   * as `PT5M`.
   */
  sse_read_timeout: string;
  /** Whether closing the connection also ends the session on the server. */
  terminate_on_close: boolean | InputPlaceholder;
}

/** How the Computer signs in at an MCP server by OAuth. Every text may have placeholders. */
export interface OAuthSettings {
  /**
   * How an access token is obtained: `authorization_code` by a browser, `device_code` by a code that is typed on any
   * device, `client_credentials` for a service without a person, `jwt_bearer` for a workload with a token of its
   * platform. `authorization_code` by default.
   */
  grant?: "authorization_code" | "device_code" | "client_credentials" | "jwt_bearer" | null;
  /** The id of a client that is registered at the authorization server. By default the Computer registers itself. */
  clientId?: string | null;
  /** The secret of that client, usually `${input:id}`. */
  clientSecret?: string | null;
  /** The private key of that client, in place of a secret (`private_key_jwt`): PKCS #8 as PEM, or a JWK as JSON. */
  privateKey?: string | null;
  /** The id of the private key, `kid`. That of the JWK by default. */
  keyId?: string | null;
  /** The algorithm of the private key, such as `RS256`. By default that of the JWK; `ES256` for PEM. */
  keyAlgorithm?: string | null;
  /** The scopes to ask for. Those that the MCP server names by default. */
  scopes?: string[] | null;
  /** The resource that the token is for, also one above the MCP server. That of the MCP server's metadata by default. */
  resource?: string | null;
  /** The authorization server, which you trust with the addresses that it names. By default the first one of the MCP server. */
  issuer?: string | null;
  /** The loopback port to which the browser returns. Any free port by default. */
  redirectPort?: number | null;
  /**
   * The address of a document that describes the client (client ID metadata document), for authorization servers that
   * read one. By default the Computer registers itself.
   */
  clientMetadataUrl?: string | null;
  /** The JSON Web Token by which a workload proves its identity, with the grant `jwt_bearer`. */
  assertion?: string | null;
  /** A file with that token, in place of `assertion`; it is read for each request for tokens. */
  assertionFile?: string | null;
  /** The identity provider of an enterprise that issues that token, in place of `assertion`. */
  identityProvider?: IdentityProviderSettings | null;
}

/**
 * The identity provider of an enterprise, where a person has signed in already: it exchanges that person's ID token for
 * an authorization at an MCP server (ID-JAG). Every text may have placeholders.
 */
export interface IdentityProviderSettings {
  /** The issuer of the ID token. */
  issuer: string;
  /** The id of the client that the ID token was issued to. */
  clientId: string;
  /** The secret of that client, usually `${input:id}`. */
  clientSecret?: string | null;
  /** The ID token of the person. */
  idToken?: string | null;
  /** A file with the ID token, in place of `idToken`; it is read for each request for tokens. */
  idTokenFile?: string | null;
}

/** The members that the configurations of MCP servers on the network have. */
export interface NetworkMCPServerConfig extends BaseMCPServerConfig {
  /**
   * Whether and how the Computer signs in by OAuth; `true` means that everything is found by discovery. When absent, the
   * Computer uses OAuth once `auth login` was run. Not in the specification: `client:get_config` does not show it.
   */
  oauth?: boolean | OAuthSettings | null;
}

/** An MCP server over Streamable HTTP. */
export interface MCPServerStreamableHttpConfig extends NetworkMCPServerConfig {
  /** The transport. */
  type: "streamable";
  /** How to start or reach the MCP server. */
  server_parameters: MCPServerStreamableHttpParameters;
}

/** How to reach an MCP server over HTTP with Server-Sent Events. */
export interface MCPSSEParameters {
  /** The URL of the endpoint. */
  url: string;
  /** HTTP headers of each request. */
  headers: Record<string, unknown> | null;
  /** The time until the response to an HTTP request begins, in seconds; also for opening the event stream. */
  timeout: number | InputPlaceholder;
  /** How long the event stream may be silent before it counts as broken and the Computer reconnects, in seconds. */
  sse_read_timeout: number | InputPlaceholder;
}

/** An MCP server over HTTP with Server-Sent Events. */
export interface MCPSSEConfig extends NetworkMCPServerConfig {
  /** The transport. */
  type: "sse";
  /** How to start or reach the MCP server. */
  server_parameters: MCPSSEParameters;
}

/** How the Computer signs in at an MCP server; `undefined` when the configuration does not say it. */
export function oauthOf(config: MCPServerConfig): boolean | OAuthSettings | undefined {
  return (config.type === "stdio" ? undefined : config.oauth) ?? undefined;
}

/** What an MCP server may reach; `undefined` when its configuration does not limit it. */
export function sandboxOf(config: MCPServerConfig): SandboxSettings | undefined {
  return (config.type === "stdio" ? config.sandbox : undefined) ?? undefined;
}

/** Whether tokens are obtained without a person. */
export function isServiceGrant({ grant }: OAuthSettings): boolean {
  return grant === "client_credentials" || grant === "jwt_bearer";
}

/** An MCP server of any transport. */
export type MCPServerConfig = MCPServerStdioConfig | MCPServerStreamableHttpConfig | MCPSSEConfig;

/** A configuration with values in place of all placeholders. */
export type Resolved<C extends MCPServerConfig> = C extends MCPServerConfig ?
    & C
    & {
      server_parameters: {
        [K in keyof C["server_parameters"]]: Exclude<C["server_parameters"][K], InputPlaceholder>;
      };
    }
  : never;

/** An MCP server of any transport, with values in place of all placeholders. */
export type ResolvedServerConfig = Resolved<MCPServerConfig>;

/** The members that all inputs have. `${input:id}` is replaced by the value of the input. */
export interface MCPServerInputBase {
  /** The `id` in `${input:id}`. */
  id: string;
  /** The question to ask for a value. */
  description: string;
}

/** An input whose value is asked for. */
export interface MCPServerPromptStringInput extends MCPServerInputBase {
  /** The type of the input. */
  type: "promptString";
  /** The value when no other source has one. */
  default?: string | null;
  /** Whether the value is a secret: hidden while it is typed, and masked in all output. */
  password?: boolean | null;
}

/** An input whose value is one of several options. */
export interface MCPServerPickStringInput extends MCPServerInputBase {
  /** The type of the input. */
  type: "pickString";
  /** The options; at least one. */
  options: string[];
  /**
   * What a person is shown in place of each option, in the same order. Not on the wire: from protocol 0.3 on, an option
   * there is `{ label, value }`.
   */
  option_labels?: string[];
  /** The value when no other source has one. */
  default?: string | null;
}

/** An input whose value is the output of a command. */
export interface MCPServerCommandInput extends MCPServerInputBase {
  /** The type of the input. */
  type: "command";
  /** A command line for the shell. */
  command: string;
  /** Appended to the command line as `--key value`, quoted. */
  args?: Record<string, string> | null;
}

/** An input of any kind. */
export type MCPServerInput = MCPServerPromptStringInput | MCPServerPickStringInput | MCPServerCommandInput;

/** `client:get_config`. */
export interface GetComputerConfigReq extends AgentCallData {
  /** The name of the Computer. */
  computer: string;
}

/** An input in the answer to `client:get_config`; from protocol 0.3 on, an option is `{ label, value }`. */
export type ShownInput =
  | MCPServerInput
  | Omit<MCPServerPickStringInput, "options"> & { options: { label: string; value: string }[] };

/** The answer to `client:get_config` as a Computer sends it. */
export interface SentComputerConfig {
  /** The definitions of the inputs, without their values. */
  inputs: ShownInput[];
  /** The MCP servers by name, from protocol 0.3 on by `bundle_id`. */
  servers: Record<string, MCPServerConfig>;
}

/** The answer to `client:get_config`: placeholders are kept, and secrets are masked. */
export interface GetComputerConfigRet {
  /** The definitions of the inputs, without their values. */
  inputs?: MCPServerInput[] | null;
  /** The MCP servers by name. */
  servers: Record<SERVER_NAME, MCPServerConfig>;
}
