/** The files in `deploy/`: they lint, what they say of the Server holds, and the image runs where a container engine is. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { dirname } from "@std/path";
import { RunningDoor } from "../fixtures/door.ts";
import { eventually } from "../fixtures/within.ts";
import { findTool, ROOT, runTool, untilListening } from "./_tools.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";

const hadolint = findTool("hadolint", ["python/bin/hadolint"]);
const compose = findTool("docker-compose", ["python/bin/docker-compose"]);
const systemd = findTool("systemd-analyze", []);
const docker = findTool("docker", []);
const hasEngine = !docker.ignore && (await runTool(docker, "info")).code === 0;
if (!hasEngine) console.log("deploy: skipped, no container engine runs here");

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

for (const door of ["server.ts", "hub.ts"]) {
  Deno.test(`The files that the Dockerfile copies are all that ${door} needs, with the permissions of its entry point and no download`, async () => {
    using folder = new TempFolder();
    const lines = (await Deno.readTextFile(`${ROOT}deploy/Dockerfile`)).split("\n");
    const [build = []] = splitStages(lines);
    for (const line of build.filter((text) => text.startsWith("COPY "))) {
      const [target = "", ...sources] = line.split(/\s+/).slice(1).toReversed();
      for (const source of sources) await copy(source, target === "./" ? source : target, folder.path);
    }
    const entry = lines.find((line) => line.startsWith("ENTRYPOINT "))?.slice("ENTRYPOINT ".length) ?? "[]";
    const state = `${folder.path}/state`;
    await Deno.mkdir(state);
    // The folder.path for grants is one of the image.
    const [, ...words]: string[] = JSON.parse(entry.replaceAll("/var/lib/a2c-smcp", state));
    assertEquals(lines.includes('CMD ["server.ts"]'), true);
    const program = new RunningDoor([Deno.execPath(), ...words, door, "--token", "s3cret"], {
      cwd: folder.path,
      env: { PORT: "0", A2C_HOST: "0.0.0.0", A2C_HUB_STATE_FILE: `${state}/hub.sqlite` },
    });
    await using server = await untilListening(program);
    const answer = await fetch(`${server.url}/healthz`);
    assertEquals([answer.status, await answer.text()], [200, "A2C-SMCP Server: ok\n"]);
    const client = await fetch(`${server.url}/mcp/o/lab`, { method: "POST" });
    await client.body?.cancel();
    assertEquals(client.status, door === "hub.ts" ? 401 : 404);
  });
}

function splitStages(lines: readonly string[]): string[][] {
  const stages: string[][] = [];
  for (const line of lines) {
    if (line.startsWith("FROM ")) stages.push([]);
    stages.at(-1)?.push(line);
  }
  return stages;
}

async function copy(source: string, target: string, folder: string): Promise<void> {
  const from = `${ROOT}${source}`;
  const to = `${folder}/${target}`;
  await Deno.mkdir(dirname(to), { recursive: true });
  if ((await Deno.stat(from)).isFile) return await Deno.copyFile(from, to);
  for await (const { name } of Deno.readDir(from)) {
    await copy(`${source}/${name}`, `${target}/${name}`, folder);
  }
}

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

Deno.test({
  name: "The image builds, and its container is healthy",
  ignore: !hasEngine,
  async fn() {
    const tag = "a2c-smcp-server:test";
    const built = await runTool(docker, "build", "--file", "deploy/Dockerfile", "--tag", tag, ".");
    assertEquals(built.code, 0, built.output);
    const started = await runTool(docker, "run", "--detach", "--read-only", "--env", "A2C_TOKEN=s3cret", tag);
    assertEquals(started.code, 0, started.output);
    const id = started.output.trim();
    try {
      const look = async () =>
        (await runTool(docker, "inspect", "--format", "{{.State.Health.Status}}", id)).output;
      assertStringIncludes(await eventually(look, (text) => text.trim() === "healthy", "health"), "healthy");
    } finally {
      await runTool(docker, "rm", "--force", id);
    }
  },
});
