/**
 * Masks a configuration for the Agent. An allowlist decides what is shown: names (also those of options, variables and
 * headers), placeholders as written, numbers, booleans, and the scheme and host of a URL. Every other text is `***`.
 */
import type {
  GetComputerConfigRet,
  MCPServerConfig,
  MCPServerInput,
  MCPServerStdioParameters,
  SentComputerConfig,
  ShownInput,
} from "../../protocol/config.ts";
import type { ToolMeta } from "../../protocol/tools.ts";
import type { ComputerConfig } from "../../config/config.ts";
import { identifyServers } from "../../config/bundle_id.ts";
import { parsePlaceholder, PLACEHOLDER } from "../../config/placeholders.ts";

/** Replaces a value that is not shown. */
export const MASK = "***";
/** The name of an option: words of letters. With more than two digits at its end it may be a value. */
const OPTION_NAME = /^-(?:[A-Za-z]|-[A-Za-z]+(?:[-_.][A-Za-z]+)*\d{0,2})$/;
const MAX_OPTION_LENGTH = 40;
/** Whatever may be the name of an option: what follows a secret one is hidden from the owner as well. */
export const ANY_OPTION_NAME = /^--?[\w.-]+$/;
const PROGRAM_NAME = /^[A-Za-z][\w.+-]{0,39}$/;
/** A host and port that contain nothing else. */
const AUTHORITY = /^(?:[A-Za-z\d.-]{1,253}|\[[\da-fA-F:.]{2,45}\])(?::\d{1,5})?$/;
const SCHEME = /^[A-Za-z][A-Za-z\d+.-]{0,20}:\/\//;
const ENCODING = /^[A-Za-z][\w.:-]{0,30}$/;
const DURATION = /^P[\dTYMWDHS.,]{1,40}$/;

/** The configuration for `client:get_config` of protocol 0.2. */
export function maskConfig({ servers, inputs }: ComputerConfig): GetComputerConfigRet {
  return {
    inputs: inputs.map(maskInput),
    servers: Object.fromEntries(servers.map((config) => [config.name, maskServer(config)])),
  };
}

/** The configuration for `client:get_config` from protocol 0.3 on: by `bundle_id`, and with labels of options. */
export function maskIdentifiedConfig({ servers, inputs }: ComputerConfig): SentComputerConfig {
  const identified = [...identifyServers(servers).byId];
  return {
    inputs: inputs.map((input) => withLabels(maskInput(input), input)),
    servers: Object.fromEntries(
      identified.map(([bundle_id, config]) => [bundle_id, { ...maskServer(config), bundle_id }]),
    ),
  };
}

function withLabels(masked: MCPServerInput, input: MCPServerInput): ShownInput {
  if (masked.type !== "pickString") return masked;
  const labels = input.type === "pickString" ? input.option_labels : undefined;
  return {
    ...masked,
    options: masked.options.map((value, index) => ({ label: labels?.[index] ?? value, value })),
  };
}

/** Only known members: an unknown one may hold a secret. */
export function maskServer(config: MCPServerConfig): MCPServerConfig {
  const { name, disabled, forbidden_tools, tool_meta, default_tool_meta, vrl } = config;
  const shared = {
    name,
    disabled,
    forbidden_tools,
    tool_meta: Object.fromEntries(Object.entries(tool_meta).map(([tool, meta]) => [tool, knownMeta(meta)])),
    default_tool_meta: default_tool_meta ? knownMeta(default_tool_meta) : null,
    vrl: vrl ? MASK : null,
  };
  switch (config.type) {
    case "stdio":
      return { ...shared, type: config.type, server_parameters: maskStdio(config.server_parameters) };
    case "streamable": {
      const { timeout, sse_read_timeout, terminate_on_close } = config.server_parameters;
      const server_parameters = {
        ...maskHttp(config.server_parameters),
        timeout: maskDuration(timeout),
        sse_read_timeout: maskDuration(sse_read_timeout),
        terminate_on_close,
      };
      return { ...shared, type: config.type, server_parameters };
    }
    case "sse": {
      const { timeout, sse_read_timeout } = config.server_parameters;
      const server_parameters = { ...maskHttp(config.server_parameters), timeout, sse_read_timeout };
      return { ...shared, type: config.type, server_parameters };
    }
  }
}

