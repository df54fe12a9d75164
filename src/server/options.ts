/** The options of a Server and their defaults. */
import { type Logger, silentLogger } from "../log.ts";
import { DEFAULT_SOCKET_PATH, isLoopback } from "../protocol/server_address.ts";
import { anonymous, type AuthProvider } from "./admission/provider.ts";
import {
  DEFAULT_ACCEPTED_VERSIONS,
  type HandshakePolicy,
  parseAcceptedVersions,
  parseTransports,
  TRANSPORTS,
} from "./admission/handshake.ts";
import { type RedisOptions, type RedisSettings, toRedisSettings } from "./offices/redis/settings.ts";
import {
  CONNECTIONS_SHARE,
  CONNECTS_BURST_SECONDS,
  type LoadLimits,
  loadLimitsFor,
  MIN_MESSAGES_IN_MEMORY,
  REQUEST_CHECK_INTERVAL_MS,
  REQUEST_TIMEOUT_MS,
  REQUESTS_BURST_SECONDS,
} from "./limits.ts";
import { Meter } from "./observe/meter.ts";
import {
  DEFAULT_MAX_CONNECTS,
  type DefaultedOption,
  numberOf,
  type NumberOption,
  requireNumber,
} from "./number_options.ts";
import type { QuotaSettings } from "./admission/quotas.ts";
import type { TlsOptions } from "./sockets/tls.ts";
import { TrustedProxies } from "./admission/proxies.ts";
import { createHostRule, createOriginRule, type HostRule } from "./admission/origins.ts";

