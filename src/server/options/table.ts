/**
 * The options of a Server, once: its types, checks, refusals and log lines, `--help`, the environment, the file of
 * `--config` and the tables of the docs are made from this table. The name of a row is that of the library's option, or of
 * the program's alone. The end of a name tells the unit: `Bytes`, `Ms`, or none for a count. Numbers that nobody sets stand
 * in `constants.ts`.
 */
import { DEFAULT_SOCKET_PATH } from "../../protocol/server_address.ts";
import { PROTOCOL_MINORS } from "../../protocol/version.ts";
import { CREDENTIAL_ROWS, JWT_ROWS } from "./credential_rows.ts";
import type { OptionRows } from "./row.ts";

const ADDRESS = {
  host: {
    help: "the name or address to listen on",
    who: "a Server for other machines",
    of: "listen",
    default: "127.0.0.1",
  },
  port: {
    kind: "port",
    help: "the port to listen on, 0 for any free port",
    who: "everybody",
    of: "listen",
    default: 3_000,
    variable: "PORT",
  },
  path: {
    help: "the HTTP path of Socket.IO",
    who: "a Server behind a proxy that does not rewrite paths",
    default: DEFAULT_SOCKET_PATH,
  },
  tlsCert: {
    help: "serve https with this certificate (PEM); read again when it changes",
    who: "a Server for other machines without a proxy that ends TLS",
    of: "program",
    library: "tls.certFile",
    value: "file",
  },
  tlsKey: {
    help: "the private key of that certificate (PEM)",
    who: "a Server with --tls-cert",
    of: "program",
    library: "tls.keyFile",
    value: "file",
  },
  config: {
    help: "read options from this JSON file; flags and the environment override it",
    who: "an operator who keeps options in a file",
    of: "program",
    value: "file",
    variable: "A2C_SERVER_CONFIG",
  },
} as const satisfies OptionRows;

const CLIENTS = {
  allowedOrigins: {
    kind: "words",
    help: "origins of web pages that can connect, * for all",
    who: "Agents in web pages of another host",
    note: "Pages of loopback and of the Server's own host can always connect.",
    flag: "--allow-origin",
  },
  allowedHosts: {
    kind: "words",
    help: "without tokens: accepted values of the Host header, * for all",
    who: "a Server without tokens that is reached by another name",
    note:
      "A value is `name` for any port, or `name:port`. A Server without `auth` always accepts `localhost` and " +
      "loopback addresses, with `allowAnonymous` also IP addresses and `host` itself. One with `auth` accepts all.",
    flag: "--allow-host",
  },
  transports: {
    kind: "words",
    help: "how clients may connect",
    who: "several processes behind a balancer without sticky sessions: websocket alone",
    note:
      "All requests of a session over polling must reach the same process. Our Agent and Computer find out by " +
      "themselves what is served.",
    default: ["polling", "websocket"],
    value: "transport",
  },
  trustedProxies: {
    kind: "words",
    help: "reverse proxies whose X-Forwarded headers are read: addresses, networks, loopback, private",
    who: "a Server behind a reverse proxy",
    note:
      "Each of them must add to `X-Forwarded-For`, and set or remove `-Host` and `-Proto`. Without it, the address " +
      "of a client is that of its TCP connection.",
    flag: "--trust-proxy",
    value: "address",
  },
  allowUnversioned: {
    kind: "switch",
    help: "accept clients of protocol 0.1, which send no version",
    who: "a Server with clients of protocol 0.1",
  },
  acceptedVersions: {
    kind: "words",
    help: "accepted protocol versions",
    who: "an operator who ends the use of old clients",
    default: PROTOCOL_MINORS,
    flag: "--accept",
    value: "MAJOR.MINOR",
  },
} as const satisfies OptionRows;

const MIB = 1024 * 1024;
const SHARE = "three quarters of --max-sockets";

