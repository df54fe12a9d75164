/** The credentials of an Agent or a Computer: options, and tokens that are read anew for each connection. */
import { type Command, Option } from "commander";
import { readRegularFile, type RegularFileOptions } from "../files/files.ts";
import type { CredentialsSource } from "../link/credentials.ts";
import { collect, collectPair, parseName, parseUrl } from "./options.ts";
import { UsageError } from "./outcome.ts";
import { DEFAULT_SOCKET_PATH } from "../protocol/server_address.ts";
import { toSeenLine } from "../text/safe_text.ts";
import { PROTOCOL_MINORS, type ProtocolMinor } from "../protocol/version.ts";

const MAX_TOKEN_BYTES = 65_536;
const MAX_CA_FILE_BYTES = 4_194_304;

export interface CredentialOptions {
  readonly token?: string;
  readonly tokenFile?: string;
  readonly tokenCommand?: string;
  readonly auth?: Readonly<Record<string, string>>;
  readonly header?: Readonly<Record<string, string>>;
  readonly caFile?: string;
}

/** `--token`, `--token-file`, `--token-command`, `--auth FIELD=VALUE`, `--header NAME=VALUE`, `--ca-file`. */
export function credentialOptions(): Option[] {
  return [
    new Option("--token <token>", "the token, sent as the auth field `token`").env("A2C_TOKEN"),
    new Option("--token-file <file>", "a file with the token, read anew for each connection")
      .env("A2C_TOKEN_FILE"),
    new Option(
      "--token-command <command>",
      "a shell command that prints the token, run anew for each connection",
    ).env("A2C_TOKEN_COMMAND"),
    new Option("--auth <FIELD=VALUE>", "a field of the Socket.IO auth object; repeatable")
      .argParser(collectPair).default({}, "none").env("A2C_AUTH"),
    new Option("--header <NAME=VALUE>", "an HTTP header of the connection; repeatable")
      .argParser(collectPair).default({}, "none").env("A2C_HEADER"),
    new Option("--ca-file <file>", "trust the certificate authorities in this PEM file").env("A2C_CA_FILE"),
  ];
}

/** The options of which one gives the token. */
const TOKEN_OPTIONS = ["token", "tokenFile", "tokenCommand"] as const;

/** A token of the command line overrides those of the environment, in which a user may have one for another Server. */
export function preferGivenToken(program: Command): void {
  program.hook("preAction", () => {
    const isGiven = (name: string) => program.getOptionValueSource(name) === "cli";
    if (!TOKEN_OPTIONS.some(isGiven)) return;
    for (const name of TOKEN_OPTIONS) {
      if (!isGiven(name)) program.setOptionValueWithSource(name, undefined, "default");
    }
  });
}

export interface LinkCredentials {
  readonly auth: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly credentials: CredentialsSource | undefined;
  readonly ca: string | undefined;
}

/**
 * Reads the options; `--auth token=…` overrides `--token`.
 *
 * @throws {UsageError} when two of them give the token, or a file cannot be read.
 */
export async function readCredentials(
  options: CredentialOptions & { readonly url?: string | undefined },
): Promise<LinkCredentials> {
  const { token, tokenFile, tokenCommand, auth = {}, header: headers = {}, caFile, url } = options;
  const given = Object.entries({
    "--token": token,
    "--token-file": tokenFile,
    "--token-command": tokenCommand,
  })
    .filter(([, value]) => value !== undefined).map(([name]) => name);
  if (given.length > 1) {
    throw new UsageError(`Cannot use ${given.join(" and ")} together: each gives the token`);
  }
  const source = sourceOf({ tokenFile, tokenCommand });
  const ca = caFile === undefined ? undefined : await readCa(caFile);
  return {
    auth: token === undefined ? auth : { token, ...auth },
    headers,
    credentials: source === undefined
      ? !usesMachine(options) || url === undefined ? undefined : await machineCredentials(url, ca)
      : async ({ signal }) => ({ token: await source(signal), auth, headers }),
    ca,
  };
}

