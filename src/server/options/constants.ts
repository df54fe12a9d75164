/** The numbers of a Server that are no options, with a sentence each. The docs print them from here. */
import { SERVER_GRACE_MS } from "../../protocol/timeouts.ts";

interface Constant {
  readonly value: number;
  readonly help: string;
}

/** Those that a test may open a Server with other values of. */
export const CONSTANTS = {
  connectTimeoutMs: { value: 5_000, help: "the time to send the CONNECT packet" },
  authTimeoutMs: { value: 10_000, help: "the time to check credentials" },
  headTimeoutMs: { value: 10_000, help: "the time to send the headers of an HTTP request" },
  graceMs: {
    value: SERVER_GRACE_MS,
    help: "the time to wait for a Computer after the timeout of a request",
  },
  maxPendingConnections: { value: 512, help: "the most connections that are not authenticated yet" },
  maxConnectsPerPrincipal: {
    value: 100,
    help: "the most new connections of one principal with credentials per second, 200 times as many at once",
  },
  maxConnectsPerAddress: {
    value: 100,
    help: "the most new connections of one address per second, 200 times as many at once",
  },
  connectionsShare: {
    value: 3 / 4,
    help: "the share of the TCP connections that one address may have, or one principal with credentials",
  },
} as const satisfies Readonly<Record<string, Constant>>;

export type ConstantName = keyof typeof CONSTANTS;

/** Not a name, so that no caller can mean it. */
const CHANGED = Symbol("constants of a test");

interface Changed {
  readonly [CHANGED]?: Readonly<Partial<Record<ConstantName, number>>>;
}

/** What a test spreads into the options of a Server, to meet a bound sooner. */
export function withConstants(values: Readonly<Partial<Record<ConstantName, number>>>): object {
  return { [CHANGED]: values };
}

export function constantOf(options: object & Changed, name: ConstantName): number {
  return options[CHANGED]?.[name] ?? CONSTANTS[name].value;
}
