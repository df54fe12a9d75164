/** Masks the parameters of a server for the owner of the Computer: only the values of secrets are hidden. */
import type { MCPServerConfig, MCPServerInput, MCPServerStdioParameters } from "../../protocol/config.ts";
import { fillPlaceholders, type InputValue, mapTexts, PLACEHOLDER } from "../../config/placeholders.ts";
import { ANY_OPTION_NAME, isSecretName, MASK, maskFallback, maskValue, maskValues } from "./masking.ts";

/** The parameters of a server with placeholders as written and secrets as `***`. */
export function maskSecretParameters(config: MCPServerConfig): MCPServerConfig["server_parameters"] {
  return config.type === "stdio"
    ? maskStdioForOwner(config.server_parameters)
    : maskHttpForOwner(config.server_parameters);
}

function maskHttpForOwner<
  T extends { readonly url: string; readonly headers: Record<string, unknown> | null },
>(
  parameters: T,
): T {
  return {
    ...parameters,
    url: maskUrlForOwner(parameters.url),
    headers: maskValues(parameters.headers, (text) => maskFallback(text)),
  };
}

function maskStdioForOwner(parameters: MCPServerStdioParameters): MCPServerStdioParameters {
  const { env, args } = parameters;
  const shown = Object.entries(env ?? {}).map(([name, value]) => [name, maskNamedForOwner(name, value)]);
  return { ...parameters, args: maskArgumentsForOwner(args), env: env && Object.fromEntries(shown) };
}

/** The owner may see the path of a file. */
function maskLiteralForOwner(value: string): string {
  return maskValue(value, (text) => maskFallback(text));
}

/** Masks `--token=…`, the argument after `--api-key`, `NAME=…` for a secret name, and secrets in URLs. */
function maskArgumentsForOwner(args: readonly string[]): string[] {
  return args.map((arg, index) => {
    const before = args[index - 1];
    const isValue = before !== undefined && ANY_OPTION_NAME.test(before) && isSecretName(before);
    return isValue ? maskLiteralForOwner(arg) : maskArgumentForOwner(arg);
  });
}

/** Masks `NAME=VALUE` and `NAME: VALUE`; the value may be another such pair, or a URL. */
function maskArgumentForOwner(arg: string): string {
  const pair = /^([\w.-]+)(=|:(?!\/\/)\s*)(.*)$/s.exec(arg);
  if (pair === null) return maskUrlForOwner(arg);
  const [, name = "", sign = "", value = ""] = pair;
  return name + sign + maskNamedForOwner(name, value);
}

function maskNamedForOwner(name: string, value: string): string {
  return isSecretName(name) ? maskLiteralForOwner(value) : maskArgumentForOwner(value);
}

/** Masks the user information, the query values and the fragment of a URL, which may contain placeholders. */
function maskUrlForOwner(written: string): string {
  const url = written.replaceAll(PLACEHOLDER, (text) => maskFallback(text, maskUrlForOwner));
  const parts = /^([a-z][a-z\d+.-]*:\/\/)([^/?#]*@)?([^?#]*)(\?[^#]*)?(#.*)?$/is.exec(url);
  if (parts === null) return url;
  const [, scheme = "", user, rest = "", query = "", fragment = ""] = parts;
  const userPart = user === undefined ? "" : `${maskLiteralForOwner(user.slice(0, -1))}@`;
  const maskedQuery = query.replaceAll(/([?&])([^=&]*)(=?)([^&]*)/g, (whole, sign, key, equals, value) => {
    if (equals === "") return key === "" ? whole : sign + maskLiteralForOwner(key);
    return sign + key + equals + (value === "" ? "" : maskLiteralForOwner(value));
  });
  return scheme + userPart + rest + maskedQuery +
    (fragment === "" ? "" : `#${maskLiteralForOwner(fragment.slice(1))}`);
}

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
    const isSecret = input.type === "command" || (input.type === "promptString" && input.password === true);
    const value = isSecret ? MASK : await peek(input);
    if (value !== undefined) values.set(`\${input:${input.id}}`, value);
  }
  const filled = fillPlaceholders(maskSecretParameters(server), values);
  // A masked literal and a masked input may stand side by side.
  return mapTexts(filled, (text) => text.replaceAll(/(?:\*{3}){2,}/g, MASK));
}
