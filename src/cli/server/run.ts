/** Runs a Server with the options of a program, from its start to its end. */
import type { Command } from "commander";
import { untilAborted } from "../../async/abortable.ts";
import { readRegularFile } from "../../files/files.ts";
import { isRecord } from "../../json/json.ts";
import type { Logger } from "../../log.ts";
import { isLoopback } from "../../protocol/server_address.ts";
import type { AuthProvider } from "../../server/admission/provider.ts";
import type { OtherPaths } from "../../server/engine/port.ts";
import { OPTION_NAMES, rowOf } from "../../server/options/checks.ts";
import type { ListenOptions } from "../../server/options/settings.ts";
import type { SurroundingWork } from "../../server/drain.ts";
import type { InnerSide, SmcpServer } from "../../server/server.ts";
import { announce, loggerOf } from "../options.ts";
import { CommandFailedError, ExitCode, UsageError } from "../outcome.ts";
import { InterruptedError } from "../program.ts";
import { openAuditFile, withAuditFile } from "./audit_file.ts";
import type { ProgramConsole } from "../console.ts";
import { type ClaimTokens, openAuth, type ShownTokens, toUsageError, warnOfShort } from "./credentials.ts";
import { openMachines } from "./machines.ts";
import type { AddCommands } from "./operated_server.ts";
import { isReachedElsewhere, type ServerCliOptions } from "./options.ts";

const MAX_TOKEN_FILE_BYTES = 65_536;

/** How much of the time to shut down is left for the end of the process; as much was seen on a busy machine. */
const EXIT_MS = 500;
/** The share of the time that this may take. */
const EXIT_SHARE = 1 / 8;

/** What a program runs around its Server, on the same port. */
export interface Surroundings extends AsyncDisposable {
  /** Who may connect: the clients of the options, and members of the program itself. */
  readonly auth: AuthProvider | undefined;
  /** The paths beside those of the Server. */
  readonly others: OtherPaths;
  /** Called when the Server listens, with its URL and what it has for members in this process; resolves to the public URL. */
  onListening(url: string, inner: InnerSide): Promise<string>;
  /** The commands for what the program runs, and its tokens. */
  readonly addCommands: AddCommands;
  readonly tokens: () => readonly ShownTokens[];
  /** How many sessions its MCP clients have. */
  readonly countSessions: () => number;
  /** Called when the Server can be operated. */
  onOperated(console: ProgramConsole): void;
  /** What a drain of the Server waits for. */
  readonly work: SurroundingWork;
}

export interface RunOptions {
  readonly signal: AbortSignal;
  readonly warnings: readonly string[];
  /** Opens what else the program runs; nothing by default. */
  readonly surround?: (
    context: {
      readonly auth: AuthProvider | undefined;
      readonly claim: ClaimTokens;
      readonly logger: Logger;
    },
  ) => Promise<Surroundings>;
  /** Keeps apart what two options give. */
  readonly claim: ClaimTokens;
}

/** Runs a Server with the options of a program until the signal is aborted. */
export async function runServer(
  program: Command,
  { signal, warnings, surround, claim: keepApart }: RunOptions,
): Promise<void> {
  const options = program.opts<ServerCliOptions>();
  using audited = withAuditFile(loggerOf("server", options), openAuditFile(options));
  const { logger, trail, countLostLines } = audited;
  for (const warning of warnings) logger.warn(warning);
  const claim = isReachedElsewhere(options) ? warnOfShort(keepApart, logger) : keepApart;
  await using opened = await openAuth(options, logger, claim);
  await using joining = await openMachines(options, { auth: opened.auth, logger });
  await using around = await surround?.({ auth: joining.auth, claim, logger });
  const { auth } = around ?? joining;
  const metricsToken = await readMetricsToken(options);
  await using server = await listen(
    toListenOptions(program, { auth, metricsToken, logger, countLostAuditLines: countLostLines }),
    { door: joining.door, around },
  );
  if (auth === undefined) logger.warn("clients need no credentials; give --token to require a token");
  else if (options.allowAnonymous) logger.warn("--allow-anonymous has no effect: clients need credentials");
  const warning = platformWarning((name) => Deno.env.get(name), {
    isClustered: options.redisUrl !== undefined,
  });
  if (warning !== undefined) logger.warn(warning);
  const { url } = server;
  const { innerSideOf, insightOf } = await import("../../server/server.ts");
  const publicUrl = await around?.onListening(url, innerSideOf(server)) ?? url;
  const insight = insightOf(server);
  const { operated } = joining;
  insight.outside = {
    ...around && { mcpSessions: around.countSessions },
    ...typeof operated !== "string" && { machinesWaiting: () => operated.joins.waiting.length },
  };
  // Loaded only now, so that --help and a wrong command line are fast.
  const { operate } = await import("./operation.ts");
  await using operation = await operate(program, {
    url,
    publicUrl,
    trail,
    logger,
    isHub: around !== undefined,
    addCommands: around?.addCommands,
    tokens: async () => [...await opened.tokens(), ...around?.tokens() ?? []],
    insight,
    machines: operated,
  });
  around?.onOperated(operation.console);
  announce("server", options, { text: `listening on ${url}`, message: "listening", fields: { url } });
  await operation.openConsole();
  if (server.metricsUrl !== undefined) logger.info("serving metrics", { url: server.metricsUrl });
  const failure = await Promise.race([untilAborted(signal), operation.draining, server.untilFailed()]);
  if (failure !== undefined) throw failure;
  if (isHangup(signal)) logger.warn(HANGUP_TEXT);
  await end(server, { drainTimeoutMs: options.drainTimeoutMs, logger, around });
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
  { drainTimeoutMs, logger, around }: {
    readonly drainTimeoutMs: number;
    readonly logger: Logger;
    readonly around: Surroundings | undefined;
  },
): Promise<void> {
  const { drainWith } = await import("../../server/server.ts");
  const timer = setTimeout(() => {
    logger.warn("connections did not close in time");
    Deno.exit(ExitCode.OK);
  }, drainTimeoutMs - Math.min(EXIT_MS, drainTimeoutMs * EXIT_SHARE));
  try {
    await drainWith(server, { timeoutMs: drainTimeoutMs, around: around?.work });
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

async function listen(
  options: ListenOptions,
  { door, around }: { readonly door: OtherPaths | undefined; readonly around: Surroundings | undefined },
): Promise<SmcpServer> {
  const { host = "", port, metricsPort, auth, allowAnonymous } = options;
  if (port === metricsPort && port !== 0) {
    throw new UsageError(`Cannot serve both on port ${port}: choose another --port or --metrics-port`);
  }
  if (auth === undefined && !allowAnonymous && !isLoopback(host)) throw new UsageError(explainHost(host));
  try {
    // Loaded only now, so that --help and a wrong command line are fast.
    const { listenBeside, SmcpServer } = await import("../../server/server.ts");
    if (door === undefined && around === undefined) return await SmcpServer.listen(options);
    const others: OtherPaths = (...request) => (door?.(...request) || around?.others(...request)) ?? false;
    return await listenBeside(options, others);
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
    // For the operator, who may look at any time.
    metrics: true,
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
