import { assertEquals, assertStringIncludes } from "@std/assert";
import { within } from "../fixtures/within.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";

const SMALL = [
  "--rounds",
  "1",
  "--round-ms",
  "50",
  "--warm-up-ms",
  "50",
  "--payload",
  "300",
  "--in-flight",
  "1,32",
];
const SECTIONS = ["--section", "calls,churn,broadcast"];
/** Installed before the tests, see `install.sh`. */
const python = new URL("../../.venv-interop/bin/python", import.meta.url);

Deno.test("the benchmark of the relay measures our Server, and the Python SDK's where that is installed", async () => {
  using folder = new TempFolder();
  const hasPython = await Deno.lstat(python).then(() => true, () => false);
  const only = ["--only", hasPython ? "ours,python" : "ours"];
  const program = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--no-check",
      "bench/relay/main.ts",
      ...SMALL,
      ...SECTIONS,
      ...only,
      "--json",
      `${folder.path}/values.json`,
    ],
  });
  const { code, stdout, stderr } = await within(program.output(), "the benchmark");
  const [report, progress] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  // So few calls miss goals.
  assertEquals([[0, 2].includes(code), progress?.match(/FAILED.*/g)], [true, null], progress);
  for (const part of ["## Relayed calls", "## Connections", "## Notifications", "## Goals: our Server"]) {
    assertStringIncludes(report ?? "", part);
  }
  assertStringIncludes(await Deno.readTextFile(`${folder.path}/values.json`), '"perSecond"');
});