/** The known metadata of a tool. It needs no mask: the list of tools shows it as well. */
function knownMeta({ auto_apply, ret_object_mapper, alias, tags }: ToolMeta): ToolMeta {
  const meta = { auto_apply, ret_object_mapper, alias, tags };
  return Object.fromEntries(Object.entries(meta).filter(([, value]) => value !== undefined));
}

function maskHttp<T extends Record<string, unknown> | null>(
  { url, headers }: { readonly url: string; readonly headers: T },
): { url: string; headers: T } {
  return { url: maskText(url), headers: maskValues(headers) };
}

function maskStdio(parameters: MCPServerStdioParameters): MCPServerStdioParameters {
  const { command, args, env, cwd, encoding, encoding_error_handler } = parameters;
  return {
    command: maskCommand(command),
    args: maskArguments(args),
    env: maskValues(env),
    cwd: cwd === null ? null : maskLiterals(cwd),
    encoding: ENCODING.test(encoding) ? encoding : maskLiterals(encoding),
    encoding_error_handler,
  };
}

/** The program without its folder. A text with spaces may be a whole command line: its first word is shown. */
function maskCommand(command: string): string {
  if (command.search(PLACEHOLDER) >= 0) return maskLiterals(command);
  const [first = "", ...rest] = /\.(?:exe|cmd|bat)$/i.test(command) ? [command] : command.split(/\s+/);
  const name = first.split(/[\\/]/).at(-1) ?? "";
  return PROGRAM_NAME.test(name) ? [name, ...rest.length > 0 ? [MASK] : []].join(" ") : MASK;
}

/** An argument after the name of a secret is always masked. */
function maskArguments(args: readonly string[]): string[] {
  return args.map((arg, index) => {
    const before = args[index - 1] ?? "";
    return isOptionName(before) && isSecretName(before) ? maskLiterals(arg) : maskArgument(arg);
  });
}

/** `--name`, `-x`, `--name=value`, a URL, or a value. */
function maskArgument(arg: string): string {
  if (isOptionName(arg)) return arg;
  const cut = arg.indexOf("=");
  const name = arg.slice(0, cut);
  if (cut > 0 && isOptionName(name)) {
    return `${name}=${isSecretName(name) ? maskLiterals(arg.slice(cut + 1)) : maskText(arg.slice(cut + 1))}`;
  }
  return maskText(arg);
}

function isOptionName(text: string): boolean {
  return text.length <= MAX_OPTION_LENGTH && OPTION_NAME.test(text);
}

