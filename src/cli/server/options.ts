/**
 * The options of the Server, once: `--help`, the environment, the file of `--config` and the table of `docs/server.md`
 * are made from this list. A key of the file is the long flag without its dashes.
 */
import { Option } from "commander";
import { DEFAULT_SOCKET_PATH } from "../../protocol/server_address.ts";
import { SERVER_GRACE_MS } from "../../protocol/timeouts.ts";
import { DEFAULT_ACCEPTED_VERSIONS, TRANSPORTS } from "../../server/admission/handshake.ts";
import { DEFAULT_REDIS_PREFIX } from "../../server/cluster/redis/settings.ts";
import {
  DEFAULT_AUTH_TIMEOUT_MS,
  DEFAULT_CONNECT_TIMEOUT_MS,
  DEFAULT_DRAIN_TIMEOUT_MS,
  DEFAULT_HEAD_TIMEOUT_MS,
  DEFAULT_MAX_CONNECTS,
  DEFAULT_MAX_MEMBERS,
  DEFAULT_MAX_MESSAGE_MEMORY_BYTES,
  DEFAULT_MAX_OPEN_REQUESTS,
  DEFAULT_MAX_PAYLOAD_BYTES,
  DEFAULT_MAX_PENDING_CONNECTIONS,
  DEFAULT_MAX_PENDING_CONNECTIONS_PER_ADDRESS,
  DEFAULT_PING_INTERVAL_MS,
  DEFAULT_PING_TIMEOUT_MS,
  MIN_MAX_PAYLOAD_BYTES,
} from "../../server/limits.ts";
import { type LogOptions, parsePort } from "../options.ts";
import { jwtOptions, type TokenOptions, tokenOptions } from "./credentials.ts";
import { count, size, Switch, time, words } from "./option_kinds.ts";

export interface ServerCliOptions extends LogOptions, TokenOptions {
  readonly config?: string;
  readonly redis?: string;
  readonly redisPrefix?: string;
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly allowAnonymous?: boolean;
  readonly allowOrigin?: readonly string[];
  readonly allowHost?: readonly string[];
  readonly transports?: readonly string[];
  readonly trustProxy?: readonly string[];
  readonly allowUnversioned?: boolean;
  readonly accept?: readonly string[];
  readonly maxPayload: number;
  readonly maxOpenRequests: number;
  readonly maxPending: number;
  readonly maxPendingPerAddress: number;
  readonly maxSockets?: number;
  readonly maxConnectionsPerPrincipal?: number;
  readonly maxConnectionsPerAddress?: number;
  readonly maxConnectsPerPrincipal?: number;
  readonly maxConnectsPerAddress?: number;
  readonly maxRequestsPerPrincipal?: number;
  readonly maxRequestsPerAddress?: number;
  readonly maxMessageMemory: number;
  readonly maxOffices?: number;
  readonly maxOfficesPerPrincipal?: number;
  readonly maxMembersPerOffice: number;
  readonly pingInterval: number;
  readonly pingTimeout: number;
  readonly connectTimeout: number;
  readonly authTimeout: number;
  readonly headTimeout: number;
  readonly grace: number;
  readonly drainTimeout: number;
  readonly auditLog?: string;
  readonly metricsPort?: number;
  readonly metricsHost: string;
  readonly metricsToken?: string;
  readonly metricsTokenFile?: string;
}

export interface OptionGroup {
  readonly heading: string;
  readonly options: readonly Option[];
}

/** Declares all options anew: commander keeps the state of a command line in them. */
export function serverOptionGroups(): readonly OptionGroup[] {
  return [
    { heading: "Address", options: addressOptions() },
    { heading: "Credentials", options: admissionOptions() },
    { heading: "JSON Web Tokens", options: jwtOptions() },
    { heading: "Clients", options: clientOptions() },
    { heading: "Limits", options: limitOptions() },
    { heading: "Quotas", options: quotaOptions() },
    { heading: "Timeouts", options: timeOptions() },
    { heading: "Metrics and audit", options: metricsOptions() },
    { heading: "Several processes", options: redisOptions() },
  ];
}

