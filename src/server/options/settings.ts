/** The options of a Server, as programs give them, and its settings: the options with all defaults and constants. */
import { type Logger, silentLogger } from "../../log.ts";
import { isLoopback } from "../../protocol/server_address.ts";
import { didYouMean } from "../../text/spelling.ts";
import { TrustedProxies } from "../../http/proxies.ts";
import { createHostRule, createOriginRule, type HostRule } from "../../http/senders.ts";
import type { TlsOptions } from "../../http/tls.ts";
import { type HandshakePolicy, parseAcceptedVersions, parseTransports } from "../admission/handshake.ts";
import { anonymous, type AuthProvider } from "../admission/provider.ts";
import { type RedisOptions, type RedisSettings, toRedisSettings } from "../offices/redis/settings.ts";
import { Meter } from "../observe/meter.ts";
import type { Rate } from "../../async/token_bucket.ts";
import type { QuotaSettings } from "../admission/quotas.ts";
import {
  camelFlagOf,
  type DefaultedOption,
  libraryNameOf,
  numberOf,
  type NumberOption,
  OPTION_NAMES,
  requireNumber,
  rowOf,
} from "./checks.ts";
import { type ConstantName, constantOf, CONSTANTS } from "./constants.ts";
import type { OptionRow } from "./row.ts";
import { type OptionName, OPTIONS } from "./table.ts";

/** The options of a Server. */
export interface SmcpServerOptions {
  /** Decides who may connect. Without it, everybody may, but on loopback only unless `allowAnonymous` is set. */
  readonly auth?: AuthProvider | undefined;
  /**
   * Shares the offices with other processes through Redis, so that an Agent and a Computer of one office may be connected to
   * different processes; without it, offices live in this process alone.
   */
  readonly redis?: RedisOptions | undefined;
  /** Counts requests and connections for `metrics()`; `false` by default. `metricsPort` and `metricsToken` imply it. */
  readonly metrics?: boolean | undefined;
  /**
   * Returns how many lines of the audit trail the logger could not keep, for the metric `a2c_audit_lines_lost_total`, which
   * exists only with it. It must not throw, and the number must not fall.
   */
  readonly countLostAuditLines?: (() => number) | undefined;
  /** Receives the log; without it, nothing is logged. Lines of the audit trail have the field `module: "audit"`. */
  readonly logger?: Logger | undefined;
  // Rows of every Server: written by `deno task schema`
  /** The HTTP path of Socket.IO; `/socket.io/` by default. */
  readonly path?: string | undefined;
  /** Serve other machines without requiring a token; `false` by default. */
  readonly allowAnonymous?: boolean | undefined;
  /**
   * Origins of web pages that can connect, `*` for all. Pages of loopback and of the Server's own host can
   * always connect.
   */
  readonly allowedOrigins?: readonly string[] | undefined;
  /**
   * Without tokens: accepted values of the Host header, `*` for all. A value is `name` for any port, or
   * `name:port`. A Server without `auth` always accepts `localhost` and loopback addresses, with
   * `allowAnonymous` also IP addresses and `host` itself. One with `auth` accepts all.
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /**
   * How clients may connect; `polling`, `websocket` by default. All requests of a session over polling must
   * reach the same process. Our Agent and Computer find out by themselves what is served.
   */
  readonly transports?: readonly string[] | undefined;
  /**
   * Reverse proxies whose X-Forwarded headers are read: addresses, networks, loopback, private. Each of them
   * must add to `X-Forwarded-For`, and set or remove `-Host` and `-Proto`. Without it, the address of a
   * client is that of its TCP connection.
   */
  readonly trustedProxies?: readonly string[] | undefined;
  /** Accept clients of protocol 0.1, which send no version; `false` by default. */
  readonly allowUnversioned?: boolean | undefined;
  /** Accepted protocol versions; `0.2`, `0.3`, `0.4` by default. */
  readonly acceptedVersions?: readonly string[] | undefined;
  /**
   * The largest message, in bytes; 16 MiB by default, at least 4,096. An event or an ack over WebSocket up to
   * four times as large is skipped and answered 413; any other larger message ends its connection. As many
   * bytes may wait for a member that reads slowly; beyond that, requests to it are refused with 413, and 8
   * MiB later its connection is closed.
   */
  readonly maxPayloadBytes?: number | undefined;
  /**
   * The memory for all messages on their way, in and out, in bytes; 512 MiB by default. At least four
   * messages of the largest size. What one principal, or without `auth` one address, has not finished takes
   * at most a quarter of it, and what waits until members read it at most half. Beyond that, messages above
   * 64 KiB are refused with 413, or end their session.
   */
  readonly maxMessageMemoryBytes?: number | undefined;
  /**
   * The most open requests of one connection; 1,024 by default. One more is answered 400. The observers of
   * one office may have a quarter as many, together.
   */
  readonly maxOpenRequests?: number | undefined;
  /**
   * The most connections of one address that are not authenticated yet. Behind a proxy, use `trustedProxies`.
   * By default 64. One more is answered 503.
   */
  readonly maxPendingConnectionsPerAddress?: number | undefined;
  /**
   * The most connections of one principal; three quarters of `maxSockets` with credentials, else any number
   * by default. One more is refused with 429, as is what exceeds the next two. It counts those of one
   * process.
   */
  readonly maxConnectionsPerPrincipal?: number | undefined;
  /**
   * The most events of one principal per second, 5 times as many at once. All MCP clients of a hub are one.
   * By default any number. Questions for the progress of calls count apart.
   */
  readonly maxRequestsPerPrincipal?: number | undefined;
  /**
   * The most members of one office, of all processes, without observers. The last place is its Agent's. By
   * default 2,048.
   */
  readonly maxMembersPerOffice?: number | undefined;
  /** The time between heartbeats of a connection, in milliseconds; 25,000 by default. */
  readonly pingIntervalMs?: number | undefined;
  /** The time to answer a heartbeat, in milliseconds; 20,000 by default. */
  readonly pingTimeoutMs?: number | undefined;
  // End of the rows
}

