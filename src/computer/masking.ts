/** What an Agent may see of a configuration: placeholders as written, secrets as `***`. */
import type {
  GetComputerConfigRet,
  MCPServerConfig,
  MCPServerInput,
  MCPServerStdioParameters,
} from "../protocol/config.ts";
import type { ComputerConfig } from "./config.ts";
import { PLACEHOLDER } from "./inputs.ts";

const MASK = "***";
const SECRET_NAME =
  /token|secret|passw|pwd|api[-_]?key|auth|credential|private[-_]?key|access[-_]?key|bearer/i;

/** The configuration as `client:get_config` shows it. */
export function maskConfig({ servers, inputs }: ComputerConfig): GetComputerConfigRet {
  return {
    inputs: inputs.map(maskInput),
    servers: Object.fromEntries(servers.map((config) => [config.name, maskServer(config)])),
  };
}

function maskServer(config: MCPServerConfig): MCPServerConfig {
  const shared = { ...config, default_tool_meta: config.default_tool_meta ?? null, vrl: config.vrl ?? null };
  switch (shared.type) {
    case "stdio":
      return { ...shared, server_parameters: maskStdio(shared.server_parameters) };
    case "streamable":
      return { ...shared, server_parameters: maskHttp(shared.server_parameters) };
    case "sse":
      return { ...shared, server_parameters: maskHttp(shared.server_parameters) };
  }
}

function maskStdio(parameters: MCPServerStdioParameters): MCPServerStdioParameters {
  return { ...parameters, args: maskArguments(parameters.args), env: maskValues(parameters.env) };
}

function maskHttp<T extends { url: string; headers: Record<string, unknown> | null }>(parameters: T): T {
  return { ...parameters, url: maskUrl(parameters.url), headers: maskValues(parameters.headers) };
}

function maskInput(input: MCPServerInput): MCPServerInput {
  switch (input.type) {
    case "promptString":
      return input.password === true && typeof input.default === "string"
        ? { ...input, default: MASK }
        : input;
    case "pickString":
      return input;
    case "command":
      return { ...input, command: MASK, args: maskValues(input.args ?? null) };
  }
}

/** Masks what is literal; `Bearer ${input:token}` shows as `***${input:token}`. */
function maskLiteral(value: string): string {
  const placeholders = value.match(PLACEHOLDER);
  if (placeholders === null) return MASK;
  const literals = value.split(new RegExp(PLACEHOLDER.source.replace("([", "(?:["), "g"));
  return literals.map((literal, index) => (literal === "" ? "" : MASK) + (placeholders[index] ?? "")).join(
    "",
  );
}

function maskValues<T extends Record<string, unknown> | null>(values: T): T;
function maskValues(values: Record<string, unknown> | null): Record<string, string> | null {
  if (values === null) return null;
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, maskLiteral(String(value))]),
  );
}

/** Masks `--token=…`, the argument after `--api-key`, `NAME=…` where the name says so, and what a URL carries. */
function maskArguments(args: readonly string[]): string[] {
  return args.map((arg, index) => {
    const before = args[index - 1];
    if (
      before !== undefined && /^--?[\w-]+$/.test(before) && SECRET_NAME.test(before) && !arg.startsWith("-")
    ) {
      return maskLiteral(arg);
    }
    const pair = /^([\w.-]+)=(.*)$/s.exec(arg);
    const [, name = "", value = ""] = pair ?? [];
    if (pair !== null && SECRET_NAME.test(name)) return `${name}=${maskLiteral(value)}`;
    return maskUrl(arg);
  });
}

/** Masks the user information and the query values of a URL, without reading it closer: placeholders may be in it. */
function maskUrl(url: string): string {
  const parts = /^([a-z][a-z\d+.-]*:\/\/)([^/?#@]*@)?([^?#]*)(\?[^#]*)?(#.*)?$/is.exec(url);
  if (parts === null) return url;
  const [, scheme = "", user, rest = "", query = "", fragment = ""] = parts;
  const userPart = user === undefined ? "" : `${maskLiteral(user.slice(0, -1))}@`;
  return scheme + userPart + rest + query.replaceAll(/=([^&]+)/g, (_, value) => `=${maskLiteral(value)}`) +
    fragment;
}
