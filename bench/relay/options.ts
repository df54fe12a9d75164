/** The options of `deno task bench:relay`. */
import { parseArgs } from "node:util";

/** The name of our Server. */
export const OURS = "ours";

/** The sections of the report, in their order. */
export const SECTIONS = ["calls", "idle", "churn", "broadcast", "cluster"] as const;
export type Section = typeof SECTIONS[number];

/** The options of a run. */
export interface BenchOptions {
  /** Whether it is a short run, whose goals are not judged. */
  readonly isQuick: boolean;
  readonly sections: readonly Section[];
  /** The names of the contenders; empty for all of them. */
  readonly only: readonly string[];
  readonly rounds: number;
  readonly roundMs: number;
  readonly warmUpMs: number;
  readonly payloads: readonly number[];
  readonly inFlight: readonly number[];
  readonly connections: number;
  readonly generators: number;
  readonly seed: number;
  readonly json: string | undefined;
}

type Defaults = Pick<
  BenchOptions,
  "sections" | "rounds" | "roundMs" | "warmUpMs" | "payloads" | "inFlight" | "connections"
>;

const FULL: Defaults = {
  sections: SECTIONS,
  rounds: 11,
  roundMs: 400,
  warmUpMs: 5_000,
  payloads: [300, 10_000, 100_000, 900_000],
  inFlight: [1, 32, 256],
  connections: 10_000,
};

const QUICK: Defaults = {
  sections: ["calls", "idle"],
  rounds: 5,
  roundMs: 500,
  warmUpMs: 2_000,
  payloads: [300, 100_000, 900_000],
  inFlight: [32],
  connections: 1_000,
};

/** The text of `--help`. */
export const HELP = `Usage: deno task bench:relay [options]

Measures Servers side by side under the same load and prints a table.

Options:
  --quick               about a minute: the bare forwarder and our Server alone
  --section NAME,…      ${SECTIONS.join(", ")} (default: all)
  --only NAME,…         contenders: bare, ours, python, rust (default: all)
  --rounds N            interleaved rounds of each measurement (default: 11; 5 where one takes seconds)
  --round-ms N          how long a round takes (default: 400)
  --warm-up-ms N        the warm-up before the first measurement (default: 5000)
  --payload BYTES,…     (default: 300,10000,100000,900000)
  --in-flight N,…       calls at once (default: 1,32,256)
  --connections N       idle connections (default: 10000, or what the limit of open files allows)
  --generators N        processes that make load (default: 1)
  --seed N              of the order within the rounds (default: 1)
  --json FILE           write all values of all rounds
`;

/** Parses the arguments. Throws a `TypeError` if they are invalid. */
export function parseOptions(args: readonly string[]): BenchOptions | "help" {
  const { values } = parseArgs({
    args: [...args],
    options: { ...flags(["quick", "help"]), ...texts(TEXTS) },
  });
  if (values["help"] === true) return "help";
  const defaults = values["quick"] === true ? QUICK : FULL;
  const text = (name: string) => typeof values[name] === "string" ? values[name] : undefined;
  const number = (name: string, otherwise: number) => readNumbers(name, text(name))?.[0] ?? otherwise;
  const only = text("only")?.split(",") ?? [];
  return {
    isQuick: values["quick"] === true,
    sections: readSections(text("section")) ?? defaults.sections,
    only: only.length === 0 && values["quick"] === true ? ["bare", OURS] : only,
    rounds: number("rounds", defaults.rounds),
    roundMs: number("round-ms", defaults.roundMs),
    warmUpMs: number("warm-up-ms", defaults.warmUpMs),
    payloads: readNumbers("payload", text("payload")) ?? defaults.payloads,
    inFlight: readNumbers("in-flight", text("in-flight")) ?? defaults.inFlight,
    connections: number("connections", defaults.connections),
    generators: number("generators", 1),
    seed: number("seed", 1),
    json: text("json"),
  };
}

const TEXTS = [
  "section",
  "only",
  "rounds",
  "round-ms",
  "warm-up-ms",
  "payload",
  "in-flight",
  "connections",
  "generators",
  "seed",
  "json",
];

function flags(names: readonly string[]): Record<string, { type: "boolean" }> {
  return Object.fromEntries(names.map((name) => [name, { type: "boolean" }]));
}

function texts(names: readonly string[]): Record<string, { type: "string" }> {
  return Object.fromEntries(names.map((name) => [name, { type: "string" }]));
}

function readNumbers(name: string, text: string | undefined): number[] | undefined {
  return text?.split(",").map((part) => {
    const number = Number(part);
    if (Number.isSafeInteger(number) && number > 0) return number;
    throw new TypeError(`Cannot use --${name} "${part}": not a positive whole number`);
  });
}

function readSections(text: string | undefined): Section[] | undefined {
  return text?.split(",").map((part) => {
    const section = SECTIONS.find((name) => name === part);
    if (section === undefined) {
      throw new TypeError(`Cannot use --section "${part}": not ${SECTIONS.join(", ")}`);
    }
    return section;
  });
}
