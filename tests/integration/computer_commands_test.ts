import { assertEquals, assertStringIncludes } from "@std/assert";
import { SmcpServer } from "../../src/server/server.ts";
import { startHosted } from "../fixtures/hosted_door.ts";
import type { Script } from "../fixtures/script.ts";
import { scripted, scriptedServers } from "../fixtures/stdio_config.ts";
import { withoutSlowStart, Workplace } from "./_computer_program.ts";

const W = "window://host/w";
const D = "dpe://docs/d";
const SHOP: Script = {
  tools: [{ name: "echo", description: "Says it again", inputSchema: { type: "object" } }],
  resources: [{ uri: W }, { uri: D }],
  contents: {
    [W]: "hello",
    [D]: { doc_ref: "d", uri: D, file_uri: "file:///d", file_type: "md", title: "Plan", page_count: 1 },
  },
};

Deno.test("with --config each command runs by itself, on a Computer that ends with it", async () => {
  using place = new Workplace();
  const config = place.write("config.json", scriptedServers({ shop: SHOP }));
  const ask = async (...args: string[]) => {
    const { code, stdout, stderr } = await place.run([...args, "--config", config, "--json"]);
    assertEquals([code, withoutSlowStart(stderr)], [0, ""], args.join(" "));
    return JSON.parse(stdout);
  };
  const status = await ask("status");
  assertEquals(
    status.servers.map(({ name, status, tools }: Record<string, unknown>) => [name, status, tools]),
    [
      ["shop", "running", 3],
    ],
  );
  assertEquals([status.office, status.connected, status.config], [null, false, config]);
  const { tools } = await ask("tools");
  assertEquals(tools.map(({ name }: { name: string }) => name), ["echo", "become", "received"]);
  const result = await ask("call", "echo", '{"n":1}');
  assertEquals(result.content[0].text, '{"name":"echo","args":{"n":1}}');
  assertEquals((await ask("read", W)).contents[0].text, "hello");
  assertEquals(Object.keys((await ask("render")).servers), ["shop"]);
  assertEquals((await ask("input", "list")).inputs, []);
  const { log } = await ask("server", "logs", "shop");
  assertStringIncludes(log.at(-1), "running");
});

Deno.test("a Computer that was paused starts so, until its owner resumes it, and no other one of its name", async () => {
  using place = new Workplace();
  await using server = await SmcpServer.listen({ port: 0 });
  const config = place.write("config.json", { servers: { shop: scripted(SHOP) } });
  const runs = async (office: string, ...commands: string[]) => {
    await using _running = await place.serve([
      ...["--url", server.url, "--office", office, "--name", "laptop"],
      ...["--config", config],
    ]);
    const paused: unknown[] = [];
    for (const command of commands) {
      const { code, stdout, stderr } = await place.run([command, "--json"]);
      assertEquals([code, stderr], [0, ""], command);
      paused.push(JSON.parse(stdout).paused);
    }
    return paused;
  };
  assertEquals(await runs("lab", "status", "pause"), [false, true]);
  assertEquals(await runs("den", "status", "resume"), [false, false]);
  assertEquals(await runs("lab", "status", "resume", "status"), [true, false, false]);
  assertEquals(await runs("lab", "status"), [false]);
});

Deno.test("a pause that a restart would not know of says so, and a fresh Computer is not paused", async () => {
  using place = new Workplace();
  await using server = await SmcpServer.listen({ port: 0 });
  const config = place.write("config.json", { servers: {} });
  const words = ["--url", server.url, "--office", "lab", "--name", "laptop", "--config", config];
  const env = { ...place.env, XDG_STATE_HOME: place.write("file", "") };
  await using running = startHosted("computer.ts", words, { env });
  await running.said('joined office "lab"');
  assertEquals(JSON.parse((await place.run(["status", "--json"])).stdout).paused, false);
  assertStringIncludes((await place.run(["pause"])).stdout, "But the pause ends with this program");
});

Deno.test({
  name: "a Computer that runs is asked by other processes of its user",
  async fn() {
    using place = new Workplace();
    await using server = await SmcpServer.listen({ port: 0 });
    const config = place.write("config.json", {
      servers: { shop: scripted(SHOP) },
      inputs: [{ type: "promptString", id: "key", password: true }],
    });
    const connection = ["--url", server.url, "--office", "lab", "--name", "laptop"];
    await using running = await place.serve([...connection, "--config", config]);
    const ask = async (...words: string[]) => {
      const { code, stdout, stderr } = await place.run([...words, "--json"]);
      assertEquals([code, stderr], [0, ""], words.join(" "));
      return JSON.parse(stdout);
    };
    const { office, connected, name } = await ask("status");
    assertEquals([office, connected, name], ["lab", true, "laptop"]);
    await ask("call", "echo", "{}");
    assertEquals(
      (await ask("history")).history.map(({ tool, outcome }: Record<string, string>) => [tool, outcome]),
      [
        ["echo", "ok"],
      ],
    );
    assertEquals((await ask("server", "stop", "shop")).status, "stopped");
    assertEquals((await ask("tools")).tools, []);
    assertEquals((await ask("server", "start", "shop")).status, "running");
    assertEquals((await ask("server", "restart", "shop")).status, "running");
    assertEquals((await ask("leave")).left, "lab");
    assertEquals((await ask("join", "attic")).office, "attic");
    const set = await place.run(["input", "set", "key", "--json"], { input: "s3cret\n" });
    assertEquals([set.code, JSON.parse(set.stdout).id], [0, "key"]);
    const listed = await ask("input", "list");
    assertEquals(listed.inputs[0].value_from, "set");
    assertEquals(JSON.stringify(listed).includes("s3cret"), false);
    assertEquals((await ask("input", "clear", "key")).id, "key");
    const stranger = await place.run(["--name", "other", "status"]);
    assertEquals(stranger.code, 3);
    assertStringIncludes(stranger.stderr, 'named "other" (from --name)');
    const missing = await place.run(["server", "stop", "none", "--json"]);
    assertEquals([missing.code, JSON.parse(missing.stderr).error.message], [
      1,
      'No server named "none" (servers: shop)',
    ]);
    assertEquals((await ask("quit")).quit, true);
    assertEquals((await running.end()).code, 0);
  },
});
