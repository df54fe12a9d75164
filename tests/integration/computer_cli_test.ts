import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { SmcpServer } from "../../src/server/server.ts";
import { Agent } from "../../src/agent/agent.ts";
import { RawPeer } from "./_socket.ts";
import { within } from "../fixtures/within.ts";
import { scriptedServers } from "../fixtures/stdio_config.ts";
import { Workplace } from "./_computer_program.ts";
import { descendants, untilGone } from "./_processes.ts";

const isPosix = Deno.build.os !== "windows";
/** Only there a process is found that has left its process group. */
const isLinux = Deno.build.os === "linux";

const STUBBORN = scriptedServers({ stubborn: { stubborn: true, stray: isLinux } });

function options(url: string, config: string): string[] {
  return ["--url", url, "--office", "lab", "--name", "laptop", "--config", config];
}

Deno.test("a config that is no JSON ends with exit code 2 and names the file", async () => {
  using place = new Workplace();
  const config = place.write("config.json", "{ servers");
  const { code, stderr } = await place.run(options("http://127.0.0.1:1", config));
  assertEquals(code, 2);
  assertStringIncludes(stderr, `Cannot read config "${config}" at line 1: invalid JSON`);
});

Deno.test("a config with a mistake ends with exit code 2 and names the file and the place", async () => {
  using place = new Workplace();
  const servers = { files: { type: "stdio", server_parameters: { args: [] } } };
  const config = place.write("config.json", JSON.stringify({ servers }));
  const { code, stderr } = await place.run(options("http://127.0.0.1:1", config));
  assertEquals(code, 2);
  assertStringIncludes(stderr, `Cannot read config "${config}" at line 1, servers.files`);
  assertStringIncludes(stderr, "server_parameters.command");
});

Deno.test("a missing config file, a missing option and an impossible name end with exit code 2", async () => {
  using place = new Workplace();
  const config = place.write("config.json", { servers: {} });
  const missing = await place.run(options("http://127.0.0.1:1", "/no/such/file.json"));
  assertEquals(missing.code, 2);
  assertStringIncludes(missing.stderr, '"/no/such/file.json"');
  assertEquals((await place.run(["--url", "http://127.0.0.1:1"])).code, 2);
  const named = options("http://127.0.0.1:1", config).with(5, "x".repeat(129));
  assertEquals((await place.run(named)).code, 2);
});

Deno.test("a path with a space and no quotes ends with exit code 2 and says so", async () => {
  using place = new Workplace();
  const { code, stderr } = await place.run([
    "--url",
    "http://127.0.0.1:1",
    "--documents",
    "School",
    "papers",
  ]);
  assertEquals(code, 2);
  assertStringIncludes(stderr, "needs quotes");
});

Deno.test("a folder of --documents whose path has a comma is warned of", async () => {
  using place = new Workplace();
  const folder = join(place.folder, "Smith, Ada");
  await Deno.mkdir(folder);
  const { code, stderr } = await place.run(["--documents", folder, "tools"]);
  assertEquals(code, 0, stderr);
  assertStringIncludes(stderr, "--documents: a path with a comma cannot be granted: it may read all of");
});

Deno.test("a folder of skills or uploads that cannot be used ends with exit code 2 and the option", async () => {
  using place = new Workplace();
  const config = place.write("config.json", { servers: {} });
  const start = [...options("http://127.0.0.1:1", config), "--protocol", "0.4"];
  for (
    const [option, folder, reason] of [
      ["--skills", "", "give a folder"],
      ["--skills", "/no/such/folder", "no such folder"],
      ["--skills", config, "is a file"],
      ["--uploads", "", "give a folder"],
      ["--uploads", config, "is a file"],
    ] as const
  ) {
    const { code, stderr } = await place.run([...start, option, folder]);
    assertEquals(code, 2, stderr);
    assertStringIncludes(stderr, `Cannot use ${option}: `);
    assertStringIncludes(stderr, reason);
  }
});