/** The options of a Server with its own HTTP server. */
export interface ListenOptions extends SmcpServerOptions {
  /**
   * The certificate for `https:` and `wss:`; without it the Server speaks plain HTTP. Files are read again when they
   * change. A new certificate that cannot be used keeps the former one.
   */
  readonly tls?: TlsOptions | undefined;
  /** Cancels the start. */
  readonly signal?: AbortSignal | undefined;
  // Rows of "listen": written by `deno task schema`
  /** The name or address to listen on; `127.0.0.1` by default. */
  readonly host?: string | undefined;
  /** The port to listen on, 0 for any free port; 3000 by default. */
  readonly port?: number | undefined;
  /**
   * The most TCP connections. By default three quarters of the system's limit of open files, minus 32; 16,384
   * when the limit cannot be read.
   */
  readonly maxSockets?: number | undefined;
  /** Serve `/metrics`, `/healthz` and `/readyz` on this port as well. */
  readonly metricsPort?: number | undefined;
  /** The name or address of that port; `127.0.0.1` by default. */
  readonly metricsHost?: string | undefined;
  /** Require this bearer token for `/metrics`. Serve it on the main port as well. */
  readonly metricsToken?: string | undefined;
  // End of the rows
}

/** The options that are no rows of the table, and which of them only a Server with its own HTTP server has. */
const OTHER_OPTIONS: Readonly<Record<Exclude<keyof ListenOptions, OptionName>, OptionRow["of"]>> = {
  auth: undefined,
  redis: undefined,
  metrics: undefined,
  countLostAuditLines: undefined,
  logger: undefined,
  tls: "listen",
  signal: "listen",
};

/**
 * Refuses options that do not exist: types do not stop a caller in JavaScript, and a Server whose `auth` is misspelt would
 * admit everybody.
 *
 * @param isListening Whether the Server has its own HTTP server.
 * @throws {TypeError} for an unknown option, with the one of that flag, else the closest known one.
 */
