/** Our MCP client side under the client scenarios of the public conformance suite. */
import { assert, assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { forEachBounded } from "../../src/async/pool.ts";

const SUITE = "npm:@modelcontextprotocol/conformance@0.2.0-alpha.12";
const FOLDER = fromFileUrl(new URL(".", import.meta.url));
const BASELINE = "baseline.yml";
/** Each scenario runs in each of these revisions that it applies to; one that names neither runs as the suite likes. */
const REVISIONS: readonly string[] = ["2025-11-25", "2026-07-28"];
/** How many scenarios run at a time. */
const CONCURRENCY = 4;
/** How long one scenario may take, in milliseconds: more than any needs on a machine with other work. */
const TIMEOUT_MS = 120_000;
/** How long the suite may take for one scenario with its start and its end, in milliseconds; then it is killed. */
const SUITE_LIMIT_MS = TIMEOUT_MS + 60_000;
/** How long the suite may take to be fetched and to list its scenarios, in milliseconds; then that starts anew. */
const LIST_LIMIT_MS = 60_000;
/** This one measures real time and leaves 200 ms for a busy machine: it runs alone, and a fault shows each time. */
const TIMED = "sse-retry";
/** How often what depends on the machine's clock or on the registry is tried. */
const ATTEMPTS = 3;

/** Scenarios of an extension for skills, which check nothing of a client that does not ask for any. */
const UNCHECKED: readonly string[] = [
  "sep-2640-client-no-prefetch",
  "sep-2640-client-verify-digest",
  "sep-2640-client-verify-frontmatter",
  "sep-2640-client-verify-size",
];

const run = ["run", "-A", "--no-lock", "--quiet"];
// The suite ends the shell of a client that is out of time, so the shell must be the client.
const shell = Deno.build.os === "windows" ? [] : ["exec"];
const client = [...shell, `"${Deno.execPath()}"`, ...run, "--no-check", "client.ts"].join(" ");

/** A scenario in one revision of MCP. */
interface Run {
  readonly scenario: string;
  /** `undefined` for an extension, and for what only older revisions have. */
  readonly revision: string | undefined;
}

Deno.test("the client scenarios of the public conformance suite", async (t) => {
  const runs = await listRuns();
  const excused = await readBaseline();
  const [timed, others] = [
    runs.filter(({ scenario }) => scenario === TIMED),
    runs.filter(({ scenario }) => scenario !== TIMED),
  ];
  assert(timed.length > 0, "there is the scenario that measures time");
  for (const revision of REVISIONS) {
    assert(others.some((each) => each.revision === revision), `there are scenarios of ${revision}`);
  }

  await t.step(`${TIMED} passes`, async () => {
    for (const each of timed) {
      const { code, output } = await untilPassed(() => lead(each));
      assertEquals(code, 0, output);
    }
  });

  await t.step("every other one passes, or stands in the baseline and fails", async () => {
    const failures: string[] = [];
    const unchecked: string[] = [];
    await forEachBounded(others, CONCURRENCY, async (each) => {
      // With the baseline, the suite refuses what stands there and passes, but is less strict about the rest.
      const isExcused = excused.includes(each.scenario);
      const { code, output } = await lead(each, ...(isExcused ? ["--expected-failures", BASELINE] : []));
      if (code !== 0) failures.push(`${each.scenario} in ${each.revision ?? "no revision"}:\n${output}`);
      if (/^Passed: 0\/0,/m.test(output)) unchecked.push(each.scenario);
    });
    assertEquals(failures, []);
    assertEquals(unchecked.sort(), UNCHECKED);
  });

  await t.step("what stands in the baseline is a scenario", () => {
    assertEquals(excused.filter((name) => !others.some(({ scenario }) => scenario === name)), []);
  });
});

Deno.test("every scenario of the baseline stands under the reason why it does not apply", async () => {
  const text = await Deno.readTextFile(`${FOLDER}${BASELINE}`);
  const [, list] = text.split(/^client:/m);
  assert(list !== undefined, "there is a list, which may be empty");
  const groups = list.trim() === "[]" ? [] : list.split(/\n\s*\n/);
  for (const group of groups) assert(/^\s*# \w.*\n(\s*# .*\n)*\s*- /.test(group), group);
});

interface Outcome {
  readonly code: number;
  readonly output: string;
}

/** The first outcome that passed, or the last one. */
async function untilPassed(attempt: () => Promise<Outcome>): Promise<Outcome> {
  let outcome = await attempt();
  for (let i = 1; i < ATTEMPTS && outcome.code !== 0; i++) outcome = await attempt();
  return outcome;
}

/** Lets the suite lead our client through one scenario. */
function lead(
  { scenario, revision }: Run,
  ...options: readonly string[]
): Promise<Outcome> {
  const version = revision === undefined ? [] : ["--spec-version", revision];
  const timeout = ["--timeout", String(TIMEOUT_MS)];
  const args = ["client", "--command", client, "--scenario", scenario, ...version, ...timeout, ...options];
  return runSuite(args, SUITE_LIMIT_MS);
}

/** The suite lists each scenario as `- name [revision,revision]`. */
async function listRuns(): Promise<Run[]> {
  // It comes from the registry now, where a download has stalled for minutes.
  const { code, output } = await untilPassed(() => runSuite(["list", "--client"], LIST_LIMIT_MS));
  assertEquals(code, 0, output);
  return [...output.matchAll(/^\s*- (\S+) \[(.*)\]$/gm)].flatMap(
    ([, scenario = "", revisions = ""]): Run[] => {
      const shared = REVISIONS.filter((revision) => revisions.split(",").includes(revision));
      if (shared.length === 0) return [{ scenario, revision: undefined }];
      return shared.map((revision) => ({ scenario, revision }));
    },
  );
}

async function readBaseline(): Promise<string[]> {
  const text = await Deno.readTextFile(`${FOLDER}${BASELINE}`);
  return [...text.matchAll(/^\s*- (\S+)/gm)].map(([, name = ""]) => name);
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
