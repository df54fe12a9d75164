/**
 * The numbers of a Server that are no options and that its docs name, with a sentence each: `docs/operations.md` prints them
 * from here. Other numbers stand in the modules that use them.
 */
import { MAX_RELAYED_DEPTH } from "../../json/json.ts";
import {
  KEY_SET_COOLDOWN_MS,
  KEY_SET_TIMEOUT_MS,
  MAX_KEY_FILE_BYTES,
  MAX_KEY_SET_BYTES,
  MAX_KEYS,
  MAX_TOKEN_LENGTH,
} from "../../jwt/bounds.ts";
import { AGENT_RETURN_MS, SERVER_GRACE_MS } from "../../protocol/call.ts";

export interface Constant {
  readonly value: number;
  readonly help: string;
  /** What happens beyond it. */
  readonly beyond: string;
}

type Constants = Readonly<Record<string, Constant>>;

const KIB = 1024;
const MIB = 1024 * KIB;
const ENDS = "the connection ends";

const BEFORE_ADMISSION = {
  maxPendingConnections: { value: 512, help: "connections that are not admitted yet, in all", beyond: "503" },
  replaceableAfterMs: {
    value: 1_000,
    help: "time that a connection keeps its place while all are taken",
    beyond: "a new connection may take it",
  },
  maxPendingBytes: { value: 64 * KIB, help: "bytes before the CONNECT packet", beyond: ENDS },
  // A few events of a client that does not wait.
  maxUndecidedBytes: { value: 8 * KIB, help: "bytes between CONNECT and the admission", beyond: ENDS },
  // A client needs three: CONNECT and two to upgrade. Some send their first events without waiting.
  maxPendingPackets: { value: 64, help: "packets of Engine.IO", beyond: ENDS },
  // Clients of Socket.IO do not pipeline.
  maxHeadsPerRead: { value: 4, help: "HTTP requests in one read", beyond: ENDS },
  maxTokenLength: { value: MAX_TOKEN_LENGTH, help: "characters of a token", beyond: "refused" },
  headTimeoutMs: {
    value: 10_000,
    help: "time to send the head of an HTTP request, or anything on a new TCP connection",
    beyond: ENDS,
  },
  connectTimeoutMs: { value: 5_000, help: "time to send the CONNECT packet", beyond: ENDS },
  authTimeoutMs: {
    value: 10_000,
    help: "time to check the credentials",
    beyond: "refused for now, with 503",
  },
} as const satisfies Constants;

const OWNERS = {
  connectionsShare: {
    value: 3 / 4,
    help: "share of `--max-sockets`; without credentials, of an address alone",
    beyond: "429",
  },
  // So that all clients can return after a restart.
  connectsBurstSeconds: {
    value: 200,
    help: "times as many new connections as in a second may come at once",
    beyond: "429",
  },
  maxConnectsPerPrincipal: {
    value: 100,
    help: "new connections per second of a principal, with credentials",
    beyond: "429",
  },
  maxConnectsPerAddress: { value: 100, help: "new connections per second of an address", beyond: "429" },
  requestsBurstSeconds: {
    value: 5,
    help: "times as many events as in a second may come at once, with `--max-requests-per-principal`",
    beyond: "429",
  },
} as const satisfies Constants;

const MEMBERS = {
  maxMessageValues: {
    value: 1_000_000,
    help:
      "values of a message in JSON, weighed by their cost; in proportion where `--max-payload` is above 16 MiB",
    beyond: "413",
  },
  maxNesting: { value: MAX_RELAYED_DEPTH, help: "levels of nesting", beyond: "400 or 413" },
  // A slow member needs minutes for the largest message.
  requestTimeoutMs: {
    value: 300_000,
    help: "time of an HTTP request, from its head to its end",
    beyond: "its TCP connection ends",
  },
  // Each costs far more than its bytes, and all are parsed at once.
  maxPostedPackets: { value: 16_384, help: "packets of one polling body", beyond: "the session ends" },
  maxEventLength: {
    value: 128,
    help: "characters of a name, an office id, or the name of an event",
    beyond: "400",
  },
  maxDeferredEvents: { value: 64, help: "events that wait while the member joins or leaves", beyond: "400" },
  maxDeferredBytes: { value: MIB, help: "bytes of these events", beyond: "400" },
  notifyingBytes: { value: 4 * MIB, help: "bytes of notifications that it causes at once", beyond: "400" },
  notifyingBytesPerSecond: {
    value: 64 * KIB,
    help: "bytes of notifications that it causes per second",
    beyond: "400",
  },
  minRenewalIntervalMs: {
    value: 1_000,
    help: "time between attempts to renew its credentials",
    beyond: "refused",
  },
} as const satisfies Constants;

