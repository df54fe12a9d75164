/** Our MCP client side under the client scenarios of the public conformance suite. */
import { assert, assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { forEachBounded } from "../../src/async/pool.ts";

const SUITE = "npm:@modelcontextprotocol/conformance@0.1.16";
const FOLDER = fromFileUrl(new URL(".", import.meta.url));
const BASELINE = "baseline.yml";
/** How many scenarios run at a time. */
const CONCURRENCY = 4;
/** This one measures real time and leaves 200 ms for a busy machine: it runs alone, and a fault shows each time. */
const TIMED = "sse-retry";
const ATTEMPTS = 3;

const run = ["run", "-A", "--no-lock", "--quiet"];
// The suite ends the shell of a client that is out of time, so the shell must be the client.
const shell = Deno.build.os === "windows" ? [] : ["exec"];
const client = [...shell, `"${Deno.execPath()}"`, ...run, "--no-check", "client.ts"].join(" ");

Deno.test("the client scenarios of the public conformance suite", async (t) => {
  const scenarios = await listScenarios();
  const excused = await readBaseline();
  const applicable = scenarios.filter((scenario) => !excused.includes(scenario));
  assert(applicable.includes(TIMED), "there are scenarios that apply");

  await t.step(`${TIMED} passes`, async () => {
    let outcome = await lead(TIMED);
    for (let i = 1; i < ATTEMPTS && outcome.code !== 0; i++) outcome = await lead(TIMED);
    assertEquals(outcome.code, 0, outcome.output);
  });

  await t.step("every other one that applies passes", async () => {
    const failures: string[] = [];
    await forEachBounded(applicable.filter((name) => name !== TIMED), CONCURRENCY, async (scenario) => {
      const { code, output } = await lead(scenario);
      if (code !== 0) failures.push(`${scenario}:\n${output}`);
    });
    assertEquals(failures, []);
  });

  await t.step("what stands in the baseline is a scenario, and still fails", async () => {
    assertEquals(excused.filter((scenario) => !scenarios.includes(scenario)), []);
    const passing: string[] = [];
    await forEachBounded(excused, CONCURRENCY, async (scenario) => {
      const { code } = await lead(scenario, "--expected-failures", BASELINE);
      if (code !== 0) passing.push(scenario);
    });
    assertEquals(passing, []);
  });
});

Deno.test("every scenario of the baseline stands under the reason why it does not apply", async () => {
  const text = await Deno.readTextFile(`${FOLDER}${BASELINE}`);
  const [, ...groups] = text.slice(text.indexOf("client:")).split(/\n\s*\n|^client:/m);
  assert(groups.length > 0);
  for (const group of groups) assert(/^\s*# \w.*\n(\s*# .*\n)*\s*- /.test(group), group);
});

/** Lets the suite lead our client through one scenario. */
function lead(scenario: string, ...options: readonly string[]): Promise<{ code: number; output: string }> {
  return runSuite("client", "--command", client, "--scenario", scenario, ...options);
}

async function listScenarios(): Promise<string[]> {
  const { code, output } = await runSuite("list", "--client");
  assertEquals(code, 0, output);
  return namesOf(output);
}

async function readBaseline(): Promise<string[]> {
  return namesOf(await Deno.readTextFile(`${FOLDER}${BASELINE}`));
}

/** Both the suite and the baseline list scenarios as `- name`. */
function namesOf(text: string): string[] {
  return [...text.matchAll(/^\s*- (\S+)/gm)].map(([, name = ""]) => name);
}

async function runSuite(...args: readonly string[]): Promise<{ code: number; output: string }> {
  const command = new Deno.Command(Deno.execPath(), {
    args: [...run, SUITE, ...args],
    cwd: FOLDER,
    stdin: "null",
  });
  const { code, stdout, stderr } = await command.output();
  const decoder = new TextDecoder();
  return { code, output: decoder.decode(stdout) + decoder.decode(stderr) };
}