/** The options of a Server. */
export interface SmcpServerOptions {
  /** Decides who may connect. Without it, everybody may, but on loopback only unless `allowAnonymous` is set. */
  readonly auth?: AuthProvider | undefined;
  /** Allows a Server without `auth` to listen beyond loopback; `false` by default. */
  readonly allowAnonymous?: boolean | undefined;
  /** The protocol versions that are accepted, MAJOR.MINOR each; `0.2`, `0.3` and `0.4` by default. */
  readonly acceptedVersions?: readonly string[] | undefined;
  /** Admits peers of protocol 0.1, which send no version; `false` by default. */
  readonly allowUnversioned?: boolean | undefined;
  /** Origins of web pages that may connect, besides loopback and the host of the Server; `*` for all. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /**
   * Values of the `Host` header that a Server without `auth` accepts, besides `localhost` and loopback addresses: `name`
   * for any port, `name:port`, or `*` for all. With `allowAnonymous`, it also accepts IP addresses and `host` itself. A
   * Server with `auth` accepts every `Host`.
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /**
   * Reverse proxies whose `X-Forwarded-For`, `-Host` and `-Proto` are trusted: IP addresses, networks such as
   * `10.1.0.0/16`, `loopback`, and `private` for all private networks. None by default: the address of a client is that
   * of its TCP connection. Each of these proxies must add to the first header and set or remove the others.
   */
  readonly trustedProxies?: readonly string[] | undefined;
  /**
   * The transports that a client may connect with: `polling`, `websocket`; both by default. Polling needs all requests of a
   * session at one process, so several processes behind a balancer without sticky sessions serve `websocket` alone. Our
   * Agent and Computer then connect with it by themselves.
   */
  readonly transports?: readonly string[] | undefined;
  /** The HTTP path of Socket.IO; `/socket.io/` by default. */
  readonly path?: string | undefined;
  /**
   * The largest message, in bytes; 16 MiB by default, at least 4,096. An event or an ack over WebSocket that is up to four times as large
   * is skipped: the request is answered 413, and the connection stays open. Any other larger message closes its
   * connection, as every larger message does over polling. As many bytes
   * may wait for a member that reads slowly: beyond that, requests to it are refused with 413, and at one and a half times
   * as many, answers and notifications included, its connection is closed.
   */
  readonly maxPayloadBytes?: number | undefined;
  /** The time between two pings, in milliseconds; 25,000 by default. */
  readonly pingIntervalMs?: number | undefined;
  /** How long a connection may take to answer a ping, in milliseconds; 20,000 by default. */
  readonly pingTimeoutMs?: number | undefined;
  /** How long a client may take to send its CONNECT packet, in milliseconds; 5,000 by default. */
  readonly connectTimeoutMs?: number | undefined;
  /** How long `auth` may take, in milliseconds; 10,000 by default. After that the connection is refused. */
  readonly authTimeoutMs?: number | undefined;
  /** The most connections that are not admitted yet; 512 by default. One more is answered 503. */
  readonly maxPendingConnections?: number | undefined;
  /** The same from one address; 64 by default. Name your proxy in `trustedProxies`, or raise it. */
  readonly maxPendingConnectionsPerAddress?: number | undefined;
  /**
   * The most open requests of one connection; 1024 by default. One more is answered 400. The limit of one Computer is
   * twice as high, and that of one office four times.
   */
  readonly maxOpenRequests?: number | undefined;
  /**
   * The most connections of one principal. By default three quarters of `maxSockets` with `auth`, any number without, and
   * any number after `SmcpServer.attach()`. One more is refused with 429, as is whatever exceeds the next limits. All of
   * them are of one process.
   */
  readonly maxConnectionsPerPrincipal?: number | undefined;
  /**
   * The most connections of one address; three quarters of `maxSockets` by default, any number after
   * `SmcpServer.attach()`. A /64 network of IPv6 counts as one address.
   */
  readonly maxConnectionsPerAddress?: number | undefined;
  /**
   * The most new connections of one principal per second; 200 times as many may come at once. 100 by default with `auth`,
   * any number without.
   */
  readonly maxConnectsPerPrincipal?: number | undefined;
  /** The most new connections of one address per second; 200 times as many may come at once. 100 by default. */
  readonly maxConnectsPerAddress?: number | undefined;
  /** The most events of one principal per second; 5 times as many may come at once. Any number by default. */
  readonly maxRequestsPerPrincipal?: number | undefined;
  /** The most events of one address per second; 5 times as many may come at once. Any number by default. */
  readonly maxRequestsPerAddress?: number | undefined;
  /** The most offices with members on this process. Any number by default: each one has at least one connection. */
  readonly maxOffices?: number | undefined;
  /** The most offices with members of one principal. Any number by default. */
  readonly maxOfficesPerPrincipal?: number | undefined;
  /**
   * The most bytes of messages on their way, of all connections of this process: incomplete messages, and messages that
   * wait for members that read slowly; 512 MiB by default, and at least four messages of the largest size. Beyond it,
   * messages above 64 KiB are refused with 413, and one that arrives in binary form closes its connection (1013). Incomplete
   * messages over polling may take as many bytes again; one that finds no room ends its connection, and a
   * body that announces its length is refused with 413. The incomplete messages of one principal, or without `auth` of one
   * address, may take a quarter of the bytes; beyond it, the same happens to them.
   */
  readonly maxMessageMemoryBytes?: number | undefined;
  /**
   * The most members of one office, of all processes and without observers; 2,048 by default. The last place is that of the
   * Agent, unless it is the only one. A join beyond it is refused with 429.
   */
  readonly maxMembersPerOffice?: number | undefined;
  /** How long the Server waits for a Computer after the time-out of a request, in milliseconds; 5,000 by default. */
  readonly graceMs?: number | undefined;
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
}

/** The options of a Server with its own HTTP server. */
export interface ListenOptions extends SmcpServerOptions {
  /** The name or address to listen on; `127.0.0.1` by default. */
  readonly host?: string | undefined;
  /** The TCP port, 0 for a free one; 3000 by default. */
  readonly port?: number | undefined;
  /**
   * The certificate for `https:` and `wss:`; without it the Server speaks plain HTTP. Files are read again when they
   * change. A new certificate that cannot be used keeps the former one.
   */
  readonly tls?: TlsOptions | undefined;
  /**
   * The most TCP connections. By default three quarters of the system's limit of open files, minus 32; 16,384 when the
   * limit cannot be read. The log has a warning if it is more than the process can open.
   */
  readonly maxSockets?: number | undefined;
  /**
   * How long the headers of an HTTP request may take, in milliseconds; 10,000 by default, checked every 2 seconds. A
   * silent TCP connection is closed after the same time.
   */
  readonly headTimeoutMs?: number | undefined;
  /** A TCP port for `/metrics` and the checks alone, 0 for a free one; none by default. */
  readonly metricsPort?: number | undefined;
  /** The name or address of that port; `127.0.0.1` by default. */
  readonly metricsHost?: string | undefined;
  /**
   * The bearer token that a request for `/metrics` must show. With it, the main port answers `/metrics` as well. Not
   * empty.
   */
  readonly metricsToken?: string | undefined;
  /** Cancels the start. */
  readonly signal?: AbortSignal | undefined;
}

