/** Runs the public conformance suite of MCP. */
import { assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path";

export const SUITE = "npm:@modelcontextprotocol/conformance@0.2.0-alpha.12";
/** The folder of the baseline, in which the suite runs. */
export const FOLDER = fromFileUrl(new URL(".", import.meta.url));
/** The scenarios that do not apply, of clients and servers. */
export const BASELINE = "baseline.yml";
/** Each scenario runs in each of these revisions that it applies to; one that names neither runs as the suite likes. */
export const REVISIONS: readonly string[] = ["2025-11-25", "2026-07-28"];
/** How many scenarios run at a time. */
export const CONCURRENCY = 4;
/** How long one scenario may take, in milliseconds: more than any needs on a machine with other work. */
const TIMEOUT_MS = 120_000;
/** How long the suite may take for one scenario with its start and its end, in milliseconds; then it is killed. */
const SUITE_LIMIT_MS = TIMEOUT_MS + 60_000;
/** How long the suite may take to be fetched and to list its scenarios, in milliseconds; then that starts anew. */
const LIST_LIMIT_MS = 60_000;
/** How often what depends on the machine's clock or on the registry is tried. */
const ATTEMPTS = 3;

/** The words after `deno` that run a program. */
export const run = ["run", "-A", "--no-lock", "--quiet"];

/** Whose scenarios: those for a client, or for a server. */
export type Side = "client" | "server";

/** A scenario in one revision of MCP. */
export interface Run {
  readonly scenario: string;
  /** `undefined` for an extension, and for what only older revisions have. */
  readonly revision: string | undefined;
}

/** What came of a run of the suite. */
export interface Outcome {
  readonly code: number;
  readonly output: string;
}

/** The first outcome that passed, or the last one. */
export async function untilPassed(attempt: () => Promise<Outcome>): Promise<Outcome> {
  let outcome = await attempt();
  for (let i = 1; i < ATTEMPTS && outcome.code !== 0; i++) outcome = await attempt();
  return outcome;
}

/** Runs one scenario; `words` say with whom. */
export function lead(
  side: Side,
  { scenario, revision }: Run,
  words: readonly string[],
): Promise<Outcome> {
  const version = revision === undefined ? [] : ["--spec-version", revision];
  const args = [side, ...words, "--scenario", scenario, ...version, "--timeout", String(TIMEOUT_MS)];
  return runSuite(args, SUITE_LIMIT_MS);
}

/** The suite lists each scenario as `- name [revision,revision]`. */
export async function listRuns(side: Side): Promise<Run[]> {
  // It comes from the registry now, where a download has stalled for minutes.
  const { code, output } = await untilPassed(() => runSuite(["list", `--${side}`], LIST_LIMIT_MS));
  assertEquals(code, 0, output);
  return [...output.matchAll(/^\s*- (\S+) \[(.*)\]$/gm)].flatMap(
    ([, scenario = "", revisions = ""]): Run[] => {
      const shared = REVISIONS.filter((revision) => revisions.split(",").includes(revision));
      if (shared.length === 0) return [{ scenario, revision: undefined }];
      return shared.map((revision) => ({ scenario, revision }));
    },
  );
}

/** The part of the baseline for one side, as text. */
export async function readBaseline(side: Side): Promise<string> {
  const text = await Deno.readTextFile(`${FOLDER}${BASELINE}`);
  const [, list = ""] = text.split(new RegExp(`^${side}:`, "m"));
  return list.split(/^\w+:/m)[0] ?? "";
}

/** The scenarios of the baseline; a single check of one counts as the scenario. */
export async function readExcused(side: Side): Promise<string[]> {
  return [...(await readBaseline(side)).matchAll(/^\s*- ([^\s:]+)/gm)].map(([, name = ""]) => name);
}

async function runSuite(args: readonly string[], limitMs: number): Promise<Outcome> {
  const command = new Deno.Command(Deno.execPath(), {
    args: [...run, SUITE, ...args],
    cwd: FOLDER,
    stdin: "null",
    signal: AbortSignal.timeout(limitMs),
  });
  const { success, code, signal, stdout, stderr } = await command.output();
  const decoder = new TextDecoder();
  const output = decoder.decode(stdout) + decoder.decode(stderr);
  const ending = signal === null ? "" : `\nThe suite was ended by ${signal}: ${args.join(" ")}`;
  return { code: success ? 0 : code, output: output + ending };
}
