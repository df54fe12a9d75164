/** Flat server entries, without `server_parameters`, as other programs write them. */
import { z } from "zod";
import type { MCPServerConfig, OAuthSettings, SandboxSettings } from "../../protocol/config.ts";
import {
  approval,
  bundleId,
  elicitation,
  mcpVersion,
  oauthSettings,
  onChange,
  sandbox,
  toolMeta,
} from "../../protocol/schemas/config.ts";
import type { ToolMeta } from "../../protocol/tools.ts";

/** The members of all flat entries. */
export interface FlatServer {
  /** The identity of the server from protocol 0.3 on; by default it is derived from the name. */
  bundle_id?: string | null | undefined;
  /** The transport: `stdio`, `http` or `sse`; by default it follows from the other members. */
  type?: string | null | undefined;
  /** Whether the Computer does not start the server. */
  disabled?: boolean | null | undefined;
  /** `false` is the same as `disabled`. */
  enabled?: boolean | null | undefined;
  /** `false` is the same as `disabled`. */
  isActive?: boolean | null | undefined;
  /** Tools that run without a confirmation; `"*"` means all tools. */
  alwaysAllow?: string[] | null | undefined;
  /** The same as `alwaysAllow`. */
  autoApprove?: string[] | null | undefined;
  /** Whether all tools run without a confirmation. */
  trust?: boolean | null | undefined;
  /** Tools that are neither listed nor callable. */
  disabledTools?: string[] | null | undefined;
  /** The same as `disabledTools`. */
  excludeTools?: string[] | null | undefined;
  /** The same as `disabledTools`. */
  forbidden_tools?: string[] | null | undefined;
  /** The only tools that are listed and callable; `*` matches any characters. All tools by default. */
  allowed_tools?: string[] | null | undefined;
  /**
   * Who answers the server's questions: the person at the Computer, the Agent's user, or nobody. By default the person
   * at the Computer, or where nobody is there the Agent's user.
   */
  elicitation?: MCPServerConfig["elicitation"];
  /** Who confirms calls: the person at the Computer, which is the default, or the Agent's user. */
  approval?: MCPServerConfig["approval"];
  /**
   * What becomes of a tool that runs without a confirmation and is listed otherwise than when it was allowed: `"ask"`
   * about each call, `"block"` it, or `"allow"` it, which is the default.
   */
  on_change?: MCPServerConfig["on_change"];
  /**
   * Which versions of MCP to use: with sessions (`"2025"`), without (`"2026"`), or whichever the server speaks
   * (`"auto"`). By default `"2025"` for a program and `"auto"` for Streamable HTTP.
   */
  mcp_version?: MCPServerConfig["mcp_version"];
  /** Whether the server is told that pages of MCP Apps can be shown: some offer them to nobody else. False by default. */
  apps?: boolean | null | undefined;
  /** Metadata by the tool's own name; its keys override those of `default_tool_meta`. */
  tool_meta?: Record<string, ToolMeta> | null | undefined;
  /** Metadata of tools that `tool_meta` does not name; never an alias. */
  default_tool_meta?: ToolMeta | null | undefined;
  /** A VRL script that transforms the tools' results. */
  vrl?: string | null | undefined;
}

/** A program to start. */
export interface FlatStdioServer extends FlatServer {
  /** The program. */
  command: string;
  /** Its arguments. */
  args?: string[] | null | undefined;
  /** Environment variables beyond the few that are passed on. */
  env?: Record<string, string | number | boolean | null> | null | undefined;
  /** The working directory, resolved against the folder of the project. */
  cwd?: string | null | undefined;
  /** A file with lines of `NAME=value`, read when the server starts; `env` overrides it. */
  envFile?: string | null | undefined;
  /** What the server may reach; everything that this user may by default. */
  sandbox?: SandboxSettings | null | undefined;
}

/** A server on the network. */
export interface FlatHttpServer extends FlatServer {
  /** The endpoint. */
  url?: string | null | undefined;
  /** The same as `url`. */
  serverUrl?: string | null | undefined;
  /** The same as `url`, over Streamable HTTP. */
  httpUrl?: string | null | undefined;
  /** HTTP headers of each request. */
  headers?: Record<string, string | number | boolean> | null | undefined;
  /** Whether and how the Computer signs in by OAuth; `true` means that everything is found by discovery. */
  oauth?: boolean | OAuthSettings | null | undefined;
}

/** Other programs' names of the transports, and ours. */
export const TRANSPORTS: ReadonlyMap<string, MCPServerConfig["type"]> = new Map([
  ["stdio", "stdio"],
  ["local", "stdio"],
  ["http", "streamable"],
  ["sse", "sse"],
  ["streamable", "streamable"],
  ["streamable-http", "streamable"],
  ["streamableHttp", "streamable"],
  ["streamable_http", "streamable"],
]);

/** The `type` for any transport with a URL. */
export const TOLD_BY_URL = "remote";

const names = z.array(z.string()).nullish();
const shared = {
  bundle_id: bundleId,
  disabled: z.boolean().nullish(),
  enabled: z.boolean().nullish(),
  isActive: z.boolean().nullish(),
  alwaysAllow: names,
  autoApprove: names,
  trust: z.boolean().nullish(),
  disabledTools: names,
  excludeTools: names,
  forbidden_tools: names,
  allowed_tools: names,
  elicitation,
  approval,
  on_change: onChange,
  mcp_version: mcpVersion,
  apps: z.boolean().nullish(),
  tool_meta: z.record(z.string(), toolMeta).nullish(),
  default_tool_meta: toolMeta.nullish(),
  vrl: z.string().nullish(),
};
const stdioMembers = {
  type: z.enum(["stdio", "local"]).nullish(),
  ...shared,
  command: z.string().min(1),
  args: z.array(z.string()).nullish(),
  env: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])).nullish(),
  cwd: z.string().nullish(),
  envFile: z.string().nullish(),
  sandbox: sandbox.nullish(),
};
const httpMembers = {
  type: z.enum(
    [...TRANSPORTS].flatMap(([type, transport]) => transport === "stdio" ? [] : [type]).concat(TOLD_BY_URL),
  )
    .nullish(),
  ...shared,
  url: z.string().min(1).nullish(),
  serverUrl: z.string().min(1).nullish(),
  httpUrl: z.string().min(1).nullish(),
  headers: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).nullish(),
  oauth: z.union([z.boolean(), oauthSettings]).nullish(),
};

/** The schema of a program to start. */
export const flatStdioServer: z.ZodType<FlatStdioServer> = z.looseObject(stdioMembers);
/** The schema of a server on the network; which member has its URL is not checked. */
export const flatHttpServer: z.ZodType<FlatHttpServer> = z.looseObject(httpMembers);

/** The members that hold the URL. */
export const URL_KEYS = ["url", "serverUrl", "httpUrl"] as const;
/** The members that may have the transport. */
export const TYPE_KEYS = ["type", "transport", "transportType"] as const;
/** All members of flat entries that we support. */
export const FLAT_KEYS: readonly string[] = [
  ...new Set([...Object.keys(stdioMembers), ...Object.keys(httpMembers), ...TYPE_KEYS]),
];
/** The members in which variables are filled in. */
export const VARIABLE_KEYS: readonly string[] = [
  "command",
  "args",
  "env",
  "cwd",
  "envFile",
  "sandbox",
  "headers",
  "oauth",
  ...URL_KEYS,
];
