/** The command line of `server.ts`. */
import { untilAborted } from "../../async/abortable.ts";
import { commandLineOf, createProgram, helpPart, InterruptedError, runProgram } from "../program.ts";
import { CommandFailedError, ExitCode, UsageError } from "../outcome.ts";
import { announce, loggerOf } from "../options.ts";
import type { Command } from "commander";
import { isRecord } from "../../json/json.ts";
import { openAuditFile, withAuditFile } from "./audit_file.ts";
import { checkJwtOptions, openAuth, toUsageError } from "./credentials.ts";
import { completeOptions, misspeltVariables } from "./option_sources.ts";
import {
  refuseRemovedFlags,
  refuseRemovedVariables,
  type ServerCliOptions,
  serverOptionGroups,
} from "./options.ts";
import { readRegularFile } from "../../files/files.ts";
import type { Logger } from "../../log.ts";
import { isLoopback } from "../../protocol/server_address.ts";
import { OPTION_NAMES, rowOf } from "../../server/options/checks.ts";
import type { ListenOptions } from "../../server/options/settings.ts";
import type { OptionName } from "../../server/options/table.ts";
import type { SmcpServer } from "../../server/server.ts";

const MAX_TOKEN_FILE_BYTES = 65_536;

/** How much of the time to shut down is left for the end of the process; as much was seen on a busy machine. */
const EXIT_MS = 500;
/** The share of the time that this may take. */
const EXIT_SHARE = 1 / 8;

/** Runs a Server until Ctrl-C, SIGTERM or SIGHUP and returns the exit code. */
export function runServerCli(args: readonly string[]): Promise<number> {
  return runProgram(args, (signal) => refuseRemovedFlags(createServerProgram(signal)));
}

export function createServerProgram(signal: AbortSignal): Command {
  const program = createProgram(
    "server",
    "Run the A2C-SMCP Server, which relays messages between the Agent and the Computers of each office.",
  );
  for (const { heading, options } of serverOptionGroups()) {
    for (const option of options) program.addOption(option.helpGroup(`${heading}:`));
  }
  program.addHelpText("after", examples(commandLineOf("server")));
  program.argument("[command]").allowExcessArguments().usage("[options]");
  return program.action(async (word: string | undefined) => {
    if (word !== undefined) throw new UsageError(`Cannot run "${word}": ${noCommandsText()}`);
    await completeOptions(program, (name) => Deno.env.get(name));
    const variables = variableNames();
    refuseRemovedVariables(variables);
    checkJwtOptions(program, variables);
    const warnings = [...misspeltVariables(program, variables), ...uselessOptions(program)];
    await serve(program, { signal, warnings });
  });
}

/** Warns of options that were given, and have no effect without another, or beside it. */
function uselessOptions(program: Command): readonly string[] {
  const { redisUrl, metricsPort, maxMessageMemoryBytes, maxPayloadBytes } = program.opts<ServerCliOptions>();
  const isGiven = (name: OptionName) => !["default", undefined].includes(program.getOptionValueSource(name));
  const useless = [
    isGiven("redisPrefix") && redisUrl === undefined && "--redis-prefix has no effect without --redis",
    isGiven("metricsHost") && metricsPort === undefined &&
    "--metrics-host has no effect without --metrics-port",
    maxMessageMemoryBytes < maxPayloadBytes &&
    "--max-message-memory is smaller than --max-payload: it is the limit of a message, too",
  ];
  return useless.filter((warning) => warning !== false);
}

/** The names of the environment variables; none where the permission covers only some of them, so that nobody is asked. */
function variableNames(): readonly string[] {
  const { state } = Deno.permissions.querySync({ name: "env" });
  return state === "granted" ? Object.keys(Deno.env.toObject()) : [];
}

function noCommandsText(): string {
  const [computer, agent] = [commandLineOf("computer"), commandLineOf("agent")];
  return `a Server has options only; "${computer} --help" and "${agent} --help" list commands`;
}

function examples(server: string): string {
  return helpPart(
    "Examples:",
    `  ${server}
  ${server} --port 8080 --token "$(openssl rand -hex 16)"
  ${server} --host 0.0.0.0 --token-file tokens.txt --ping-interval 25s
  ${server} --config server.json`,
  );
}

async function serve(
  program: Command,
  { signal, warnings }: { readonly signal: AbortSignal; readonly warnings: readonly string[] },
): Promise<void> {
  const options = program.opts<ServerCliOptions>();
  using auditFile = openAuditFile(options);
  using audited = withAuditFile(loggerOf("server", options), auditFile);
  const { logger, countLostLines } = audited;
  for (const warning of warnings) logger.warn(warning);
  await using opened = await openAuth(options, logger);
  const { auth } = opened;
  const metricsToken = await readMetricsToken(options);
  await using server = await listen(
    toListenOptions(program, { auth, metricsToken, logger, countLostAuditLines: countLostLines }),
  );
  if (auth === undefined) logger.warn("clients need no credentials; give --token to require a token");
  else if (options.allowAnonymous) logger.warn("--allow-anonymous has no effect: clients need credentials");
  const warning = platformWarning((name) => Deno.env.get(name), {
    isClustered: options.redisUrl !== undefined,
  });
  if (warning !== undefined) logger.warn(warning);
  const { url } = server;
  announce("server", options, { text: `listening on ${url}`, message: "listening", fields: { url } });
  if (server.metricsUrl !== undefined) logger.info("serving metrics", { url: server.metricsUrl });
  const failure = await Promise.race([untilAborted(signal), server.untilFailed()]);
  if (failure !== undefined) throw failure;
  if (isHangup(signal)) logger.warn(HANGUP_TEXT);
  await end(server, { drainTimeoutMs: options.drainTimeoutMs, logger });
}

