/**
 * The options of a Server that are numbers, once: checks, flags, `--help`, refusals and log lines are made from these tables.
 * The end of a name tells the unit: `Bytes`, `Ms`, or none for a count.
 */
import { SERVER_GRACE_MS } from "../protocol/timeouts.ts";

interface NumberOptionFacts {
  readonly help: string;
  /** Without it, `help` says what the default is. */
  readonly default?: number;
  /** The least value; 1 by default. */
  readonly least?: number;
  /** Where the flag is not the name without its unit. */
  readonly flag?: string;
  /** Where the variable is not `A2C_` and the flag. */
  readonly variable?: string;
}

/** Limits of one process. */
export const LIMIT_OPTIONS = {
  maxPayloadBytes: {
    help: "the largest message, in bytes or such as 16MiB",
    default: 16 * 1024 * 1024,
    // A join with long names, and the credentials of a client, must fit.
    least: 4_096,
  },
  maxMessageMemoryBytes: {
    help:
      "the most bytes of messages that are on their way; a quarter of it for unfinished ones of one principal",
    default: 512 * 1024 * 1024,
  },
  maxOpenRequests: { help: "the most open requests of one connection", default: 1024 },
  maxPendingConnections: {
    help: "the most connections that are not authenticated yet",
    default: 512,
    flag: "--max-pending",
  },
  maxPendingConnectionsPerAddress: {
    help: "the same limit for one address; behind a proxy, use --trust-proxy",
    default: 64,
    flag: "--max-pending-per-address",
  },
  maxSockets: { help: "the most TCP connections (default: from the limit of open files)" },
} as const satisfies Readonly<Record<string, NumberOptionFacts>>;

/** The most new connections of one address, or of one principal of a Server with credentials, per second. */
export const DEFAULT_MAX_CONNECTS = 100;
const SHARE = "three quarters of --max-sockets";

/** Limits of each principal, address and office. */
export const QUOTA_OPTIONS = {
  maxConnectionsPerPrincipal: {
    help: `the most connections of one principal (default: ${SHARE} with credentials, else any number)`,
  },
  maxConnectionsPerAddress: { help: `the most connections of one address (default: ${SHARE})` },
  maxConnectsPerPrincipal: {
    help: "the most new connections of one principal per second, 200 times as many at once " +
      `(default: ${DEFAULT_MAX_CONNECTS} with credentials, else any number)`,
  },
  maxConnectsPerAddress: {
    help: "the most new connections of one address per second, 200 times as many at once " +
      `(default: ${DEFAULT_MAX_CONNECTS})`,
  },
  maxRequestsPerPrincipal: {
    help: "the most events of one principal per second, 5 times as many at once (default: any number)",
  },
  maxRequestsPerAddress: {
    help: "the most events of one address per second, 5 times as many at once (default: any number)",
  },
  maxOffices: { help: "the most offices with members on this process (default: any number)" },
  maxOfficesPerPrincipal: { help: "the most offices with members of one principal (default: any number)" },
  maxMembersPerOffice: {
    help:
      "the most members of one office, of all processes, without observers; the last place is its Agent's",
    default: 2_048,
  },
} as const satisfies Readonly<Record<string, NumberOptionFacts>>;

export const TIME_OPTIONS = {
  pingIntervalMs: { help: "the time between heartbeats of a connection", default: 25_000 },
  pingTimeoutMs: { help: "the time to answer a heartbeat", default: 20_000 },
  connectTimeoutMs: {
    help: "the time to send the CONNECT packet",
    default: 5_000,
    variable: "A2C_SERVER_CONNECT_TIMEOUT",
  },
  authTimeoutMs: { help: "the time to check credentials", default: 10_000 },
  headTimeoutMs: { help: "the time to send the headers of an HTTP request", default: 10_000 },
  graceMs: {
    help: "the time to wait for a Computer after the timeout of a request",
    default: SERVER_GRACE_MS,
    least: 0,
  },
} as const satisfies Readonly<Record<string, NumberOptionFacts>>;

const NUMBER_OPTIONS = { ...LIMIT_OPTIONS, ...QUOTA_OPTIONS, ...TIME_OPTIONS };

export type NumberOption = keyof typeof NUMBER_OPTIONS;
/** One that has the same default on every Server. */
export type DefaultedOption = {
  [Name in NumberOption]: typeof NUMBER_OPTIONS[Name] extends { readonly default: number } ? Name : never;
}[NumberOption];

export const NUMBER_OPTION_NAMES = Object.keys(NUMBER_OPTIONS) as readonly NumberOption[];

export function factsOf(name: NumberOption): NumberOptionFacts {
  return NUMBER_OPTIONS[name];
}

export function flagOf(name: NumberOption): string {
  const words = name.replace(/(?:Bytes|Ms)$/, "").replaceAll(
    /[A-Z]/g,
    (letter) => `-${letter.toLowerCase()}`,
  );
  return factsOf(name).flag ?? `--${words}`;
}

/** Names an option as operators know it and as programs do, such as `--max-offices (maxOffices)`. */
export function optionLabel(name: NumberOption): string {
  return `${flagOf(name)} (${name})`;
}

/** The longest time: a day, like the longest time-out of a request. A timer for more than 24 days would fire at once. */
const MAX_TIME_MS = 86_400_000;

/** @throws {RangeError} for a number that cannot be used. */
export function requireNumber(name: NumberOption, value: number): number {
  const { least = 1 } = factsOf(name);
  const isTime = name.endsWith("Ms");
  const isUsable = value >= least && (least === 0 || Number.isSafeInteger(value)) &&
    (!isTime || value <= MAX_TIME_MS);
  if (isUsable) return value;
  const expected = isTime
    ? `${least} to ${MAX_TIME_MS} ms`
    : least === 1
    ? "a positive integer"
    : `${least} or more, so that members can join`;
  throw new RangeError(`Cannot use ${name} "${value}": expected ${expected}`);
}

/** Returns an option, or else its default, after checking it. */
export function numberOf(
  options: { readonly [Name in DefaultedOption]?: number | undefined },
  name: DefaultedOption,
): number {
  return requireNumber(name, options[name] ?? NUMBER_OPTIONS[name].default);
}