/** The options with all defaults filled in. */
export interface Settings extends Readonly<Record<Exclude<DefaultedOption, "headTimeoutMs">, number>> {
  readonly countLostAuditLines: (() => number) | undefined;
  readonly auth: AuthProvider;
  readonly handshake: HandshakePolicy;
  readonly path: string;
  readonly loadLimits: LoadLimits;
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
  const { auth, allowAnonymous = false, path = DEFAULT_SOCKET_PATH } = options;
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
  const { auth, acceptedVersions = DEFAULT_ACCEPTED_VERSIONS, allowUnversioned = false } = options;
  const { allowedOrigins = [], allowedHosts = [], trustedProxies = [] } = options;
  return {
    proxies: trustedProxies.length === 0 ? undefined : new TrustedProxies(trustedProxies),
    acceptedVersions: parseAcceptedVersions(acceptedVersions),
    allowUnversioned,
    transports: parseTransports(options.transports ?? TRANSPORTS),
    isOriginAllowed: createOriginRule({
      allowed: allowedOrigins,
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
    connectTimeoutMs: boundOf("connectTimeoutMs"),
    authTimeoutMs: boundOf("authTimeoutMs"),
    maxPendingConnections: boundOf("maxPendingConnections"),
    maxPendingConnectionsPerAddress: boundOf("maxPendingConnectionsPerAddress"),
    maxMembersPerOffice: boundOf("maxMembersPerOffice"),
    maxMessageMemoryBytes: Math.max(
      boundOf("maxMessageMemoryBytes"),
      MIN_MESSAGES_IN_MEMORY * maxPayloadBytes,
    ),
    maxOpenRequests,
    loadLimits: loadLimitsFor(maxOpenRequests),
    graceMs: boundOf("graceMs"),
  };
}

function quotasOf(options: SmcpServerOptions & Pick<ListenOptions, "maxSockets">): QuotaSettings {
  const { auth, maxSockets = Infinity } = options;
  const boundOf = (name: Exclude<NumberOption, "headTimeoutMs">, otherwise: number) =>
    options[name] === undefined ? otherwise : requireNumber(name, options[name]);
  const paceOf = (perSecond: number, burstSeconds: number) =>
    perSecond === Infinity ? undefined : { perSecond, burst: perSecond * burstSeconds };
  const limitsOf = (owner: "Principal" | "Address", isBounded: boolean) => {
    const share = isBounded ? Math.ceil(CONNECTIONS_SHARE * maxSockets) : Infinity;
    const connects = isBounded ? DEFAULT_MAX_CONNECTS : Infinity;
    return {
      connections: boundOf(`maxConnectionsPer${owner}`, share),
      connects: paceOf(boundOf(`maxConnectsPer${owner}`, connects), CONNECTS_BURST_SECONDS),
      requests: paceOf(boundOf(`maxRequestsPer${owner}`, Infinity), REQUESTS_BURST_SECONDS),
    };
  };
  return {
    // Without credentials, all clients are one principal.
    principal: limitsOf("Principal", auth !== undefined),
    address: limitsOf("Address", true),
    offices: boundOf("maxOffices", Infinity),
    officesPerPrincipal: boundOf("maxOfficesPerPrincipal", Infinity),
    messages: auth === undefined ? "address" : "principal",
  };
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
  const { metricsPort: port, metricsHost: host = "127.0.0.1", metricsToken: token } = options;
  if (token === "") throw new TypeError("Cannot use metricsToken: it is empty");
  const { allowedHosts: allowed = [] } = options;
  const isHostAllowed: HostRule = token === undefined
    ? createHostRule({ allowed, own: host, isOpenToOthers: !isLoopback(host) })
    : () => true;
  return { port, host, token, isHostAllowed };
}

/** Limits the time that a slow or silent client may take. */
export function httpOptionsOf(options: ListenOptions) {
  const headersTimeout = numberOf(options, "headTimeoutMs");
  return {
    headersTimeout,
    requestTimeout: Math.max(REQUEST_TIMEOUT_MS, headersTimeout),
    connectionsCheckingInterval: Math.min(REQUEST_CHECK_INTERVAL_MS, headersTimeout),
  };
}
