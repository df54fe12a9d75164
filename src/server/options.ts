/** What a Server can be told, and what it does untold. */
import { type Logger, silentLogger } from "../log.ts";
import { DEFAULT_SOCKET_PATH, isLoopback } from "../protocol/server_address.ts";
import { SERVER_GRACE_MS } from "../protocol/timeouts.ts";
import { anonymous, type AuthProvider } from "./admission/auth.ts";
import {
  DEFAULT_ACCEPTED_VERSIONS,
  type HandshakePolicy,
  parseAcceptedVersions,
} from "./admission/handshake.ts";
import {
  DEFAULT_AUTH_TIMEOUT_MS,
  DEFAULT_CONNECT_TIMEOUT_MS,
  DEFAULT_HEAD_TIMEOUT_MS,
  DEFAULT_MAX_OPEN_REQUESTS,
  DEFAULT_MAX_PAYLOAD_BYTES,
  DEFAULT_MAX_STRANGERS,
  DEFAULT_MAX_STRANGERS_PER_ADDRESS,
  DEFAULT_PING_INTERVAL_MS,
  DEFAULT_PING_TIMEOUT_MS,
  type LoadLimits,
  loadLimitsFor,
  MAX_TIME_MS,
  REQUEST_CHECK_INTERVAL_MS,
  REQUEST_TIMEOUT_MS,
} from "./limits.ts";
import { createHostRule, createOriginRule, type HostRule } from "./admission/origins.ts";

/** The options of a Server, wherever it listens. */
export interface SmcpServerOptions {
  /** Who may connect; without it everyone, but on loopback only unless `allowAnonymous` is set. */
  readonly auth?: AuthProvider | undefined;
  /** Whether a Server without `auth` may be reached from other machines; `false` by default. */
  readonly allowAnonymous?: boolean | undefined;
  /** The protocol versions that are accepted, MAJOR.MINOR each; `0.2`, `0.3` and `0.4` by default. */
  readonly acceptedVersions?: readonly string[] | undefined;
  /** Whether peers of the 0.1 era, which send no version, are admitted; `false` by default. */
  readonly allowUnversioned?: boolean | undefined;
  /** Origins whose web pages may connect beside those of loopback and of the Server's own host; `*` for all. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /**
   * Values of the `Host` header that a Server without `auth` accepts beside `localhost` and loopback addresses: `name` for
   * any port, `name:port`, or `*` for all. With `allowAnonymous` addresses and `host` itself are accepted, too. A Server
   * with `auth` accepts every `Host`.
   */
  readonly allowedHosts?: readonly string[] | undefined;
  /** The HTTP path of Socket.IO; `/socket.io/` by default. */
  readonly path?: string | undefined;
  /**
   * The most bytes of one message; 16 MiB by default. Socket.IO drops a connection that sends more. As many bytes may wait
   * for a member that reads slowly: more requests for it are refused with 413, and half as much again, answers and
   * notifications included, ends its connection.
   */
  readonly maxPayloadBytes?: number | undefined;
  /** How often a connection is asked whether it is still there, in milliseconds; 25,000 by default. */
  readonly pingIntervalMs?: number | undefined;
  /** How long it may take to say so, in milliseconds; 20,000 by default. */
  readonly pingTimeoutMs?: number | undefined;
  /** How long a connection may take to ask for the namespace, in milliseconds; 5,000 by default. */
  readonly connectTimeoutMs?: number | undefined;
  /** How long `auth` may take to decide on a connection, in milliseconds; 10,000 by default. Then it is refused. */
  readonly authTimeoutMs?: number | undefined;
  /** The most connections that are not admitted yet; 512 by default. One more is answered 503. */
  readonly maxPendingConnections?: number | undefined;
  /** The same of one address; 64 by default. Raise it where all clients come through one proxy. */
  readonly maxPendingConnectionsPerAddress?: number | undefined;
  /**
   * The most requests of one connection that may be open at a time; 1024 by default. One more is answered 400. Twice as
   * many may wait for one Computer, and four times as many in one office.
   */
  readonly maxOpenRequests?: number | undefined;
  /** How much longer than a request's time-out the Server waits for a Computer, in milliseconds; 5,000 by default. */
  readonly graceMs?: number | undefined;
  /** Where to tell what happens; nowhere by default. */
  readonly logger?: Logger | undefined;
}

/** The options of a Server with an address of its own. */
export interface ListenOptions extends SmcpServerOptions {
  /** The name or address to listen on; `127.0.0.1` by default. */
  readonly host?: string | undefined;
  /** The TCP port, 0 for a free one; 3000 by default. */
  readonly port?: number | undefined;
  /**
   * The most TCP connections; by default three quarters of the open files that the system allows, less 32, or 16,384 where
   * that cannot be read.
   */
  readonly maxSockets?: number | undefined;
  /**
   * How long the head of an HTTP request may take, in milliseconds; 10,000 by default, looked at every 2 seconds. A TCP
   * connection that sends nothing is closed then, too.
   */
  readonly headTimeoutMs?: number | undefined;
  /** Gives up starting. */
  readonly signal?: AbortSignal | undefined;
}

/** The options with nothing left open. */
export interface Settings {
  readonly auth: AuthProvider;
  readonly handshake: HandshakePolicy;
  readonly path: string;
  readonly maxPayloadBytes: number;
  readonly pingIntervalMs: number;
  readonly pingTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly authTimeoutMs: number;
  readonly maxStrangers: number;
  readonly maxStrangersPerAddress: number;
  readonly maxOpenRequests: number;
  readonly loadLimits: LoadLimits;
  readonly graceMs: number;
  readonly logger: Logger;
}