const LIMITS = {
  maxPayloadBytes: {
    kind: "bytes",
    help: "the largest message",
    who: "Computers with large pictures and documents",
    note:
      "An event or an ack over WebSocket up to four times as large is skipped and answered 413; any other larger " +
      "message ends its connection. As many bytes may wait for a member that reads slowly; beyond that, requests to it " +
      "are refused with 413, and 8 MiB later its connection is closed.",
    default: 16 * MIB,
    // A join with long names, and the credentials of a client, must fit.
    least: 4_096,
  },
  maxMessageMemoryBytes: {
    kind: "bytes",
    help: "the memory for all messages on their way, in and out",
    who: "a machine with little memory, or many large messages at once",
    note:
      "At least four messages of the largest size. What one principal, or without `auth` one address, has not " +
      "finished takes at most a quarter of it, and what waits until members read it at most half. Beyond that, messages " +
      "above 64 KiB are refused with 413, or end their session.",
    default: 512 * MIB,
  },
  maxOpenRequests: {
    kind: "count",
    help: "the most open requests of one connection",
    who: "an Agent that serves many users at once",
    note: "One more is answered 400. The observers of one office may have a quarter as many, together.",
    default: 1_024,
  },
  maxPendingConnectionsPerAddress: {
    kind: "count",
    help:
      "the most connections of one address that are not authenticated yet; behind a proxy, use --trust-proxy",
    who: "many clients behind one address",
    note: "One more is answered 503.",
    default: 64,
    flag: "--max-pending-per-address",
  },
  maxSockets: {
    kind: "count",
    help: "the most TCP connections",
    who: "a process that shares its open files with others",
    note:
      "By default three quarters of the system's limit of open files, minus 32; 16,384 when the limit cannot be read.",
    of: "listen",
    otherwise: "from the limit of open files",
  },
} as const satisfies OptionRows;

const QUOTAS = {
  maxConnectionsPerPrincipal: {
    kind: "count",
    help: "the most connections of one principal",
    who: "a Server whose clients do not trust each other",
    note: "One more is refused with 429, as is what exceeds the next two. It counts those of one process.",
    otherwise: `${SHARE} with credentials, else any number`,
  },
  maxRequestsPerPrincipal: {
    kind: "count",
    help:
      "the most events of one principal per second, 5 times as many at once; all MCP clients of a hub are one",
    who: "a Server whose clients do not trust each other",
    note: "Questions for the progress of calls count apart.",
    otherwise: "any number",
  },
  maxMembersPerOffice: {
    kind: "count",
    help:
      "the most members of one office, of all processes, without observers; the last place is its Agent's",
    who: "an office of thousands of Computers",
    default: 2_048,
  },
} as const satisfies OptionRows;

const TIMEOUTS = {
  pingIntervalMs: {
    kind: "ms",
    help: "the time between heartbeats of a connection",
    who: "a proxy that closes idle connections earlier",
    default: 25_000,
  },
  pingTimeoutMs: {
    kind: "ms",
    help: "the time to answer a heartbeat",
    who: "members on slow or unsteady networks",
    default: 20_000,
  },
  drainTimeoutMs: {
    kind: "ms",
    help: "the time to finish requests in flight after SIGTERM, SIGHUP or Ctrl-C",
    who: "a platform that ends a process later than after 5 seconds",
    of: "program",
    default: 4_000,
  },
} as const satisfies OptionRows;

const METRICS = {
  metricsPort: {
    kind: "port",
    help: "serve /metrics, /healthz and /readyz on this port as well",
    who: "monitoring",
    of: "listen",
  },
  metricsHost: {
    help: "the name or address of that port",
    who: "monitoring from another machine or container",
    of: "listen",
    default: "127.0.0.1",
  },
  metricsToken: {
    help: "require this bearer token for /metrics; serve it on the main port as well",
    isSecret: true,
    who: "monitoring over a network that is not private",
    of: "listen",
  },
  metricsTokenFile: {
    help: "the same, with the token in the first line of a file",
    who: "monitoring over a network that is not private",
    of: "program",
    library: "metricsToken",
  },
  auditLog: {
    help: "append who connects, joins, leaves and is refused to this file, as JSON lines",
    who: "an operator who has to account for access",
    of: "program",
    value: "file",
  },
} as const satisfies OptionRows;

const CLUSTER = {
  redisUrl: {
    help: "share the offices with other processes through this Redis",
    isSecret: true,
    who: "several processes",
    of: "program",
    library: "redis.url",
    flag: "--redis",
    value: "url",
    variable: "A2C_REDIS_URL",
  },
  redisPrefix: {
    help: "the beginning of all keys",
    who: "two Servers on one Redis",
    of: "program",
    library: "redis.prefix",
    default: "a2c",
  },
} as const satisfies OptionRows;

/** The names of the rows, as the help and the docs group them. */
export const OPTION_GROUPS = {
  "Address": ADDRESS,
  "Credentials": CREDENTIAL_ROWS,
  "JSON Web Tokens": JWT_ROWS,
  "Clients": CLIENTS,
  "Limits": LIMITS,
  "Quotas": QUOTAS,
  "Timeouts": TIMEOUTS,
  "Metrics and audit": METRICS,
  "Several processes": CLUSTER,
} as const;

export const OPTIONS = {
  ...ADDRESS,
  ...CREDENTIAL_ROWS,
  ...JWT_ROWS,
  ...CLIENTS,
  ...LIMITS,
  ...QUOTAS,
  ...TIMEOUTS,
  ...METRICS,
  ...CLUSTER,
};

export type OptionName = keyof typeof OPTIONS;