export function requireKnownOptions(
  options: object,
  { isListening }: { readonly isListening: boolean },
): void {
  const rows = OPTION_NAMES.map((name) => [name, rowOf(name).of] as const);
  const known = [...Object.entries(OTHER_OPTIONS), ...rows]
    .filter(([, of]) => of === undefined || (isListening && of === "listen")).map(([name]) => name);
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const meant = OPTION_NAMES.filter((name) => [name, camelFlagOf(name)].includes(unknown)).map(libraryNameOf)
    .find((name) => known.includes(name?.split(".")[0] ?? ""));
  const hint = meant === undefined ? didYouMean(unknown, known) : `; did you mean "${meant}"?`;
  throw new TypeError(`Cannot use the option "${unknown}" of the Server: unknown${hint}`);
}

/** How many messages of the largest size fit into `maxMessageMemoryBytes` at least. */
const MIN_MESSAGES_IN_MEMORY = 4;
/** How often the time-outs of HTTP requests are checked. */
const REQUEST_CHECK_INTERVAL_MS = 2_000;

type SettledConstant =
  | "connectTimeoutMs"
  | "authTimeoutMs"
  | "headTimeoutMs"
  | "graceMs"
  | "returnMs"
  | "maxPendingConnections";

/** The options with all defaults and constants filled in. */
export interface Settings extends Readonly<Record<DefaultedOption | SettledConstant, number>> {
  readonly countLostAuditLines: (() => number) | undefined;
  readonly auth: AuthProvider;
  readonly handshake: HandshakePolicy;
  readonly path: string;
  readonly quotas: QuotaSettings;
  readonly redis: RedisSettings | undefined;
  readonly meter: Meter | undefined;
  readonly logger: Logger;
}

/**
 * Fills in the defaults.
 *
 * @param host Where the Server will listen; `undefined` on an HTTP server of the host program.
 * @throws {TypeError | RangeError} for invalid or contradictory options.
 */
