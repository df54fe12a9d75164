/** Masks the parameters of a server for the owner of the Computer: only the values of secrets are hidden. */
import type { MCPServerConfig, MCPServerInput, MCPServerStdioParameters } from "../../protocol/config.ts";
import { fillPlaceholders, type InputValue, PLACEHOLDER } from "../../config/placeholders.ts";
import { isSecretName, MASK, maskFallback, maskValue, maskValues } from "./masking.ts";

/** The parameters of a server with placeholders as written and secrets as `***`. */
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

/** The owner may see the path of a file. */
function showToOwner(placeholder: string): string {
  return maskFallback(placeholder);
}

/** Masks `--token=…`, the argument after `--api-key`, `NAME=…` for a secret name, and secrets in URLs. */
function maskArguments(args: readonly string[]): string[] {
  return args.map((arg, index) => {
    const before = args[index - 1];
    const isValue = before !== undefined && /^--?[\w.-]+$/.test(before) && isSecretName(before);
    return isValue ? maskLiteral(arg) : maskArgument(arg);
  });
}

/** Masks `NAME=VALUE` and `NAME: VALUE`; the value may be another such pair, or a URL. */
function maskArgument(arg: string): string {
  const pair = /^([\w.-]+)(=|:(?!\/\/)\s*)(.*)$/s.exec(arg);
  if (pair === null) return maskUrl(arg);
  const [, name = "", sign = "", value = ""] = pair;
  return name + sign + maskNamed(name, value);
}

function maskNamed(name: string, value: string): string {
  return isSecretName(name) ? maskLiteral(value) : maskArgument(value);
}

/** Masks the user information, the query values and the fragment of a URL, which may contain placeholders. */
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

/** The values of inputs. */
export interface RenderContext {
  readonly inputs: readonly MCPServerInput[];
  /** Gives the value of an input without asking a person or running a command. */
  readonly peek: (input: MCPServerInput) => Promise<InputValue | undefined>;
}

/**
 * The parameters with which a server would start now. Inputs with a value are replaced; inputs without one and variables
 * of the environment stay as written. Masked are passwords, the output of commands, headers, secrets in URLs and the
 * values of secret names.
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
