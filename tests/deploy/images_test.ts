/** The container images: built without a network from an archive of this code, and run with a root that nobody can write. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { startHosted } from "../fixtures/hosted_door.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";
import { isFullSize } from "../fixtures/test_size.ts";
import { eventually } from "../fixtures/within.ts";
import { freePort } from "./_proxies.ts";
import { findTool, ROOT, runTool, type Tool, type ToolOutcome } from "./_tools.ts";

const BASE = `${ROOT}.deploy-tools/base.tar`;
const TOKEN = "s3cret";
/** What runs in machines of any kind, also those that allow fewer open files than Podman asks for. */
const RUNTIME = ["--runtime=runc", "--cgroup-manager=cgroupfs", "--events-backend=file"];
const LIMITS = ["--ulimit=nofile=4096:4096", "--ulimit=nproc=4096:4096"];

const podman = findTool("podman", []);
const problem = await problemHere();
if (problem !== undefined) console.log(`deploy: skipped, ${problem}`);

/** Why no image can be built here; `undefined` where one can. */
async function problemHere(): Promise<string | undefined> {
  if (!isFullSize) return "building images takes some minutes: at full size alone";
  const hasBase = await Deno.stat(BASE).then(() => true, () => false);
  return !podman.ignore && hasBase
    ? undefined
    : 'there is no base of images; "sh tests/deploy/install_podman.sh" makes one';
}

/** A container in the network of this machine. */
class Running implements AsyncDisposable {
  readonly #name: string;

  private constructor(name: string) {
    this.#name = name;
  }

  static async start(image: string, options: readonly string[], ...words: string[]): Promise<Running> {
    const name = `a2c-test-${crypto.randomUUID()}`;
    const hardened = ["--read-only", "--cap-drop=all", "--security-opt=no-new-privileges"];
    const place = ["--network=host", "--no-healthcheck", "--volume=/var/lib/a2c-smcp"];
    const started = ["--detach", "--name", name, ...LIMITS, ...hardened, ...place, ...options];
    await succeed("run", ...started, image, ...words);
    return new Running(name);
  }

  async exec(...words: string[]): Promise<ToolOutcome> {
    return await runPodman("exec", this.#name, ...words);
  }

  async stop(): Promise<string> {
    await succeed("stop", this.#name);
    return (await succeed("inspect", "--format", "{{.State.ExitCode}}", this.#name)).trim();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await runPodman("rm", "--force", "--volumes", this.#name);
  }
}

async function runPodman(...words: string[]): Promise<ToolOutcome> {
  return await runTool(podman, ...RUNTIME, ...words);
}

async function succeed(...words: string[]): Promise<string> {
  const { code, output } = await runPodman(...words);
  assertEquals(code, 0, `podman ${words.join(" ")}\n${output}`);
  return output;
}

async function build(target: string, context: string): Promise<string> {
  const image = `localhost/a2c-smcp-test-${target}`;
  // The other form of images has no health checks.
  const how = ["--format=docker", "--network=none", "--build-arg=BASE=localhost/a2c-smcp-test-base"];
  const file = `${ROOT}deploy/Dockerfile`;
  await succeed("build", ...LIMITS, ...how, "--file", file, "--target", target, "--tag", image, context);
  return image;
}

/** What holds for each image. */
async function checkHardening(container: Running, port: number, target: string): Promise<void> {
  const look = () => fetch(`http://127.0.0.1:${port}/healthz`).then((answer) => answer.text(), String);
  await eventually(look, (text) => /ok\n?$/.test(text), `the health of ${target}`);
  assertEquals((await container.exec("id", "-u")).output.trim(), "65532");
  assertStringIncludes((await container.exec("touch", "/x")).output, "Read-only file system");
  assert((await container.exec("touch", "/opt/a2c-smcp/lib/deno")).code !== 0);
  const stage = (await Deno.readTextFile(`${ROOT}deploy/Dockerfile`)).split(` AS ${target}\n`)[1] ?? "";
  const check: string[] = JSON.parse(/HEALTHCHECK [^[]*(\[.*\])/.exec(stage)?.[1] ?? "[]");
  assertEquals(await container.exec(...check), { code: 0, output: "" });
}

/** A machine beside the container joins by code, and a command in it approves. */
async function joinByCode(
  container: Running,
  { url, state }: { readonly url: string; readonly state: string },
) {
  const env = { XDG_STATE_HOME: state };
  await using joining = startHosted("computer.ts", ["join", url, "--name", "laptop"], { env });
  await joining.said("approve");
  const [, code = ""] = /^Code {2}(\S+)$/m.exec(joining.stdout.text) ?? [];
  const words = ["server", "machines", "approve", code, "--office", "lab"];
  assertStringIncludes((await container.exec("a2c-smcp", ...words)).output, "approved");
  assertEquals((await joining.end()).code, 0);
}

Deno.test({
  name: "The images of hub and documents serve as a user without rights, from a root that is read-only",
  ignore: problem !== undefined,
  sanitizeResources: false,
  async fn(t) {
    using folder = new TempFolder();
    const deno: Tool = { name: "deno", command: Deno.execPath(), ignore: false };
    const context = `${folder.path}/archives`;
    const archived = await runTool(deno, "run", "-A", "tools/archives.ts", context, "linux-x64-glibc");
    assertEquals(archived.code, 0, archived.output);
    await succeed("import", BASE, "localhost/a2c-smcp-test-base");
    await t.step("a hub invites, and ends at once when it is told to", async () => {
      const image = await build("hub", context);
      const port = freePort();
      const env = [`--env=PORT=${port}`, "--env=A2C_HOST=127.0.0.1", `--env=A2C_TOKEN=${TOKEN}`];
      await using container = await Running.start(image, env, "hub");
      await checkHardening(container, port, "hub");
      const invited = await container.exec("a2c-smcp", "hub", "invite", "lab");
      assertEquals(invited.code, 0, invited.output);
      await joinByCode(container, { url: `http://127.0.0.1:${port}`, state: folder.path });
      assertEquals(await container.stop(), "0");
    });
    await t.step("the same image is a Server when nothing is said", async () => {
      const port = freePort();
      const env = [`--env=PORT=${port}`, "--env=A2C_HOST=127.0.0.1", `--env=A2C_TOKEN=${TOKEN}`];
      await using container = await Running.start("localhost/a2c-smcp-test-hub", env);
      await checkHardening(container, port, "hub");
    });
    await t.step("documents are found in a folder that is mounted", async () => {
      const image = await build("documents", context);
      await Deno.mkdir(`${folder.path}/notes`);
      await Deno.writeTextFile(`${folder.path}/notes/toner.md`, "# Toner\n\nReplace it.\n");
      const port = freePort();
      const env = [`--env=A2C_DOCUMENTS_HTTP=127.0.0.1:${port}`, `--env=A2C_DOCUMENTS_TOKEN=${TOKEN}`];
      const mount = `--volume=${folder.path}/notes:/documents:ro`;
      await using container = await Running.start(image, [...env, mount]);
      await checkHardening(container, port, "documents");
      const client = new Client({ name: "test", version: "1" });
      const authProvider = { token: () => Promise.resolve(TOKEN) };
      const url = new URL(`http://127.0.0.1:${port}/mcp`);
      await client.connect(new StreamableHTTPClientTransport(url, { authProvider }));
      const find = { name: "find_documents", arguments: { query: "toner" } };
      const look = async () => JSON.stringify((await client.callTool(find)).content);
      await eventually(look, (text) => text.includes("toner.md"), "the note to be found");
      await client.close();
    });
  },
});