function redisOptions(): Option[] {
  return [
    new Option("--redis <url>", "share the offices with other processes through this Redis").env(
      "A2C_REDIS_URL",
    ),
    new Option("--redis-prefix <prefix>", `the beginning of all keys (default: ${DEFAULT_REDIS_PREFIX})`)
      .env("A2C_REDIS_PREFIX"),
  ];
}

function addressOptions(): Option[] {
  return [
    new Option("--host <host>", "the name or address to listen on").default("127.0.0.1").env("A2C_HOST"),
    new Option("--port <port>", "the port to listen on, 0 for any free port").argParser(parsePort)
      .default(3000).env("PORT"),
    new Option("--path <path>", "the Socket.IO path").default(DEFAULT_SOCKET_PATH).env("A2C_PATH"),
    new Option("--tls-cert <file>", "serve https with this certificate (PEM); read again when it changes")
      .env("A2C_TLS_CERT"),
    new Option("--tls-key <file>", "the private key of that certificate (PEM)").env("A2C_TLS_KEY"),
    new Option("--config <file>", "read options from this JSON file; flags and the environment override it")
      .env("A2C_SERVER_CONFIG"),
  ];
}

function admissionOptions(): Option[] {
  return [
    ...tokenOptions(),
    new Switch("--allow-anonymous", {
      description: "serve other machines without requiring a token",
      variable: "A2C_ALLOW_ANONYMOUS",
    }),
  ];
}

function clientOptions(): Option[] {
  return [
    words("--allow-origin <origin...>", "origins of web pages that can connect, * for all")
      .env("A2C_ALLOW_ORIGIN"),
    words("--allow-host <host...>", "without tokens: accepted values of the Host header, * for all")
      .env("A2C_ALLOW_HOST"),
    words(
      "--transports <transport...>",
      `how clients may connect (default: ${TRANSPORTS.join(" ")})`,
    ).env("A2C_TRANSPORTS"),
    words(
      "--trust-proxy <address...>",
      "reverse proxies whose X-Forwarded headers are read: addresses, networks, loopback, private",
    ).env("A2C_TRUST_PROXY"),
    new Switch("--allow-unversioned", {
      description: "accept clients of protocol 0.1, which send no version",
      variable: "A2C_ALLOW_UNVERSIONED",
    }),
    words(
      "--accept <MAJOR.MINOR...>",
      `accepted protocol versions (default: ${DEFAULT_ACCEPTED_VERSIONS.join(" ")})`,
    ).env("A2C_ACCEPT"),
  ];
}

function limitOptions(): Option[] {
  return [
    size("--max-payload <bytes>", "the largest message, in bytes or such as 16MiB", {
      min: MIN_MAX_PAYLOAD_BYTES,
    }).default(DEFAULT_MAX_PAYLOAD_BYTES)
      .env("A2C_MAX_PAYLOAD"),
    size(
      "--max-message-memory <bytes>",
      "the most bytes of messages that are on their way; a quarter of it for unfinished ones of one principal",
      { min: 1 },
    )
      .default(DEFAULT_MAX_MESSAGE_MEMORY_BYTES).env("A2C_MAX_MESSAGE_MEMORY"),
    count("--max-open-requests <count>", "the most open requests of one connection")
      .default(DEFAULT_MAX_OPEN_REQUESTS).env("A2C_MAX_OPEN_REQUESTS"),
    count("--max-pending <count>", "the most connections that are not authenticated yet")
      .default(DEFAULT_MAX_PENDING_CONNECTIONS).env("A2C_MAX_PENDING"),
    count(
      "--max-pending-per-address <count>",
      "the same limit for one address; behind a proxy, use --trust-proxy",
    )
      .default(DEFAULT_MAX_PENDING_CONNECTIONS_PER_ADDRESS).env("A2C_MAX_PENDING_PER_ADDRESS"),
    count("--max-sockets <count>", "the most TCP connections (default: from the limit of open files)")
      .env("A2C_MAX_SOCKETS"),
  ];
}