/** Whether the options give no credentials, so that those of a joined machine count. */
export function usesMachine({ token, tokenFile, tokenCommand, auth, header }: CredentialOptions): boolean {
  return [token, tokenFile, tokenCommand].every((each) => each === undefined) &&
    Object.keys({ ...auth, ...header }).length === 0;
}

/** The credentials of this machine for a Server that it has joined by code; `undefined` for another one. */
export async function machineCredentials(
  url: string,
  ca: string | undefined,
): Promise<CredentialsSource | undefined> {
  // Loaded only now, since it reads JWTs.
  const { JoinedServer } = await import("./machine/joined_server.ts");
  return (await JoinedServer.find(url, { ca }))?.source;
}

/** What a user has to do whose credentials the Server refuses. */
export function credentialsRemedy(
  { token, tokenFile, tokenCommand, auth, header }: CredentialOptions,
): string {
  if (tokenFile !== undefined) return `correct the token in ${toSeenLine(tokenFile)} (--token-file)`;
  if (tokenCommand !== undefined) return "correct what --token-command prints";
  if (token !== undefined) return "correct the token of A2C_TOKEN or --token";
  if (Object.keys({ ...auth, ...header }).length > 0) return "correct --auth or --header";
  return "give a token, such as with --token-file, or join by a2c-smcp computer join";
}

function sourceOf(
  { tokenFile, tokenCommand }: Pick<CredentialOptions, "tokenFile" | "tokenCommand">,
): ((signal: AbortSignal) => Promise<string>) | undefined {
  if (tokenFile !== undefined) return () => readTokenFile(tokenFile);
  if (tokenCommand !== undefined) return (signal) => runTokenCommand(tokenCommand, signal);
  return undefined;
}

/**
 * The token of a file, which `refuse` may refuse.
 *
 * @throws {TypeError} it cannot be read, or holds something else. The `cause` is that of the system.
 */
export async function readTokenFile(
  file: string,
  { refuse }: Pick<RegularFileOptions, "refuse"> = {},
): Promise<string> {
  const reading = await readRegularFile(file, { maxBytes: MAX_TOKEN_BYTES, refuse });
  if ("state" in reading) {
    throw new TypeError(`Cannot read token file "${file}": ${reading.state}`, { cause: reading.cause });
  }
  return toToken(reading.text, `token file "${file}"`);
}

async function runTokenCommand(command: string, signal: AbortSignal): Promise<string> {
  // Loaded only now, so that other commands start fast.
  const { runShell } = await import("../mcp/stdio/spawn.ts");
  const { success, code, stdout } = await runShell(command, signal);
  if (!success) throw new TypeError(`Cannot get the token: its command failed with exit code ${code}`);
  return toToken(
    new TextDecoder().decode(stdout.subarray(0, MAX_TOKEN_BYTES)),
    "output of the token command",
  );
}

/** The whole text is the token: a list of tokens, or the message of a failed login, must not be sent. */
function toToken(text: string, place: string): string {
  const token = text.trim();
  if (token !== "" && !/\s/.test(token)) return token;
  throw new TypeError(
    `Cannot use the ${place}: ${token === "" ? "it is empty" : "it has more than a token"}`,
  );
}

export async function readCa(file: string): Promise<string> {
  const reading = await readRegularFile(file, { maxBytes: MAX_CA_FILE_BYTES });
  if ("state" in reading) {
    throw new UsageError(`Cannot read CA file "${file}": ${reading.state}`, { cause: reading.cause });
  }
  if (reading.text.includes("-----BEGIN CERTIFICATE-----")) return reading.text;
  throw new UsageError(`Cannot read CA file "${file}": it has no certificate in PEM form`);
}