/**
 * Fills in the defaults.
 *
 * @param options What the host program wants.
 * @param host Where the Server will listen; `undefined` when that is not ours to know.
 * @throws {TypeError} for options that contradict each other or make no sense.
 */
export function toSettings(options: SmcpServerOptions, host: string | undefined): Settings {
  const { auth, allowAnonymous = false, path = DEFAULT_SOCKET_PATH } = options;
  const isOpen = auth === undefined && !allowAnonymous;
  if (isOpen && (host === undefined || !isLoopback(host))) throw new TypeError(explainLoopback(host));
  if (!path.startsWith("/")) throw new TypeError(`Cannot serve path "${path}": it must begin with a slash`);
  return {
    ...boundsOf(options),
    auth: auth ?? anonymous,
    handshake: handshakePolicyOf(options, host),
    path: path.replace(/\/*$/, "/"),
    logger: options.logger ?? silentLogger,
  };
}

function handshakePolicyOf(options: SmcpServerOptions, host: string | undefined): HandshakePolicy {
  const { auth, acceptedVersions = DEFAULT_ACCEPTED_VERSIONS, allowUnversioned = false } = options;
  const { allowedOrigins = [], allowedHosts = [] } = options;
  return {
    acceptedVersions: parseAcceptedVersions(acceptedVersions),
    allowUnversioned,
    isOriginAllowed: createOriginRule({
      allowed: allowedOrigins,
      // Some programs send the URL that they were given as their Origin. A Host that was allowed by its name is no trap.
      allowSameHost: auth !== undefined || !allowedHosts.includes("*"),
    }),
    isHostAllowed: hostRuleOf(options, host),
  };
}

const DEFAULT_BOUNDS = {
  maxPayloadBytes: DEFAULT_MAX_PAYLOAD_BYTES,
  pingIntervalMs: DEFAULT_PING_INTERVAL_MS,
  pingTimeoutMs: DEFAULT_PING_TIMEOUT_MS,
  connectTimeoutMs: DEFAULT_CONNECT_TIMEOUT_MS,
  authTimeoutMs: DEFAULT_AUTH_TIMEOUT_MS,
  maxPendingConnections: DEFAULT_MAX_STRANGERS,
  maxPendingConnectionsPerAddress: DEFAULT_MAX_STRANGERS_PER_ADDRESS,
  maxOpenRequests: DEFAULT_MAX_OPEN_REQUESTS,
} as const;

function boundsOf(options: SmcpServerOptions) {
  const boundOf = (option: keyof typeof DEFAULT_BOUNDS) =>
    requirePositive(option, options[option] ?? DEFAULT_BOUNDS[option]);
  const timeOf = (option: keyof typeof DEFAULT_BOUNDS) => requireTime(option, boundOf(option));
  const maxOpenRequests = boundOf("maxOpenRequests");
  return {
    maxPayloadBytes: boundOf("maxPayloadBytes"),
    pingIntervalMs: timeOf("pingIntervalMs"),
    pingTimeoutMs: timeOf("pingTimeoutMs"),
    connectTimeoutMs: timeOf("connectTimeoutMs"),
    authTimeoutMs: timeOf("authTimeoutMs"),
    maxStrangers: boundOf("maxPendingConnections"),
    maxStrangersPerAddress: boundOf("maxPendingConnectionsPerAddress"),
    maxOpenRequests,
    loadLimits: loadLimitsFor(maxOpenRequests),
    graceMs: requireTime("graceMs", options.graceMs ?? SERVER_GRACE_MS),
  };
}

function hostRuleOf(options: SmcpServerOptions, own: string | undefined): HostRule {
  const { auth, allowAnonymous = false, allowedHosts = [] } = options;
  if (auth !== undefined) return () => true;
  return createHostRule({ allowed: allowedHosts, own, isOpenToOthers: allowAnonymous });
}

function explainLoopback(host: string | undefined): string {
  const place = host === undefined ? "another HTTP server" : `"${host}"`;
  return `Cannot serve on ${place} without credentials: give an auth provider, or allow anonymous peers`;
}

/** Reads a bound. */
export function requirePositive(option: string, value: number): number {
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new RangeError(`Cannot use ${option} "${value}": not a whole number above 0`);
}

/** What a slow or silent client may cost an HTTP server of our own. */
export function httpOptionsOf({ headTimeoutMs = DEFAULT_HEAD_TIMEOUT_MS }: ListenOptions) {
  const headersTimeout = requirePositive("headTimeoutMs", headTimeoutMs);
  return {
    headersTimeout: requireTime("headTimeoutMs", headersTimeout),
    requestTimeout: Math.max(REQUEST_TIMEOUT_MS, headersTimeout),
    connectionsCheckingInterval: Math.min(REQUEST_CHECK_INTERVAL_MS, headersTimeout),
  };
}

/** A timer cannot wait for more than 24 days, and fires at once for a longer time. */
function requireTime(option: string, timeMs: number): number {
  if (timeMs >= 0 && timeMs <= MAX_TIME_MS) return timeMs;
  throw new RangeError(`Cannot use ${option} "${timeMs}": not from 0 to ${MAX_TIME_MS} ms`);
}