export function toSettings(
  options: SmcpServerOptions & Pick<ListenOptions, "maxSockets">,
  host: string | undefined,
): Settings {
  const { auth, allowAnonymous = false, path = OPTIONS.path.default } = options;
  const isOpen = auth === undefined && !allowAnonymous;
  if (isOpen && (host === undefined || !isLoopback(host))) throw new TypeError(explainLoopback(host));
  if (!path.startsWith("/")) throw new TypeError(`Cannot serve path "${path}": it must start with "/"`);
  return {
    ...boundsOf(options),
    quotas: quotasOf(options),
    auth: auth ?? anonymous,
    handshake: handshakePolicyOf(options, host),
    path: path.replace(/\/*$/, "/"),
    redis: options.redis && toRedisSettings(options.redis),
    meter: options.metrics ? new Meter() : undefined,
    countLostAuditLines: options.countLostAuditLines,
    logger: options.logger ?? silentLogger,
  };
}

function handshakePolicyOf(options: SmcpServerOptions, host: string | undefined): HandshakePolicy {
  const { auth, acceptedVersions = OPTIONS.acceptedVersions.default, allowUnversioned = false } = options;
  const { allowedOrigins = [], allowedHosts = [], trustedProxies = [] } = options;
  return {
    proxies: trustedProxies.length === 0 ? undefined : new TrustedProxies(trustedProxies),
    acceptedVersions: parseAcceptedVersions(acceptedVersions),
    allowUnversioned,
    transports: parseTransports(options.transports ?? OPTIONS.transports.default),
    isOriginAllowed: createOriginRule({
      allowed: allowedOrigins,
      allowWildcards: true,
      // Some programs send the URL of the Server as their Origin. This is safe with a Host that is checked by its name.
      allowSameHost: auth !== undefined || !allowedHosts.includes("*"),
    }),
    isHostAllowed: hostRuleOf(options, host),
  };
}

function boundsOf(options: SmcpServerOptions) {
  const boundOf = (name: DefaultedOption) => numberOf(options, name);
  const maxOpenRequests = boundOf("maxOpenRequests");
  const maxPayloadBytes = boundOf("maxPayloadBytes");
  return {
    maxPayloadBytes,
    pingIntervalMs: boundOf("pingIntervalMs"),
    pingTimeoutMs: boundOf("pingTimeoutMs"),
    connectTimeoutMs: constantOf(options, "connectTimeoutMs"),
    authTimeoutMs: constantOf(options, "authTimeoutMs"),
    headTimeoutMs: constantOf(options, "headTimeoutMs"),
    maxPendingConnections: constantOf(options, "maxPendingConnections"),
    maxPendingConnectionsPerAddress: boundOf("maxPendingConnectionsPerAddress"),
    maxMembersPerOffice: boundOf("maxMembersPerOffice"),
    maxMessageMemoryBytes: Math.max(
      boundOf("maxMessageMemoryBytes"),
      MIN_MESSAGES_IN_MEMORY * maxPayloadBytes,
    ),
    maxOpenRequests,
    graceMs: constantOf(options, "graceMs"),
    returnMs: constantOf(options, "returnMs"),
  };
}

function quotasOf(options: SmcpServerOptions & Pick<ListenOptions, "maxSockets">): QuotaSettings {
  const { auth, maxSockets = Infinity } = options;
  const boundOf = (name: NumberOption, otherwise: number) =>
    options[name] === undefined ? otherwise : requireNumber(name, options[name]);
  const share = Math.ceil(constantOf(options, "connectionsShare") * maxSockets);
  const hasPrincipals = auth !== undefined;
  const connectsOf = (name: ConstantName) =>
    paceOf(constantOf(options, name), CONSTANTS.connectsBurstSeconds.value);
  return {
    // Without credentials, all clients are one principal.
    principal: {
      connections: boundOf("maxConnectionsPerPrincipal", hasPrincipals ? share : Infinity),
      connects: hasPrincipals ? connectsOf("maxConnectsPerPrincipal") : undefined,
      requests: paceOf(boundOf("maxRequestsPerPrincipal", Infinity), CONSTANTS.requestsBurstSeconds.value),
    },
    address: { connections: share, connects: connectsOf("maxConnectsPerAddress") },
    messages: hasPrincipals ? "principal" : "address",
  };
}

function paceOf(perSecond: number, burstSeconds: number): Rate | undefined {
  return perSecond === Infinity ? undefined : { perSecond, burst: perSecond * burstSeconds };
}

function hostRuleOf(options: SmcpServerOptions, own: string | undefined): HostRule {
  const { auth, allowAnonymous = false, allowedHosts = [] } = options;
  if (auth !== undefined) return () => true;
  return createHostRule({ allowed: allowedHosts, own, isOpenToOthers: allowAnonymous });
}

function explainLoopback(host: string | undefined): string {
  const place = host === undefined ? "another HTTP server" : `"${host}"`;
  return `Cannot serve on ${place} without credentials: set an auth provider, or allow anonymous clients`;
}

/** Returns whether requests and connections are counted. */
export function isCounted({ metrics, metricsPort, metricsToken }: ListenOptions): boolean {
  return metrics ?? (metricsPort !== undefined || metricsToken !== undefined);
}

/** Where the metrics are served, and to which values of `Host`: with a token to all. */
export function metricsPlaceOf(options: ListenOptions) {
  const { metricsPort: port, metricsHost: host = OPTIONS.metricsHost.default, metricsToken: token } = options;
  if (token === "") throw new TypeError("Cannot use metricsToken: it is empty");
  const { allowedHosts: allowed = [] } = options;
  const isHostAllowed: HostRule = token === undefined
    ? createHostRule({ allowed, own: host, isOpenToOthers: !isLoopback(host) })
    : () => true;
  return { port, host, token, isHostAllowed };
}

/** Limits the time that a slow or silent client may take. */
export function httpOptionsOf(options: ListenOptions) {
  const headersTimeout = constantOf(options, "headTimeoutMs");
  return {
    headersTimeout,
    requestTimeout: Math.max(CONSTANTS.requestTimeoutMs.value, headersTimeout),
    connectionsCheckingInterval: Math.min(REQUEST_CHECK_INTERVAL_MS, headersTimeout),
  };
}
