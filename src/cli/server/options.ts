/**
 * The options of the Server, once: `--help`, the environment, the file of `--config` and the table of `docs/server.md`
 * are made from this list. A key of the file is the long flag without its dashes.
 */
import type { Option } from "commander";
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
import { count, option, size, Switch, time, words } from "./option_kinds.ts";

export interface ServerCliOptions extends LogOptions, TokenOptions {
  readonly config?: string;
  readonly redis?: string;
  readonly redisPrefix?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly allowAnonymous?: boolean;
  readonly maxPayload: number;
  readonly maxMessageMemory: number;
  readonly drainTimeout: number;
  readonly auditLog?: string;
  readonly metricsPort?: number;
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
    option("--redis <url>", "share the offices with other processes through this Redis").env(
      "A2C_REDIS_URL",
    ),
    option("--redis-prefix <prefix>", `the beginning of all keys (default: ${DEFAULT_REDIS_PREFIX})`),
  ];
}

function addressOptions(): Option[] {
  return [
    option("--host <host>", "the name or address to listen on").default("127.0.0.1"),
    option("--port <port>", "the port to listen on, 0 for any free port").argParser(parsePort)
      .default(3000).env("PORT"),
    option("--path <path>", "the Socket.IO path").default(DEFAULT_SOCKET_PATH),
    option("--tls-cert <file>", "serve https with this certificate (PEM); read again when it changes"),
    option("--tls-key <file>", "the private key of that certificate (PEM)"),
    option("--config <file>", "read options from this JSON file; flags and the environment override it")
      .env("A2C_SERVER_CONFIG"),
  ];
}

function admissionOptions(): Option[] {
  return [
    ...tokenOptions(),
    new Switch("--allow-anonymous", "serve other machines without requiring a token"),
  ];
}

function clientOptions(): Option[] {
  return [
    words("--allow-origin <origin...>", "origins of web pages that can connect, * for all").sets(
      "allowedOrigins",
    ),
    words("--allow-host <host...>", "without tokens: accepted values of the Host header, * for all").sets(
      "allowedHosts",
    ),
    words(
      "--transports <transport...>",
      `how clients may connect (default: ${TRANSPORTS.join(" ")})`,
    ),
    words(
      "--trust-proxy <address...>",
      "reverse proxies whose X-Forwarded headers are read: addresses, networks, loopback, private",
    ).sets("trustedProxies"),
    new Switch("--allow-unversioned", "accept clients of protocol 0.1, which send no version"),
    words(
      "--accept <MAJOR.MINOR...>",
      `accepted protocol versions (default: ${DEFAULT_ACCEPTED_VERSIONS.join(" ")})`,
    ).sets("acceptedVersions"),
  ];
}

function limitOptions(): Option[] {
  return [
    size("--max-payload <bytes>", "the largest message, in bytes or such as 16MiB", {
      min: MIN_MAX_PAYLOAD_BYTES,
    }).default(DEFAULT_MAX_PAYLOAD_BYTES),
    size(
      "--max-message-memory <bytes>",
      "the most bytes of messages that are on their way; a quarter of it for unfinished ones of one principal",
      { min: 1 },
    )
      .default(DEFAULT_MAX_MESSAGE_MEMORY_BYTES),
    count("--max-open-requests <count>", "the most open requests of one connection")
      .default(DEFAULT_MAX_OPEN_REQUESTS),
    count("--max-pending <count>", "the most connections that are not authenticated yet").sets(
      "maxPendingConnections",
    )
      .default(DEFAULT_MAX_PENDING_CONNECTIONS),
    count(
      "--max-pending-per-address <count>",
      "the same limit for one address; behind a proxy, use --trust-proxy",
    ).sets("maxPendingConnectionsPerAddress")
      .default(DEFAULT_MAX_PENDING_CONNECTIONS_PER_ADDRESS),
    count("--max-sockets <count>", "the most TCP connections (default: from the limit of open files)"),
  ];
}

/** Quotas of one process, except the one of members. */
function quotaOptions(): Option[] {
  const share = "three quarters of --max-sockets";
  return [
    count(
      "--max-connections-per-principal <count>",
      `the most connections of one principal (default: ${share} with credentials, else any number)`,
    ),
    count(
      "--max-connections-per-address <count>",
      `the most connections of one address (default: ${share})`,
    ),
    count(
      "--max-connects-per-principal <count>",
      "the most new connections of one principal per second, 200 times as many at once " +
        `(default: ${DEFAULT_MAX_CONNECTS} with credentials, else any number)`,
    ),
    count(
      "--max-connects-per-address <count>",
      `the most new connections of one address per second, 200 times as many at once (default: ${DEFAULT_MAX_CONNECTS})`,
    ),
    count(
      "--max-requests-per-principal <count>",
      "the most events of one principal per second, 5 times as many at once (default: any number)",
    ),
    count(
      "--max-requests-per-address <count>",
      "the most events of one address per second, 5 times as many at once (default: any number)",
    ),
    count("--max-offices <count>", "the most offices with members on this process (default: any number)"),
    count(
      "--max-offices-per-principal <count>",
      "the most offices with members of one principal (default: any number)",
    ),
    count(
      "--max-members-per-office <count>",
      "the most members of one office, of all processes, without observers; the last place is its Agent's",
    )
      .default(DEFAULT_MAX_MEMBERS),
  ];
}

function timeOptions(): Option[] {
  return [
    time("--ping-interval <ms>", "the time between heartbeats of a connection")
      .default(DEFAULT_PING_INTERVAL_MS),
    time("--ping-timeout <ms>", "the time to answer a heartbeat").default(DEFAULT_PING_TIMEOUT_MS),
    time("--connect-timeout <ms>", "the time to send the CONNECT packet").default(DEFAULT_CONNECT_TIMEOUT_MS)
      .env("A2C_SERVER_CONNECT_TIMEOUT"),
    time("--auth-timeout <ms>", "the time to check credentials").default(DEFAULT_AUTH_TIMEOUT_MS),
    time("--head-timeout <ms>", "the time to send the headers of an HTTP request")
      .default(DEFAULT_HEAD_TIMEOUT_MS),
    time("--grace <ms>", "the time to wait for a Computer after the timeout of a request")
      .default(SERVER_GRACE_MS),
    time("--drain-timeout <ms>", "the time to finish requests in flight after SIGTERM, SIGHUP or Ctrl-C")
      .default(DEFAULT_DRAIN_TIMEOUT_MS),
  ];
}

function metricsOptions(): Option[] {
  return [
    option("--metrics-port <port>", "serve /metrics, /healthz and /readyz on this port as well")
      .argParser(parsePort),
    option("--metrics-host <host>", "the name or address of that port").default("127.0.0.1"),
    option(
      "--metrics-token <token>",
      "require this bearer token; serve /metrics on the main port as well",
    ),
    option("--metrics-token-file <file>", "the same, with the token in the first line of a file"),
    option(
      "--audit-log <file>",
      "append who connects, joins, leaves and is refused to this file, as JSON lines",
    ),
  ];
}