/** Shows the scheme and host of a URL, and placeholders; masks everything else. */
function maskText(text: string): string {
  const [scheme] = SCHEME.exec(text) ?? [];
  if (scheme === undefined) return maskLiterals(text);
  const rest = text.slice(scheme.length);
  const end = rest.search(/[/?#]|\$\{/);
  const authority = end < 0 ? rest : rest.slice(0, end);
  const tail = end < 0 ? "" : rest.slice(end);
  const host = authority.slice(authority.lastIndexOf("@") + 1);
  // In "https://user:pa/ss@host" the slash is part of the password: "user:pa" is then no host, and "@" follows it.
  const isHost = AUTHORITY.test(host) && !tail.includes("@") && !tail.startsWith("${") &&
    authority.indexOf("@") === authority.lastIndexOf("@");
  if (!isHost) return scheme + maskLiterals(rest);
  const user = authority === host ? "" : `${MASK}@`;
  return scheme + user + host + (tail.startsWith("/") ? "/" : "") + maskLiterals(tail.replace(/^\//, ""));
}

/** Turns a placeholder into the text that is shown. */
type ShowPlaceholder = (text: string) => string;

/** Masks literal text: `Bearer ${input:token}` becomes `***${input:token}`. */
function maskLiterals(value: string, show: ShowPlaceholder = showToAgent): string {
  const placeholders = value.match(PLACEHOLDER) ?? [];
  return value.split(PLACEHOLDER)
    .map((literal, index) => (literal === "" ? "" : MASK) + show(placeholders[index] ?? ""))
    .join("");
}

/** The same, but masks an empty value too. */
export function maskValue(value: string, show?: ShowPlaceholder): string {
  return value === "" ? MASK : maskLiterals(value, show);
}

/** A placeholder as the Agent sees it: without the path of a file or the default of a variable. */
function showToAgent(text: string): string {
  return parsePlaceholder(text)?.kind === "file" ? `\${file:${MASK}}` : maskFallback(text);
}

/** Masks the default of a variable: `${env:TOKEN:-abc}` becomes `${env:TOKEN:-***}`. */
export function maskFallback(text: string, mask: (fallback: string) => string = () => MASK): string {
  const placeholder = parsePlaceholder(text);
  if (placeholder?.kind !== "env" || placeholder.fallback === undefined) return text;
  const { name, fallback } = placeholder;
  return `\${env:${name}:-${fallback === "" ? "" : mask(fallback)}}`;
}

export function maskValues<T extends Record<string, unknown> | null>(values: T, show?: ShowPlaceholder): T;
export function maskValues(
  values: Record<string, unknown> | null,
  show?: ShowPlaceholder,
): Record<string, string> | null {
  if (values === null) return null;
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, maskValue(String(value), show)]),
  );
}

function maskDuration(text: string): string {
  return DURATION.test(text) ? text : maskLiterals(text);
}

/** The definition of an input. Its default is shown only when it is one of the options. */
function maskInput(input: MCPServerInput): MCPServerInput {
  const { id, description } = input;
  switch (input.type) {
    case "promptString": {
      const { type, password } = input;
      const preset = typeof input.default === "string" ? { default: MASK } : {};
      return { id, description, type, ...preset, ...(password === undefined ? {} : { password }) };
    }
    case "pickString": {
      const { type, options } = input;
      const preset = options.find((option) => option === input.default);
      return { id, description, type, options, ...(preset === undefined ? {} : { default: preset }) };
    }
    case "command":
      return { id, description, type: input.type, command: MASK, args: maskValues(input.args ?? null) };
  }
}

/** Parts of names that mean a secret anywhere in the name. */
const SECRET_PART =
  /token|secret|passw|passphrase|pwd|api[-_]?key|auth|credential|private|access[-_]?key|bearer|cookie|signature|connection[-_]?string|webhook/i;
/** Words that mean a secret only as whole words: "path" and "ping" contain "pat" and "pin". */
const SECRET_WORDS: ReadonlySet<string> = new Set(
  ["key", "keys", "pass", "pat", "jwt", "pin", "pw", "sas", "otp", "dsn", "sig", "creds", "session"],
);
/** Longer names count as secret, in characters. */
const MAX_CHECKED_NAME_LENGTH = 200;

/** Whether the value of an option, variable, header or member with this name is usually a secret. */
export function isSecretName(name: string): boolean {
  if (name.length > MAX_CHECKED_NAME_LENGTH) return true;
  return SECRET_PART.test(name) || wordsOf(name).some((word) => SECRET_WORDS.has(word));
}

/** The words of a name: the same for `--githubPAT`, `GITHUB_PAT` and `github.pat`. */
function wordsOf(name: string): string[] {
  return name.replace(/([a-z\d])(?=[A-Z])/g, "$1 ").toLowerCase().split(/[^a-z]+/);
}