/** Where a Computer or an Agent connects, under which name, and with which credentials. */
export interface ConnectionOptions extends CredentialOptions {
  readonly url: string;
  readonly office: string;
  readonly name: string;
  readonly path: string;
  readonly protocol?: ProtocolMinor;
  readonly proxy?: string;
}

/** The same for an Agent, which may be in several offices. */
export interface AgentConnectionOptions extends ConnectionOptions {
  /** The offices, `office` first. */
  readonly offices: readonly string[];
}

/**
 * Adds `--url`, `--office`, `--name`, the credentials, `--proxy`, `--path` and `--protocol`, each also from the environment. All are
 * optional for commander, which would report a missing option before a misspelled command; call `requireOptions` to
 * require some.
 */
export function addConnectionOptions(program: Command, role: "computer" | "agent"): void {
  for (const option of connectionOptions(role)) program.addOption(option);
  preferGivenToken(program);
  program.hook("preAction", () => useProxy(program));
}

/** The variables of `--proxy`: the last four are for the MCP servers that a Computer starts. */
const PROXY_VARIABLES = ["A2C_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"] as const;

async function useProxy(program: Command): Promise<void> {
  const { proxy: value } = program.opts<ConnectionOptions>();
  if (value === undefined) return;
  const isTyped = program.getOptionValueSource("proxy") === "cli";
  const { parseProxy, ProxyError } = await import("../reach/proxies.ts");
  try {
    const { credentials } = parseProxy({ name: isTyped ? "--proxy" : "A2C_PROXY", value });
    if (isTyped && credentials !== undefined) {
      throw new UsageError(
        "Cannot use --proxy with a user name: others on this machine can read the command line; set A2C_PROXY to the same URL",
      );
    }
  } catch (error) {
    throw error instanceof ProxyError ? new UsageError(error.message) : error;
  }
  for (const name of PROXY_VARIABLES) Deno.env.set(name, value);
  if (Deno.env.get("A2C_PROXY") === value) return;
  throw new UsageError("Cannot use --proxy: Deno ignores the environment; run without --ignore-env");
}

function connectionOptions(role: "computer" | "agent"): Option[] {
  return [
    new Option("--url <url>", "the URL of the Server, such as http://127.0.0.1:3000").env("A2C_URL")
      .argParser(parseUrl),
    OFFICE_OPTIONS[role](),
    new Option("--name <name>", NAME_HELP[role]).env("A2C_NAME").argParser(parseName),
    ...credentialOptions(),
    new Option("--proxy <url>", PROXY_HELP[role]).env("A2C_PROXY"),
    new Option("--path <path>", "the Socket.IO path, relative to the path of the URL")
      .default(DEFAULT_SOCKET_PATH).env("A2C_PATH"),
    new Option("--protocol <version>", PROTOCOL_HELP[role]).choices(PROTOCOL_MINORS).env("A2C_PROTOCOL"),
  ];
}

const OFFICE_OPTIONS = {
  agent: () =>
    new Option("--office <office>", "the office to join; repeat it to use several offices at once")
      .env("A2C_OFFICE")
      .argParser((raw: string, earlier?: readonly string[]) => collect(parseName(raw), earlier)),
  computer: () =>
    new Option("--office <office>", "the office to join").env("A2C_OFFICE").argParser(parseName),
};

const NAME_HELP = {
  agent: "the name of this Agent in the office",
  computer: "the name of this Computer in the office; a command reaches the second of a name by NAME@OFFICE",
};

const PROXY_HELP = {
  agent: "the HTTP proxy on the way to the Server (default: that of HTTPS_PROXY or HTTP_PROXY)",
  computer:
    "the HTTP proxy on the way to the Server and to MCP servers (default: that of HTTPS_PROXY or HTTP_PROXY)",
};

const PROTOCOL_HELP = {
  agent: "the protocol version to speak (default: that of the office)",
  computer: 'the protocol version to speak (default: "protocol_version" of the config, or 0.2)',
};
