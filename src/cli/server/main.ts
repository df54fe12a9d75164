/** The command line of `server.ts`. */
import { untilAborted } from "../../async/abortable.ts";
import { commandLineOf, createProgram, helpPart, runProgram } from "../program.ts";
import { UsageError } from "../outcome.ts";
import { collect, loggerOf, type LogOptions, parseMilliseconds, parsePort, wholeNumber } from "../options.ts";
import { type Command, Option } from "commander";
import { readRegularFile } from "../../files.ts";
import { type Logger, parseLogLevels } from "../../log.ts";
import { describeError } from "../../text.ts";
import { DEFAULT_SOCKET_PATH, isLoopback } from "../../protocol/server_address.ts";
import type { AuthProvider } from "../../server/auth/provider.ts";
import { staticTokens, type StaticTokensOptions } from "../../server/auth/static_tokens.ts";
import { DEFAULT_ACCEPTED_VERSIONS } from "../../server/admission/handshake.ts";
import {
  DEFAULT_MAX_PAYLOAD_BYTES,
  DEFAULT_MAX_STRANGERS,
  DEFAULT_MAX_STRANGERS_PER_ADDRESS,
  DEFAULT_PING_INTERVAL_MS,
  DEFAULT_PING_TIMEOUT_MS,
} from "../../server/limits.ts";
import type { ListenOptions } from "../../server/options.ts";
import type { SmcpServer } from "../../server/server.ts";

/** The largest token file, in bytes. */
const MAX_TOKEN_FILE_BYTES = 1_048_576;

interface ServerCliOptions extends LogOptions {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly token?: readonly string[];
  readonly tokenFile?: string;
  readonly authField: string;
  readonly authHeader: string;
  readonly allowAnonymous?: boolean;
  readonly allowOrigin?: readonly string[];
  readonly allowHost?: readonly string[];
  readonly allowUnversioned?: boolean;
  readonly accept?: readonly string[];
  readonly maxPayload: number;
  readonly pingInterval: number;
  readonly pingTimeout: number;
  readonly maxPending: number;
  readonly maxPendingPerAddress: number;
  readonly maxSockets?: number;
}

/** Runs a Server until Ctrl-C or SIGTERM and returns the exit code. */
export function runServerCli(args: readonly string[]): Promise<number> {
  return runProgram(args, createServerProgram);
}

/**
 * Declares the Server's options.
 *
 * @param signal Ends the Server.
 */
export function createServerProgram(signal: AbortSignal): Command {
  const program = createProgram(
    "server",
    "Run the A2C-SMCP Server, which relays messages between the Agent and the Computers of each office.",
  );
  for (const option of [...addressOptions(), ...admissionOptions(), ...limitOptions()]) {
    program.addOption(option);
  }
  program.addHelpText("after", examples(commandLineOf("server")));
  return program.action((options: ServerCliOptions) => serve(options, signal));
}

function examples(server: string): string {
  return helpPart(
    "Examples:",
    `  ${server}
  ${server} --port 8080 --token "$(openssl rand -hex 16)"
  ${server} --host 0.0.0.0 --token-file tokens.txt --ping-interval 25s`,
  );
}

function addressOptions(): Option[] {
  return [
    new Option("--host <host>", "the name or address to listen on").default("127.0.0.1").env("A2C_HOST"),
    new Option("--port <port>", "the port to listen on, 0 for any free port").argParser(parsePort).default(
      3000,
    ).env("PORT"),
    new Option("--path <path>", "the Socket.IO path").default(DEFAULT_SOCKET_PATH).env("A2C_PATH"),
  ];
}

function admissionOptions(): Option[] {
  return [
    new Option("--token <token>", "accept clients with this token; repeatable").argParser(collect)
      .env("A2C_TOKEN"),
    new Option("--token-file <file>", "accept the tokens in this file, one per line").env(
      "A2C_TOKEN_FILE",
    ),
    new Option("--auth-field <name>", "the auth field that carries the token").default("token")
      .env("A2C_AUTH_FIELD"),
    new Option("--auth-header <name>", "the HTTP header that carries the token of older clients").default(
      "x-api-key",
    )
      .env("A2C_AUTH_HEADER"),
    new Option("--allow-anonymous", "serve other machines without requiring a token"),
    new Option("--allow-origin <origin...>", "origins of web pages that can connect, * for all"),
    new Option(
      "--allow-host <host...>",
      "without tokens: accepted values of the Host header, * for all",
    ),
    new Option("--allow-unversioned", "accept clients of protocol 0.1, which send no version"),
    new Option(
      "--accept <MAJOR.MINOR...>",
      `accepted protocol versions (default: ${DEFAULT_ACCEPTED_VERSIONS.join(" ")})`,
    ),
  ];
}