Deno.test("the command skills says once what is wrong with a skill", async () => {
  using place = new Workplace();
  const config = place.write("config.json", { servers: {}, skills: ["."] });
  Deno.mkdirSync(join(place.folder, "silent"));
  place.write("silent/SKILL.md", "---\nname: silent\n---\n");
  const { code, stdout, stderr } = await place.run(["skills", "--config", config]);
  assertEquals(code, 0, stderr);
  assertEquals(`${stdout}${stderr}`.split("has no description").length, 2, stderr);
});

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  Deno.test({
    name: `${signal} ends the command with exit code 0 and leaves no process behind`,
    ignore: !isPosix,
    async fn() {
      await using server = await SmcpServer.listen({ port: 0 });
      using place = new Workplace();
      const config = place.write("config.json", STUBBORN);
      await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
      const left = Promise.withResolvers<void>();
      agent.on("leaveOffice", () => left.resolve());
      await using program = await place.serveAlone(options(server.url, config));
      await program.stderr.until("running");
      const pids = await descendants(program.pid);
      assert(pids.length >= 3, "the server, its child and the guard");
      program.kill(signal);
      const { code, stdout } = await program.end();
      assertEquals([code, stdout], [0, 'joined office "lab" as "laptop"\n']);
      await within(left.promise, "the office to know that the Computer left");
      await untilGone(pids);
    },
  });
}

Deno.test({
  name: "a Computer that is killed leaves no process behind",
  ignore: !isPosix,
  async fn() {
    await using server = await SmcpServer.listen({ port: 0 });
    using place = new Workplace();
    const config = place.write("config.json", STUBBORN);
    await using program = await place.serveAlone(options(server.url, config));
    await program.stderr.until("running");
    const pids = await descendants(program.pid);
    assert(pids.length >= 3, "the server, its child and the guard");
    program.kill("SIGKILL");
    await program.end();
    await untilGone(pids);
  },
});

Deno.test("a service whose name is taken in the office says so once and joins when it is free", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  using place = new Workplace();
  const config = place.write("config.json", { servers: {} });
  const membership = { role: "computer", name: "laptop", office_id: "lab" } as const;
  const other = await RawPeer.join(server.url, membership);
  await using program = place.start(options(server.url, config));
  await program.stderr.until("already exists in room");
  await other[Symbol.asyncDispose]();
  await program.stdout.until('joined office "lab" as "laptop"\n');
  program.kill("SIGTERM");
  const { code, stderr } = await program.end();
  if (isPosix) assertEquals(code, 0);
  assertEquals(stderr.match(/is taken/g)?.length, 1);
});

Deno.test("a service for which a limit of the Server leaves no place says so once and joins when there is one", async () => {
  await using server = await SmcpServer.listen({ port: 0, maxMembersPerOffice: 2 });
  using place = new Workplace();
  const config = place.write("config.json", { servers: {} });
  const other = await RawPeer.join(server.url, { role: "computer", name: "desk", office_id: "lab" });
  await using program = place.start(options(server.url, config));
  await program.stderr.until("--max-members-per-office (maxMembersPerOffice)");
  await other[Symbol.asyncDispose]();
  await program.stdout.until('joined office "lab" as "laptop"\n');
  program.kill("SIGTERM");
  const { code, stderr } = await program.end();
  if (isPosix) assertEquals(code, 0);
  assertEquals(stderr.match(/leaves no place/g)?.length, 1);
});

Deno.test("a service whose name is taken says how long it tries, and its status that it is in no office yet", async () => {
  using place = new Workplace();
  await using server = await SmcpServer.listen({ port: 0 });
  const config = place.write("config.json", { servers: {} });
  const membership = { role: "computer", name: "laptop", office_id: "lab" } as const;
  await using _other = await RawPeer.join(server.url, membership);
  await using service = place.start(options(server.url, config));
  await service.said("is taken, retrying until it is free");
  await service.said("Use another name, or end that Computer");
  const { stdout } = await place.run(["status"]);
  assertStringIncludes(stdout, "office    none yet, connected to");
  assertStringIncludes(stdout, 'trying to join "lab"');
  assertEquals(JSON.parse((await place.run(["status", "--json"])).stdout).office, null);
});
