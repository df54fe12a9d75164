import { assertEquals, assertStringIncludes } from "@std/assert";
import { runHosted } from "../../../fixtures/hosted_door.ts";
import { Workplace } from "../../../integration/_computer_program.ts";
import { toReportJson } from "../../../../src/cli/computer/check.ts";

const CONFIGS = "tests/fixtures/configs";

Deno.test("a config that can be used is printed as a report, with exit code 0", async () => {
  using place = new Workplace();
  const text = await Deno.readTextFile(`${CONFIGS}/cline.json`);
  const file = place.write("cline.json", text.replaceAll('"node"', JSON.stringify(Deno.execPath())));
  const { code, stdout } = await place.run(["check", file]);
  assertEquals(code, 0);
  assertStringIncludes(stdout, "cline.json: mcpServers (Claude, Cursor …), 2 servers");
  assertStringIncludes(stdout, "wiki     streamable  disabled");
  assertStringIncludes(stdout, "ready to use, 1 warning");
  assertEquals(stdout.includes("made-up-token"), false);
});

Deno.test("a config that cannot be used ends with exit code 2, as JSON where that was asked for", async () => {
  const { code, stdout } = await runHosted("computer.ts", ["check", `${CONFIGS}/none.json`, "--json"]);
  assertEquals(code, 2);
  assertEquals(JSON.parse(stdout).problems, [{ message: "no such file", path: "" }]);
});

Deno.test("toReportJson() names all members in snake_case", () => {
  const report = toReportJson({
    file: "a.json",
    form: "smcp",
    servers: [],
    inputs: [{ id: "key", type: "promptString", hasValue: false, isSet: null, usedBy: ["a"] }],
    variables: [{ name: "TOKEN", hasDefault: true, isSet: true, usedBy: ["a"] }],
    warnings: [],
    failures: [],
    problems: [],
  });
  assertEquals(report["inputs"], [{
    id: "key",
    type: "promptString",
    has_value: false,
    is_set: null,
    used_by: ["a"],
  }]);
  assertEquals(report["variables"], [{ name: "TOKEN", has_default: true, is_set: true, used_by: ["a"] }]);
});

Deno.test("several files are checked, standard input is one, and one that fails fails all", async () => {
  const files = [`${CONFIGS}/smcp_list.json`, "-", `${CONFIGS}/none.json`];
  const { code, stdout } = await runHosted("computer.ts", ["check", ...files], {
    input: '[mcp_servers.a]\ncommand = "deno"\n',
  });
  assertEquals(code, 2);
  assertStringIncludes(stdout, "smcp_list.json: A2C-SMCP, 2 servers");
  assertStringIncludes(stdout, "stdin: Codex, 1 server");
  assertStringIncludes(stdout, "none.json error: no such file");
  const asJson = await runHosted("computer.ts", ["check", "-", files[0] ?? "", "-", "--json"], {
    input: "{}",
  });
  assertEquals([asJson.code, JSON.parse(asJson.stdout).length], [2, 2]);
});

Deno.test("a command that is not there fails the check, and so a config of which the other servers can start", async () => {
  const servers = { here: { command: "deno" }, absent: { command: "no-such-program-42" } };
  const { code, stdout } = await runHosted("computer.ts", ["check", "-"], {
    input: JSON.stringify({ mcpServers: servers }),
  });
  assertEquals(code, 2);
  assertStringIncludes(stdout, 'error: mcpServers.absent.command: program "no-such-program-42"');
  assertStringIncludes(stdout, "not found on the PATH");
});

Deno.test("check names inputs without a value and how to give one, and counts those of --inputs", async () => {
  using place = new Workplace();
  const config = place.write("mcp.json", {
    mcpServers: { search: { command: Deno.execPath(), env: { KEY: "${input:key}" } } },
    inputs: [{ id: "key", type: "promptString" }],
  });
  const without = await place.run(["check", config]);
  assertEquals([without.code, without.stderr], [0, ""]);
  assertStringIncludes(
    without.stdout,
    "ready to use after these inputs have values: key (A2C_INPUT_KEY, --inputs FILE",
  );
  const values = place.write("inputs.json", { key: "k" });
  Deno.chmodSync(values, 0o600);
  const withFile = await place.run(["check", config, "--inputs", values]);
  assertEquals(withFile.stdout.trim().split("\n").at(-1), "ready to use");
  const absent = await place.run(["check", config, "--inputs", `${values}.gone`]);
  assertEquals(absent.code, 2);
  assertStringIncludes(absent.stderr, "Cannot read inputs");
});

Deno.test("without a file the config of the options or of the environment is checked", async () => {
  const config = await Deno.makeTempFile({ suffix: ".json" });
  await Deno.writeTextFile(config, JSON.stringify({ mcpServers: { here: { command: Deno.execPath() } } }));
  for (const run of [["check", "--config", config], ["check"]]) {
    const { code, stdout } = await runHosted("computer.ts", run, {
      env: run.length === 1 ? { A2C_CONFIG: config } : {},
    });
    assertEquals(code, 0);
    assertStringIncludes(stdout, "mcpServers (Claude, Cursor …), 1 server");
  }
  await Deno.remove(config);
  const { code, stderr } = await runHosted("computer.ts", ["check"]);
  assertEquals(code, 2);
  assertStringIncludes(stderr, "no file given");
});
