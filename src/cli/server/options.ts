/**
 * The options of the Server, once: `--help`, the environment, the file of `--config` and the tables of `docs/`
 * are made from this list. A key of the file is the long flag without its dashes.
 */
import type { Option } from "commander";
import { DEFAULT_SOCKET_PATH } from "../../protocol/server_address.ts";
import { DEFAULT_ACCEPTED_VERSIONS, TRANSPORTS } from "../../server/admission/handshake.ts";
import { DEFAULT_REDIS_PREFIX } from "../../server/offices/redis/settings.ts";
import { DEFAULT_DRAIN_TIMEOUT_MS } from "../../server/limits.ts";
import {
  LIMIT_OPTIONS,
  NUMBER_OPTION_NAMES,
  type NumberOption,
  QUOTA_OPTIONS,
  TIME_OPTIONS,
} from "../../server/number_options.ts";
import { type LogOptions, parseMilliseconds, parsePort } from "../options.ts";
import { jwtOptions, type TokenOptions, tokenOptions } from "./credentials.ts";
import { numberOption, option, Switch, words } from "./option_kinds.ts";

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
    { heading: "Limits", options: numberOptions(LIMIT_OPTIONS) },
    { heading: "Quotas", options: numberOptions(QUOTA_OPTIONS) },
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

function numberOptions(table: Readonly<Partial<Record<NumberOption, unknown>>>): Option[] {
  return NUMBER_OPTION_NAMES.filter((name) => Object.hasOwn(table, name)).map(numberOption);
}

function timeOptions(): Option[] {
  return [
    ...numberOptions(TIME_OPTIONS),
    option("--drain-timeout <ms>", "the time to finish requests in flight after SIGTERM, SIGHUP or Ctrl-C")
      .argParser(parseMilliseconds).default(DEFAULT_DRAIN_TIMEOUT_MS),
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