/** Who sends SIGHUP often means something else. */
const HANGUP_TEXT =
  "SIGHUP ends the Server as SIGTERM does; files of tokens, keys and certificates are read again " +
  "when they change, without a signal";

function isHangup({ reason }: AbortSignal): boolean {
  return reason instanceof InterruptedError && reason.signal === "SIGHUP";
}

/** Ends the sessions gently, and the process in any case: a connection that does not close must not keep it. */
async function end(
  server: SmcpServer,
  { drainTimeoutMs, logger }: { readonly drainTimeoutMs: number; readonly logger: Logger },
): Promise<void> {
  const timer = setTimeout(() => {
    logger.warn("connections did not close in time");
    Deno.exit(ExitCode.OK);
  }, drainTimeoutMs - Math.min(EXIT_MS, drainTimeoutMs * EXIT_SHARE));
  try {
    await server.drain({ timeoutMs: drainTimeoutMs });
  } finally {
    clearTimeout(timer);
  }
}

async function readMetricsToken(options: ServerCliOptions): Promise<string | undefined> {
  const { metricsToken, metricsTokenFile: path } = options;
  if (path === undefined) return metricsToken;
  const reading = await readRegularFile(path, { maxBytes: MAX_TOKEN_FILE_BYTES });
  if ("state" in reading) {
    const { state, cause } = reading;
    throw new UsageError(`Cannot read metrics token file "${path}": ${state}`, { cause });
  }
  const [token = ""] = reading.text.split(/\r?\n/, 1);
  if (token.trim() !== "") return token.trim();
  throw new UsageError(`Cannot read metrics token file "${path}": its first line is empty`);
}

async function listen(options: ListenOptions): Promise<SmcpServer> {
  const { host = "", port, metricsPort, auth, allowAnonymous } = options;
  if (port === metricsPort && port !== 0) {
    throw new UsageError(`Cannot serve both on port ${port}: choose another --port or --metrics-port`);
  }
  if (auth === undefined && !allowAnonymous && !isLoopback(host)) throw new UsageError(explainHost(host));
  try {
    // Loaded only now, so that --help and a wrong command line are fast.
    const { SmcpServer } = await import("../../server/server.ts");
    return await SmcpServer.listen(options);
  } catch (error) {
    if (isPortInUse(error)) {
      const isMetrics = error.message.includes(`:${metricsPort}"`);
      const option = isMetrics ? "--metrics-port" : "--port";
      const message = `${error.message}; choose another ${option}, or end the program that uses this one`;
      throw new CommandFailedError(message);
    }
    throw await toUsageError(error);
  }
}

function isPortInUse(error: unknown): error is Error {
  return error instanceof Error && isRecord(error.cause) && error.cause["code"] === "EADDRINUSE";
}

function explainHost(host: string): string {
  return `Cannot serve on "${host}" without credentials: add --token TOKEN or --token-file FILE, ` +
    "or --allow-anonymous to serve every client that can reach this address";
}

/** The options of the library that flags set, and those that follow from several flags or from none. */
function toListenOptions(
  program: Command,
  own: Pick<ListenOptions, "auth" | "metricsToken" | "countLostAuditLines" | "logger">,
): ListenOptions {
  const options = program.opts<ServerCliOptions>();
  const { redisUrl: url, redisPrefix: prefix } = options;
  const names = OPTION_NAMES.filter((name) => rowOf(name).of !== "program");
  return {
    ...Object.fromEntries(names.map((name) => [name, options[name]])),
    ...own,
    tls: tlsOf(options),
    redis: url === undefined ? undefined : { url, prefix },
  };
}

function tlsOf({ tlsCert: certFile, tlsKey: keyFile }: ServerCliOptions): ListenOptions["tls"] {
  if (certFile === undefined && keyFile === undefined) return undefined;
  if (certFile !== undefined && keyFile !== undefined) return { certFile, keyFile };
  throw new UsageError("Cannot serve TLS: --tls-cert and --tls-key are needed together");
}

const DEPLOY_VARIABLES: readonly string[] = ["DENO_DEPLOYMENT_ID", "DENO_DEPLOY"];

/** Returns a warning where a platform runs several processes of this Server that share nothing. */
export function platformWarning(
  env: (name: string) => string | undefined,
  { isClustered }: { readonly isClustered: boolean },
): string | undefined {
  if (isClustered || !DEPLOY_VARIABLES.some((name) => env(name))) return undefined;
  return "offices live in one instance: Deno Deploy may run several, and members of one office may not meet; " +
    "give --redis to share offices";
}
