/** What an Agent may see of a configuration: placeholders as written, secrets as `***`. */
import type {
  GetComputerConfigRet,
  MCPServerConfig,
  MCPServerInput,
  MCPServerStdioParameters,
} from "../protocol/config.ts";
import type { ComputerConfig } from "./config/config.ts";
import { parsePlaceholder, PLACEHOLDER } from "./config/placeholders.ts";

/** What stands for a secret. */
export const MASK = "***";
/** What a secret is usually called. */
export const SECRET_NAME: RegExp =
  /token|secret|passw|pwd|api[-_]?key|auth|credential|private[-_]?key|access[-_]?key|bearer/i;

/** The configuration as `client:get_config` shows it. */
export function maskConfig({ servers, inputs }: ComputerConfig): GetComputerConfigRet {
  return {
    inputs: inputs.map(maskInput),
    servers: Object.fromEntries(servers.map((config) => [config.name, maskServer(config)])),
  };
}

/** Member by member: an unknown one may hold anything. */
export function maskServer(config: MCPServerConfig): MCPServerConfig {
  const { name, disabled, forbidden_tools, tool_meta } = config;
  const shared = {
    name,
    disabled,
    forbidden_tools,
    tool_meta,
    default_tool_meta: config.default_tool_meta ?? null,
    vrl: config.vrl ?? null,
  };
  switch (config.type) {
    case "stdio":
      return { ...shared, type: config.type, server_parameters: maskStdio(config.server_parameters) };
    case "streamable": {
      const { url, headers, timeout, sse_read_timeout, terminate_on_close } = config.server_parameters;
      const rest = { timeout, sse_read_timeout, terminate_on_close };
      return { ...shared, type: config.type, server_parameters: { ...maskHttp({ url, headers }), ...rest } };
    }
    case "sse": {
      const { url, headers, timeout, sse_read_timeout } = config.server_parameters;
      const rest = { timeout, sse_read_timeout };
      return { ...shared, type: config.type, server_parameters: { ...maskHttp({ url, headers }), ...rest } };
    }
  }
}

function maskStdio(parameters: MCPServerStdioParameters): MCPServerStdioParameters {
  const { command, args, env, cwd, encoding, encoding_error_handler } = parameters;
  return { command, args: maskArguments(args), env: maskValues(env), cwd, encoding, encoding_error_handler };
}

function maskHttp(
  { url, headers }: { readonly url: string; readonly headers: Record<string, unknown> | null },
): { url: string; headers: Record<string, unknown> | null } {
  return { url: maskUrl(url), headers: maskValues(headers) };
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
  return value.split(PLACEHOLDER)
    .map((literal, index) => (literal === "" ? "" : MASK) + maskFallback(placeholders[index] ?? ""))
    .join("");
}

/** `${env:TOKEN:-abc}` shows as `${env:TOKEN:-***}`. */
function maskFallback(text: string, mask: (fallback: string) => string = () => MASK): string {
  const placeholder = parsePlaceholder(text);
  if (placeholder?.kind !== "env" || placeholder.fallback === undefined) return text;
  return `\${env:${placeholder.name}:-${mask(placeholder.fallback)}}`;
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
    const isValue = before !== undefined && /^--?[\w.-]+$/.test(before) && SECRET_NAME.test(before);
    return isValue && !arg.startsWith("--") ? maskLiteral(arg) : maskArgument(arg);
  });
}

/** `NAME=VALUE` and, as in a header, `NAME: VALUE`; the value may be such a pair itself, or a URL. */
function maskArgument(arg: string): string {
  const pair = /^([\w.-]+)(=|:(?!\/\/)\s*)(.*)$/s.exec(arg);
  if (pair === null) return maskUrl(arg);
  const [, name = "", sign = "", value = ""] = pair;
  return name + sign + (SECRET_NAME.test(name) ? maskLiteral(value) : maskArgument(value));
}

/** Masks the user information, the query values and the fragment of a URL, which may have placeholders in it. */
function maskUrl(written: string): string {
  const url = written.replaceAll(PLACEHOLDER, (text) => maskFallback(text, maskUrl));
  const parts = /^([a-z][a-z\d+.-]*:\/\/)([^/?#]*@)?([^?#]*)(\?[^#]*)?(#.*)?$/is.exec(url);
  if (parts === null) return url;
  const [, scheme = "", user, rest = "", query = "", fragment = ""] = parts;
  const userPart = user === undefined ? "" : `${maskLiteral(user.slice(0, -1))}@`;
  const maskedQuery = query.replaceAll(/([?&])([^=&]*)(=?)([^&]*)/g, (whole, sign, key, equals, value) => {
    if (equals === "") return key === "" ? whole : sign + maskLiteral(key);
    return sign + key + equals + (value === "" ? "" : maskLiteral(value));
  });
  return scheme + userPart + rest + maskedQuery +
    (fragment === "" ? "" : `#${maskLiteral(fragment.slice(1))}`);
}
