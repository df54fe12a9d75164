import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl, join } from "@std/path";
import { SmcpServer } from "../../src/server/server.ts";
import { Agent } from "../../src/agent/agent.ts";
import { RunningComputer, Workplace } from "./_computer_program.ts";
import { RawPeer } from "./_socket.ts";
import { scriptedServers } from "../fixtures/stdio_config.ts";
import { descendants, untilGone } from "./_processes.ts";

const DOOR = fromFileUrl(new URL("../../computer.ts", import.meta.url));
const isPosix = Deno.build.os !== "windows";
/** Only there a process is found that has left its process group. */
const isLinux = Deno.build.os === "linux";

/** A folder with a config file in it, gone at the end. */
class ConfigFile implements Disposable {
  readonly #folder = Deno.makeTempDirSync();
  readonly path: string = join(this.#folder, "config.json");

  constructor(config: unknown) {
    Deno.writeTextFileSync(this.path, typeof config === "string" ? config : JSON.stringify(config));
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.#folder, { recursive: true });
  }
}

function start(args: readonly string[]): Deno.ChildProcess {
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", "--quiet", DOOR, ...args],
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

async function run(args: readonly string[]): Promise<{ code: number; stderr: string }> {
  const { code, stderr } = await start(args).output();
  return { code, stderr: new TextDecoder().decode(stderr) };
}

/** Reads a stream until it has said something; the rest is read by nobody. */
async function until(
  stream: ReadableStream<Uint8Array>,
  isEnough: (text: string) => boolean,
): Promise<string> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let text = "";
  while (!isEnough(text)) {
    const { done, value } = await reader.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
  }
  await reader.cancel();
  return text;
}

function options(url: string, config: string): string[] {
  return ["--url", url, "--office", "lab", "--name", "laptop", "--config", config];
}

Deno.test("a config that is no JSON ends with exit code 2 and names the file", async () => {
  using config = new ConfigFile("{ servers");
  const { code, stderr } = await run(options("http://127.0.0.1:1", config.path));
  assertEquals(code, 2);
  assertStringIncludes(stderr, `Cannot read config "${config.path}" at line 1: not JSON`);
});

Deno.test("a config with a mistake ends with exit code 2 and names the file and the place", async () => {
  using config = new ConfigFile({ servers: { files: { type: "stdio", server_parameters: { args: [] } } } });
  const { code, stderr } = await run(options("http://127.0.0.1:1", config.path));
  assertEquals(code, 2);
  assertStringIncludes(stderr, `Cannot read config "${config.path}" at line 1, servers.files`);
  assertStringIncludes(stderr, "server_parameters.command");
});

Deno.test("a missing config file, a missing option and an impossible name end with exit code 2", async () => {
  using config = new ConfigFile({ servers: {} });
  const missing = await run(options("http://127.0.0.1:1", "/no/such/file.json"));
  assertEquals(missing.code, 2);
  assertStringIncludes(missing.stderr, '"/no/such/file.json"');
  assertEquals((await run(["--url", "http://127.0.0.1:1"])).code, 2);
  const named = options("http://127.0.0.1:1", config.path).with(5, "x".repeat(129));
  assertEquals((await run(named)).code, 2);
});

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  Deno.test({
    name: `${signal} ends the command with exit code 0 and leaves no process behind`,
    ignore: !isPosix,
    async fn() {
      await using server = await SmcpServer.listen({ port: 0 });
      using config = new ConfigFile(scriptedServers({ stubborn: { stubborn: true, stray: isLinux } }));
      await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
      const left = Promise.withResolvers<void>();
      agent.on("leaveOffice", () => left.resolve());
      const process = start(options(server.url, config.path));
      const [said] = await Promise.all([
        until(process.stdout, (text) => text.includes("\n")),
        until(process.stderr, (text) => text.includes("running")),
      ]);
      assertEquals(said, 'joined office "lab" as "laptop"\n');
      const pids = await descendants(process.pid);
      assert(pids.length >= 3, "the server, its child and the guard");
      process.kill(signal);
      assertEquals((await process.status).code, 0);
      await left.promise;
      await untilGone(pids);
    },
  });
}

Deno.test({
  name: "a Computer that is killed leaves no process behind",
  ignore: !isPosix,
  async fn() {
    await using server = await SmcpServer.listen({ port: 0 });
    using config = new ConfigFile(
      scriptedServers({ stubborn: { stubborn: true, stray: isLinux } }),
    );
    const process = start(options(server.url, config.path));
    await Promise.all([
      until(process.stdout, (text) => text.includes("\n")),
      until(process.stderr, (text) => text.includes("running")),
    ]);
    const pids = await descendants(process.pid);
    assert(pids.length >= 3, "the server, its child and the guard");
    process.kill("SIGKILL");
    await process.status;
    await untilGone(pids);
  },
});

Deno.test("a service whose name is taken in the office says so once and joins when it is free", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  using config = new ConfigFile({ servers: {} });
  const membership = { role: "computer", name: "laptop", office_id: "lab" } as const;
  const other = await RawPeer.join(server.url, membership);
  const process = start(options(server.url, config.path));
  const stdout = until(process.stdout, (text) => text.includes("\n"));
  const stderr = process.stderr.pipeThrough(new TextDecoderStream()).getReader();
  let said = "";
  while (!said.includes("already exists in room")) said += (await stderr.read()).value ?? "";
  await other[Symbol.asyncDispose]();
  assertEquals(await stdout, 'joined office "lab" as "laptop"\n');
  process.kill("SIGTERM");
  for (let part = await stderr.read(); !part.done; part = await stderr.read()) said += part.value;
  assertEquals((await process.status).code, 0);
  assertEquals(said.match(/is taken/g)?.length, 1);
});

Deno.test("a service whose name is taken says how long it tries, and its status that it is in no office yet", async () => {
  using place = new Workplace();
  await using server = await SmcpServer.listen({ port: 0 });
  const config = place.write("config.json", { servers: {} });
  const membership = { role: "computer", name: "laptop", office_id: "lab" } as const;
  await using _other = await RawPeer.join(server.url, membership);
  await using service = new RunningComputer(place.start(options(server.url, config), "null"));
  await service.said("is taken, trying again until it is free");
  await service.said("Use another name, or end that Computer");
  const { stdout } = await place.run(["status"]);
  assertStringIncludes(stdout, "office    none yet, connected to");
  assertStringIncludes(stdout, 'trying to join "lab"');
  assertEquals(JSON.parse((await place.run(["status", "--json"])).stdout).office, null);
});
