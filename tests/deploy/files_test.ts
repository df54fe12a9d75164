/** The files in `deploy/`: they lint, and what they say of the Server holds. */
import { assert, assertEquals } from "@std/assert";
import { findTool, ROOT, runTool } from "./_tools.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";

const hadolint = findTool("hadolint", ["python/bin/hadolint"]);
const compose = findTool("docker-compose", ["python/bin/docker-compose"]);
const systemd = findTool("systemd-analyze", []);

Deno.test({
  name: "hadolint finds nothing in the Dockerfile",
  ignore: hadolint.ignore,
  async fn() {
    assertEquals(await runTool(hadolint, "deploy/Dockerfile"), { code: 0, output: "" });
  },
});

Deno.test({
  name: "docker compose reads compose.yaml: two Servers with Redis, and only the balancer has ports",
  ignore: compose.ignore,
  async fn() {
    const { code, output } = await runTool(
      compose,
      "--file",
      "deploy/compose.yaml",
      "config",
      "--format",
      "json",
    );
    assertEquals(code, 0, output);
    const { services } = JSON.parse(output);
    assertEquals(Object.keys(services).sort(), ["balancer", "redis", "server-1", "server-2"]);
    for (const name of ["server-1", "server-2"]) {
      assertEquals(services[name].read_only, true);
      assertEquals(services[name].environment.A2C_REDIS_URL, "redis://redis:6379");
    }
    const open = Object.keys(services).filter((name) => services[name].ports !== undefined);
    assertEquals(open, ["balancer"]);
  },
});

Deno.test({
  name: "systemd reads the unit, and rates what it protects",
  ignore: systemd.ignore,
  async fn() {
    using folder = new TempFolder();
    const unit = await Deno.readTextFile(`${ROOT}deploy/a2c-smcp.service`);
    const file = `${folder.path}/a2c-smcp.service`;
    // The program is not installed here.
    await Deno.writeTextFile(file, unit.replace("/usr/local/bin/a2c-smcp", "/bin/true"));
    assertEquals(await runTool(systemd, "verify", "--man=no", file), { code: 0, output: "" });
    const { output } = await runTool(systemd, "security", "--offline=true", file);
    const exposure = /exposure level for \S+: ([\d.]+)/.exec(output)?.[1];
    assert(Number(exposure) < 3, output);
  },
});
