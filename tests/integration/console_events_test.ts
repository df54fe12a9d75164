import { assertEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { Agent } from "../../src/agent/agent.ts";
import { SmcpServer } from "../../src/server/server.ts";
import { scripted } from "../fixtures/stdio_config.ts";
import { Workplace } from "./_computer_program.ts";
import { ConsoleClient, type ToldEvents } from "./_console.ts";

const ASKING = fromFileUrl(import.meta.resolve("../fixtures/asking_server.ts"));
const SERVERS = {
  shell: scripted({ tools: [{ name: "run", inputSchema: { type: "object" } }] }, { default_tool_meta: {} }),
  asking: {
    type: "stdio",
    default_tool_meta: { auto_apply: true },
    server_parameters: { command: Deno.execPath(), args: ["run", "-A", "--no-check", "--quiet", ASKING] },
  },
};

interface Scene {
  readonly client: ConsoleClient;
  readonly events: ToldEvents;
  readonly agent: Agent;
}

/** A Computer without a terminal, a program that reads its events, and an Agent. */
function testConsole(name: string, work: (scene: Scene) => Promise<void>): void {
  Deno.test({
    name,
    ignore: Deno.build.os === "windows",
    async fn() {
      using place = new Workplace();
      await using server = await SmcpServer.listen({ port: 0 });
      const config = place.write("config.json", { servers: SERVERS });
      const address = ["--url", server.url, "--office", "lab", "--name", "laptop"];
      await using computer = await place.serve([...address, "--config", config, "--console"]);
      const [link = ""] = /^http:\S+#\S+$/m.exec(computer.stdout.text) ?? [];
      const client = new ConsoleClient(link);
      await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
      await using events = await client.follow();
      await work({ client, events, agent });
    },
  });
}

async function dataOf(events: ToldEvents, name: string): Promise<Record<string, unknown>> {
  return (await events.nextOf(name)).data as Record<string, unknown>;
}

testConsole(
  "while a page reads the events, a call waits for it, and is followed to its end",
  async (scene) => {
    const { client, events, agent } = scene;
    const result = agent.computer("laptop").callTool("run", { n: 1 });
    const { id, digest, kind, arguments_bytes, arguments: params } = await dataOf(events, "waiting");
    assertEquals([kind, arguments_bytes, params], ["call", 7, undefined]);
    const wrong = await client.post("/api/calls/allow", {
      arguments: [id],
      options: { shown: "0".repeat(64) },
    });
    assertEquals([wrong.status, wrong.body.code], [409, "STATE_CHANGED"]);
    const given = { arguments: [id], options: { shown: digest } };
    assertEquals((await client.post("/api/calls/allow", given)).body, { id, decision: "allow" });
    assertEquals((await result).isError, false);
    assertEquals(await dataOf(events, "waiting"), { id, gone: "answered on the page" });
    assertEquals((await client.post("/api/calls/allow", given)).status, 409);
    let running = await dataOf(events, "running");
    while (running["ended"] === undefined) running = await dataOf(events, "running");
    assertEquals(running, { id, ended: "ok" });
    const record = await dataOf(events, "call");
    assertEquals([record["call"], record["tool"], record["arguments"]], [id, "run", '{"n":1}']);
    const { body } = await client.get("/api/history");
    assertEquals(body.history, [record]);
  },
);

testConsole(
  "the questions of a call that the page has made wait for the page",
  async ({ client, events }) => {
    const question = {
      message: "Which?",
      requestedSchema: { type: "object", properties: { n: { type: "integer" } } },
    };
    const params = JSON.stringify({ questions: [question] });
    const result = client.post("/api/call", { arguments: ["ask"], options: { params } });
    const { id, question: asked } = await dataOf(events, "waiting");
    assertEquals((asked as Record<string, unknown>)["message"], "Which?");
    const content = { arguments: [id], options: { content: '{"n":3}' } };
    assertEquals((await client.post("/api/calls/answer", content)).status, 200);
    assertStringIncludes(JSON.stringify((await result).body), '\\"n\\":3');
  },
);

testConsole("servers, logs, the connection and a pause are told", async ({ client, events }) => {
  await client.post("/api/pause");
  assertEquals(await dataOf(events, "paused"), { paused: true });
  await client.post("/api/server/stop", { arguments: ["shell"] });
  let state = await dataOf(events, "servers");
  while (state["status"] !== "stopped") state = await dataOf(events, "servers");
  assertEquals(state, { name: "shell", status: "stopped" });
  await client.post("/api/server/start", { arguments: ["shell"] });
  // What is merged comes in any order.
  const awaited = new Map<string, unknown>([["log", { server: "shell" }], ["tools", {}]]);
  while (awaited.size > 0) {
    const { event, data } = await events.next();
    if (!awaited.has(event)) continue;
    assertEquals(data, awaited.get(event));
    awaited.delete(event);
  }
  await client.post("/api/leave");
  assertEquals(await dataOf(events, "connection"), {});
});