/** Quotas of one process, except the one of members. */
function quotaOptions(): Option[] {
  const share = "three quarters of --max-sockets";
  return [
    count(
      "--max-connections-per-principal <count>",
      `the most connections of one principal (default: ${share} with credentials, else any number)`,
    ).env("A2C_MAX_CONNECTIONS_PER_PRINCIPAL"),
    count(
      "--max-connections-per-address <count>",
      `the most connections of one address (default: ${share})`,
    ).env("A2C_MAX_CONNECTIONS_PER_ADDRESS"),
    count(
      "--max-connects-per-principal <count>",
      "the most new connections of one principal per second, 200 times as many at once " +
        `(default: ${DEFAULT_MAX_CONNECTS} with credentials, else any number)`,
    ).env("A2C_MAX_CONNECTS_PER_PRINCIPAL"),
    count(
      "--max-connects-per-address <count>",
      `the most new connections of one address per second, 200 times as many at once (default: ${DEFAULT_MAX_CONNECTS})`,
    ).env("A2C_MAX_CONNECTS_PER_ADDRESS"),
    count(
      "--max-requests-per-principal <count>",
      "the most events of one principal per second, 5 times as many at once (default: any number)",
    ).env("A2C_MAX_REQUESTS_PER_PRINCIPAL"),
    count(
      "--max-requests-per-address <count>",
      "the most events of one address per second, 5 times as many at once (default: any number)",
    ).env("A2C_MAX_REQUESTS_PER_ADDRESS"),
    count("--max-offices <count>", "the most offices with members on this process (default: any number)")
      .env("A2C_MAX_OFFICES"),
    count(
      "--max-offices-per-principal <count>",
      "the most offices with members of one principal (default: any number)",
    ).env("A2C_MAX_OFFICES_PER_PRINCIPAL"),
    count(
      "--max-members-per-office <count>",
      "the most members of one office, of all processes, without observers; the last place is its Agent's",
    )
      .default(DEFAULT_MAX_MEMBERS).env("A2C_MAX_MEMBERS_PER_OFFICE"),
  ];
}

function timeOptions(): Option[] {
  return [
    time("--ping-interval <ms>", "the time between heartbeats of a connection")
      .default(DEFAULT_PING_INTERVAL_MS).env("A2C_PING_INTERVAL"),
    time("--ping-timeout <ms>", "the time to answer a heartbeat").default(DEFAULT_PING_TIMEOUT_MS)
      .env("A2C_PING_TIMEOUT"),
    time("--connect-timeout <ms>", "the time to send the CONNECT packet").default(DEFAULT_CONNECT_TIMEOUT_MS)
      .env("A2C_SERVER_CONNECT_TIMEOUT"),
    time("--auth-timeout <ms>", "the time to check credentials").default(DEFAULT_AUTH_TIMEOUT_MS)
      .env("A2C_AUTH_TIMEOUT"),
    time("--head-timeout <ms>", "the time to send the headers of an HTTP request")
      .default(DEFAULT_HEAD_TIMEOUT_MS).env("A2C_HEAD_TIMEOUT"),
    time("--grace <ms>", "the time to wait for a Computer after the timeout of a request")
      .default(SERVER_GRACE_MS).env("A2C_GRACE"),
    time("--drain-timeout <ms>", "the time to finish requests in flight after SIGTERM, SIGHUP or Ctrl-C")
      .default(DEFAULT_DRAIN_TIMEOUT_MS).env("A2C_DRAIN_TIMEOUT"),
  ];
}

function metricsOptions(): Option[] {
  return [
    new Option("--metrics-port <port>", "serve /metrics, /healthz and /readyz on this port as well")
      .argParser(parsePort).env("A2C_METRICS_PORT"),
    new Option("--metrics-host <host>", "the name or address of that port").default("127.0.0.1")
      .env("A2C_METRICS_HOST"),
    new Option(
      "--metrics-token <token>",
      "require this bearer token; serve /metrics on the main port as well",
    )
      .env("A2C_METRICS_TOKEN"),
    new Option("--metrics-token-file <file>", "the same, with the token in the first line of a file")
      .env("A2C_METRICS_TOKEN_FILE"),
    new Option(
      "--audit-log <file>",
      "append who connects, joins, leaves and is refused to this file, as JSON lines",
    )
      .env("A2C_AUDIT_LOG"),
  ];
}