const MESSAGES = {
  // So that small calls work under attack.
  smallMessageBytes: {
    value: 64 * KIB,
    help: "bytes of a message that always finds room in `--max-message-memory`",
    beyond: "413 where it finds none, or the session ends",
  },
  // One principal cannot take the room of all others with messages that it never ends.
  ownerShare: {
    value: 1 / 4,
    help:
      "share of `--max-message-memory`, for what one principal, or without credentials one address, has not finished",
    beyond: "413, or the session ends",
  },
  // Members that do not read cannot take the room of those that send.
  outwardShare: {
    value: 1 / 2,
    help: "share of `--max-message-memory`, for what waits until members read it",
    beyond: "413 for requests to them",
  },
  // Notifications to an office are never refused, and may add so much before the connection ends.
  waitingMarginBytes: {
    value: 8 * MIB,
    help:
      "bytes that may wait for one member besides as many as `--max-payload`, beyond which requests are refused",
    beyond: ENDS,
  },
  skippedFactor: {
    value: 4,
    help: "times `--max-payload`: a WebSocket message up to that size is skipped and answered 413",
    beyond: `${ENDS} (1009)`,
  },
  bodyTimeoutMs: { value: 30_000, help: "time of a polling body", beyond: "408, and the session ends" },
} as const satisfies Constants;

const REQUESTS = {
  maxRequesterBytes: { value: 64 * MIB, help: "bytes, asked by one connection", beyond: "413" },
  observersShare: {
    value: 1 / 4,
    help: "share of `--max-open-requests`, asked by all observers of an office",
    beyond: "400",
  },
  maxObserversBytes: {
    value: 4 * MIB,
    help: "bytes, asked by all observers of an office",
    beyond: "413",
  },
  returnMs: {
    value: AGENT_RETURN_MS,
    help: "time to ask again for a call, after a connection that was lost",
    beyond: "the call is cancelled",
  },
  graceMs: {
    value: SERVER_GRACE_MS,
    help: "time to wait for a Computer after the time-out of a request",
    beyond: "408",
  },
} as const satisfies Constants;

const FILES = {
  maxTokenFileBytes: { value: MIB, help: "bytes of a file of tokens", beyond: "refused" },
  maxKeyFileBytes: { value: MAX_KEY_FILE_BYTES, help: "bytes of a file of keys", beyond: "refused" },
  maxCertificateBytes: { value: MIB, help: "bytes of a certificate or its key", beyond: "refused" },
  maxKeys: { value: MAX_KEYS, help: "keys of a file or a set", beyond: "refused" },
  maxKeySetBytes: {
    value: MAX_KEY_SET_BYTES,
    help: "bytes of a set of keys at a URL",
    beyond: "the former set stays",
  },
  keySetTimeoutMs: { value: KEY_SET_TIMEOUT_MS, help: "time to fetch it", beyond: "the former set stays" },
  keySetCooldownMs: {
    value: KEY_SET_COOLDOWN_MS,
    help: "time between two fetches for an unknown key",
    beyond: "refused",
  },
} as const satisfies Constants;

/** As the docs group them. */
export const CONSTANT_GROUPS = {
  "before admission, for each connection": BEFORE_ADMISSION,
  "of one principal, or one address": OWNERS,
  "of each member": MEMBERS,
  "of messages on their way": MESSAGES,
  "of requests in flight": REQUESTS,
  "of files and keys": FILES,
} as const;

export const CONSTANTS = { ...BEFORE_ADMISSION, ...OWNERS, ...MEMBERS, ...MESSAGES, ...REQUESTS, ...FILES };

export type ConstantName = keyof typeof CONSTANTS;

/** Not a name, so that no caller can mean it. */
const CHANGED = Symbol("constants of a test");

/** Those that settings carry, so that a test can change them. */
type Changes = Readonly<Partial<Record<ConstantName, number>>>;

interface Changed {
  readonly [CHANGED]?: Changes;
}

/** What a test spreads into the options of a Server, to meet a bound sooner. */
export function withConstants(values: Changes): object {
  return { [CHANGED]: values };
}

export function constantOf(options: object & Changed, name: ConstantName): number {
  return options[CHANGED]?.[name] ?? CONSTANTS[name].value;
}