function limitOptions(): Option[] {
  return [
    new Option("--max-payload <bytes>", "the largest message, in bytes").argParser(wholeNumber(1))
      .default(DEFAULT_MAX_PAYLOAD_BYTES).env("A2C_MAX_PAYLOAD"),
    new Option("--ping-interval <ms>", "the time between heartbeats of a connection").argParser(
      parseMilliseconds,
    )
      .default(DEFAULT_PING_INTERVAL_MS).env("A2C_PING_INTERVAL"),
    new Option("--ping-timeout <ms>", "the time to answer a heartbeat").argParser(parseMilliseconds)
      .default(DEFAULT_PING_TIMEOUT_MS).env("A2C_PING_TIMEOUT"),
    new Option("--max-pending <count>", "the most connections that are not authenticated yet")
      .argParser(wholeNumber(1)).default(DEFAULT_MAX_STRANGERS).env("A2C_MAX_PENDING"),
    new Option("--max-pending-per-address <count>", "the same limit for one address; raise it behind a proxy")
      .argParser(wholeNumber(1)).default(DEFAULT_MAX_STRANGERS_PER_ADDRESS)
      .env("A2C_MAX_PENDING_PER_ADDRESS"),
    new Option(
      "--max-sockets <count>",
      "the most TCP connections (default: from the limit of open files)",
    )
      .argParser(wholeNumber(1)).env("A2C_MAX_SOCKETS"),
  ];
}

async function serve(options: ServerCliOptions, signal: AbortSignal): Promise<void> {
  const logger = loggerOf("server", options);
  const tokens = await readTokens(options);
  await using server = await listen(toListenOptions(options, { tokens, logger }));
  if (tokens === undefined) logger.warn("clients need no credentials; give --token to require a token");
  tellListening(options, server.url);
  const failure = await Promise.race([untilAborted(signal), server.untilFailed()]);
  if (failure !== undefined) throw failure;
  logger.info("closing");
}

/** The tokens of the command line, the environment and the file; `undefined` without any of these options. */
async function readTokens({ token, tokenFile }: ServerCliOptions): Promise<readonly string[] | undefined> {
  if (tokenFile === undefined) return token;
  const reading = await readRegularFile(tokenFile, { maxBytes: MAX_TOKEN_FILE_BYTES });
  if ("state" in reading) {
    const { state, cause } = reading;
    throw new UsageError(`Cannot read token file "${tokenFile}": ${state}`, { cause });
  }
  const inFile = reading.text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  if (inFile.length === 0) {
    throw new UsageError(`Cannot read token file "${tokenFile}": it contains no token`);
  }
  return [...token ?? [], ...inFile];
}

async function listen(options: ListenOptions): Promise<SmcpServer> {
  const { host = "", auth, allowAnonymous } = options;
  if (auth === undefined && !allowAnonymous && !isLoopback(host)) throw new UsageError(explainHost(host));
  try {
    // Loaded only now, so that --help and a wrong command line are fast.
    const { SmcpServer } = await import("../../server/server.ts");
    return await SmcpServer.listen(options);
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
    throw new UsageError(error.message, { cause: error });
  }
}

function explainHost(host: string): string {
  return `Cannot serve on "${host}" without credentials: add --token TOKEN or --token-file FILE, ` +
    "or --allow-anonymous to serve every client that can reach this address";
}

function toListenOptions(
  options: ServerCliOptions,
  { tokens, logger }: { readonly tokens: readonly string[] | undefined; readonly logger: Logger },
): ListenOptions {
  const { authField: field, authHeader: header } = options;
  return {
    host: options.host,
    port: options.port,
    path: options.path,
    auth: tokens && staticTokensOf({ tokens, field, header }),
    allowAnonymous: options.allowAnonymous,
    allowedOrigins: options.allowOrigin,
    allowedHosts: options.allowHost,
    allowUnversioned: options.allowUnversioned,
    acceptedVersions: options.accept,
    maxPayloadBytes: options.maxPayload,
    pingIntervalMs: options.pingInterval,
    pingTimeoutMs: options.pingTimeout,
    maxPendingConnections: options.maxPending,
    maxPendingConnectionsPerAddress: options.maxPendingPerAddress,
    maxSockets: options.maxSockets,
    logger,
  };
}

function staticTokensOf(options: StaticTokensOptions): AuthProvider {
  try {
    return staticTokens(options);
  } catch (cause) {
    throw new UsageError(describeError(cause), { cause });
  }
}

/** Prints the URL on standard output: a line of text, or a JSON log line with `--log-format json`. */
function tellListening({ logFormat }: ServerCliOptions, url: string): void {
  if (logFormat === "text") return console.log(`listening on ${url}`);
  const logger = loggerOf("server", { logFormat, logLevel: parseLogLevels("info"), write: console.log });
  logger.info("listening", { url });
}
