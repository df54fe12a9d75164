/**
 * The gateway under the server scenarios of the public conformance suite, in front of a Computer that hosts the server
 * which the suite expects.
 */
import { assert, assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { forEachBounded } from "../../src/async/limiter.ts";
import { RunningDoor } from "../fixtures/door.ts";
import { GatewayOffice } from "../integration/_gateway_office.ts";
import {
  BASELINE,
  CONCURRENCY,
  FOLDER,
  lead,
  listRuns,
  readExcused,
  REVISIONS,
  run,
  untilPassed,
} from "./_suite.ts";

const REFERENCE = {
  // A server that declares the Skills extension has to have a skill.
  skills: [fromFileUrl(new URL("../../skills/", import.meta.url))],
  servers: {
    reference: {
      type: "stdio",
      default_tool_meta: { auto_apply: true },
      server_parameters: {
        command: Deno.execPath(),
        args: [...run, "--no-check", `${FOLDER}reference_server.ts`],
      },
    },
  },
};

Deno.test("the server scenarios of the public conformance suite, through the gateway", async (t) => {
  const runs = await listRuns("server");
  const excused = await readExcused("server");
  for (const revision of REVISIONS) {
    assert(runs.some((each) => each.revision === revision), `there are scenarios of ${revision}`);
  }
  await using office = await GatewayOffice.open({ laptop: REFERENCE });
  await using gateway = new RunningDoor(office.words(["--http", "0", "--no-token", "--no-builtin-tools"]));
  await gateway.said("serving MCP clients");
  const [, url = ""] = /url="?(http:\S+\/mcp)/.exec(gateway.stderr.text) ?? [];

  await t.step("each one passes, or stands in the baseline and fails", async () => {
    const failures: string[] = [];
    await forEachBounded(runs, CONCURRENCY, async (each) => {
      // With the baseline, the suite refuses what stands there and passes, but is less strict about the rest.
      const isExcused = excused.includes(each.scenario);
      const words = ["--url", url, ...(isExcused ? ["--expected-failures", BASELINE] : [])];
      const { code, output } = await untilPassed(() => lead("server", each, words));
      if (code !== 0) failures.push(`${each.scenario} in ${each.revision ?? "no revision"}:\n${output}`);
    });
    assertEquals(failures, []);
  });
  await t.step("what stands in the baseline is a scenario", () => {
    assertEquals(excused.filter((name) => !runs.some(({ scenario }) => scenario === name)), []);
  });
});
