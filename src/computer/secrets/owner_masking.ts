/** What the owner of a Computer is shown of a server: everything but the values of what is named like a secret. */
import type { MCPServerConfig, MCPServerInput, MCPServerStdioParameters } from "../../protocol/config.ts";
import { fillPlaceholders, type InputValue, PLACEHOLDER } from "../../config/placeholders.ts";
import { isSecretName, MASK, maskFallback, maskValue, maskValues } from "./masking.ts";

/** The parameters of a server with placeholders as written, and its secrets as `***`. */
export function maskSecretParameters(config: MCPServerConfig): MCPServerConfig["server_parameters"] {
  return config.type === "stdio" ? maskStdio(config.server_parameters) : maskHttp(config.server_parameters);
}

function maskHttp<T extends { readonly url: string; readonly headers: Record<string, unknown> | null }>(
  parameters: T,
): T {
  return {
    ...parameters,
    url: maskUrl(parameters.url),
    headers: maskValues(parameters.headers, showToOwner),
  };
}

function maskStdio(parameters: MCPServerStdioParameters): MCPServerStdioParameters {
  const { env, args } = parameters;
  const shown = Object.entries(env ?? {}).map(([name, value]) => [name, maskNamed(name, value)]);
  return { ...parameters, args: maskArguments(args), env: env && Object.fromEntries(shown) };
}

function maskLiteral(value: string): string {
  return maskValue(value, showToOwner);
}

/** Where a file is, its owner knows. */
function showToOwner(placeholder: string): string {
  return maskFallback(placeholder);
}

/** Masks `--token=…`, the argument after `--api-key`, `NAME=…` where the name says so, and what a URL carries. */
function maskArguments(args: readonly string[]): string[] {
  return args.map((arg, index) => {
    const before = args[index - 1];
    const isValue = before !== undefined && /^--?[\w.-]+$/.test(before) && isSecretName(before);
    return isValue ? maskLiteral(arg) : maskArgument(arg);
  });
}

/** `NAME=VALUE` and, as in a header, `NAME: VALUE`; the value may be such a pair itself, or a URL. */
function maskArgument(arg: string): string {
  const pair = /^([\w.-]+)(=|:(?!\/\/)\s*)(.*)$/s.exec(arg);
  if (pair === null) return maskUrl(arg);
  const [, name = "", sign = "", value = ""] = pair;
  return name + sign + maskNamed(name, value);
}

function maskNamed(name: string, value: string): string {
  return isSecretName(name) ? maskLiteral(value) : maskArgument(value);
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

/** Where the values come from. */
export interface RenderContext {
  readonly inputs: readonly MCPServerInput[];
  /** The value that an input has without asking anybody or running anything. */
  readonly peek: (input: MCPServerInput) => Promise<InputValue | undefined>;
}

/**
 * Fills in what is known and no secret. Passwords and the output of commands are masked, as are headers, what a URL
 * carries and the values of whatever is named like a secret; what has no value, and variables of the environment, stay
 * as written.
 */
export async function renderParameters(
  server: MCPServerConfig,
  { inputs, peek }: RenderContext,
): Promise<unknown> {
  const values = new Map<string, InputValue>();
  for (const input of inputs) {
    const value = isSecret(input) ? MASK : await peek(input);
    if (value !== undefined) values.set(`\${input:${input.id}}`, value);
  }
  return fillPlaceholders(maskSecretParameters(server), values);
}

function isSecret(input: MCPServerInput): boolean {
  return input.type === "command" || (input.type === "promptString" && input.password === true);
}
