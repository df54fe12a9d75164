import { assertEquals, assertObjectMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { Agent, type AgentOptions } from "../../agent.ts";
import { Computer } from "../../computer.ts";
import { AuthenticationError, JoinRefusedError, SmcpError, UnsupportedRequestError } from "../../mod.ts";
import {
  GUIDE,
  HELP,
  interop,
  nextEvent,
  openComputer,
  picture,
  statusSays,
  TOKEN,
  untilStatusSays,
  waitForWarning,
} from "./_office.ts";
import { PythonPeer } from "./peer.ts";

const office = "lab";

function urlOf(server: PythonPeer): string {
  return String(server.ready.url);
}

function connect(server: PythonPeer, options: Partial<AgentOptions> = {}): Promise<Agent> {
  return Agent.connect({ url: urlOf(server), office, name: "ada", token: TOKEN, ...options });
}

Deno.test("our Computer and our Agent do their work through a Python Server", interop, async (t) => {
  await using server = await PythonPeer.start("server", ["--token", TOKEN]);
  await using computer = await openComputer("laptop");
  await computer.join({ url: urlOf(server), office, token: TOKEN });
  await using agent = await connect(server, { graceMs: 2_000 });
  const laptop = agent.computer("laptop");

  await t.step("the Agent lists everybody in the office", async () => {
    const members = await agent.listOffice();
    assertEquals(members.map(({ name, role, office_id }) => ({ name, role, office_id })), [
      { name: "laptop", role: "computer", office_id: office },
      { name: "ada", role: "agent", office_id: office },
    ]);
  });

  await t.step("the Agent gets the tools of all MCP servers", async () => {
    // proves: finder-no-builtin-tools
    const tools = await laptop.getTools();
    const names = ["add", "slow", "set_status", "picture", "echo", "fail"];
    assertEquals(tools.map(({ name }) => name), names);
  });

  await t.step("the Agent calls tools, and their failures are results", async () => {
    const sum = await laptop.callTool("add", { a: 40, b: 2 }, { timeoutMs: 9_500 });
    assertObjectMatch(sum, { isError: false, structuredContent: { sum: 42 } });
    assertObjectMatch(await laptop.callTool("fail"), { isError: true, content: [{ text: "out of paper" }] });
    assertObjectMatch(await laptop.callTool("nope"), { isError: true, meta: { error_code: 4001 } });
  });

  await t.step(
    "an Agent that answers questions calls tools as before: the Server does not know them",
    async () => {
      // proves: question-unknown
      const onQuestion = () => ({ action: "decline" } as const);
      const sum = await laptop.callTool("add", { a: 1, b: 2 }, { onQuestion });
      assertObjectMatch(sum, { isError: false, structuredContent: { sum: 3 } });
    },
  );

  await t.step("a call that the owner has to be asked about is refused, and not made without", async () => {
    // proves: ext-ask-unknown
    const refusal = await assertRejects(
      () => laptop.callTool("add", { a: 1, b: 2 }, { ask: true }),
      UnsupportedRequestError,
    );
    assertEquals(refusal.event, "client:ask_tool_call");
  });

  await t.step("the Agent gets the desktop", async () => {
    // proves: desktop-flow-pull
    assertEquals(await laptop.getDesktop(), [statusSays("idle"), HELP]);
    assertEquals(await laptop.getDesktop({ size: 1 }), [statusSays("idle")]);
  });

  await t.step("the Agent hears of a changed window and gets the new text", async () => {
    // proves: desktop-flow-content, desktop-updated-window
    const refreshed = untilStatusSays(agent, "busy");
    await laptop.callTool("set_status", { text: "busy" });
    assertEquals((await refreshed).desktops, [statusSays("busy"), HELP]);
  });

  await t.step("a call that is aborted is cancelled in the MCP server", async () => {
    const abort = new AbortController();
    const running = untilStatusSays(agent, "slow is running");
    const call = laptop.callTool("slow", { seconds: 60 }, { signal: abort.signal, timeoutMs: 60_000 });
    await running;
    const cancelled = untilStatusSays(agent, "slow was cancelled");
    abort.abort();
    await assertRejects(() => call, DOMException);
    await cancelled;
  });

  await t.step("a call for a client, and its cancel, are taken", async () => {
    const forClaude = agent.computer("laptop", { client: "Claude" });
    assertObjectMatch(await forClaude.callTool("add", { a: 1, b: 2 }), { structuredContent: { sum: 3 } });
    const abort = new AbortController();
    const running = untilStatusSays(agent, "slow is running");
    const call = forClaude.callTool("slow", { seconds: 60 }, { signal: abort.signal, timeoutMs: 60_000 });
    await running;
    const cancelled = untilStatusSays(agent, "slow was cancelled");
    abort.abort();
    await assertRejects(() => call, DOMException);
    await cancelled;
  });

  await t.step(
    "a result arrives whole below the Server's limit of 1 MB and above it",
    async () => {
      const fitting = await laptop.callTool("picture", { size: 600_000 });
      assertEquals(fitting.content[0]?.data, picture(600_000));
      const large = await laptop.callTool("picture", { size: 900_000 });
      assertEquals(large.content[0]?.data, picture(900_000));
    },
  );

  await t.step("the Agent pages through the resources of an MCP server", async () => {
    const first = await laptop.getResources("windows");
    assertEquals(first.resources.map(({ name }) => name), ["Help", "Status"]);
    const last = await laptop.getResources("windows", { cursor: first.nextCursor });
    assertEquals([last.resources.map(({ uri }) => uri), last.nextCursor], [[GUIDE], undefined]);
  });

  await t.step("errors that the Server knows keep their code and details", async () => {
    const missing = await assertRejects(() => laptop.getResources("nope"), SmcpError);
    assertEquals([missing.code, missing.details], [4014, { mcp_server: "nope" }]);
    const unable = await assertRejects(() => laptop.getResources("plain"), SmcpError);
    assertEquals([unable.code, unable.details], [4015, { mcp_server: "plain", capability: "resources" }]);
    const nobody = await assertRejects(() => agent.computer("nobody").getTools(), SmcpError);
    assertEquals([nobody.code, nobody.details], [404, { computer_name: "nobody" }]);
  });

  await t.step("an error that the Server empties is an error all the same", async () => {
    const options = { size: 1.5 };
    const error = await assertRejects(() => laptop.getDesktop(options), SmcpError);
    assertStringIncludes(error.message, `Cannot read the answer to "client:get_desktop"`);
  });

  await t.step("what the Server does not know is refused at once, and the Agent says so", async () => {
    for (const ask of [() => laptop.getFinder(), () => laptop.readDocumentMetadata(GUIDE)]) {
      const error = await assertRejects(ask, SmcpError, "does not support it");
      assertEquals([error.code, error.details], [400, { field: "event" }]);
    }
  });

  await t.step("both come back after the Server has dropped them", async () => {
    const back = nextEvent(agent, "enterOffice", ({ name }) => name === "laptop");
    assertEquals(await server.command({ command: "disconnect", name: "laptop" }), true);
    await back;
    const returned = nextEvent(agent, "reconnected");
    assertEquals(await server.command({ command: "disconnect", name: "ada" }), true);
    assertEquals((await returned).office, office);
    assertObjectMatch(await laptop.callTool("echo", { text: "hi" }), { content: [{ text: "hi" }] });
  });

  await t.step("the Agent hears that the Computer left, and leaves, too", async () => {
    const left = nextEvent(agent, "leaveOffice");
    await computer.leave();
    assertEquals(await left, { type: "leaveOffice", office, role: "computer", name: "laptop" });
    await agent.leave();
    assertEquals(agent.office, undefined);
  });
});

Deno.test("a Python Server passes every kind of configuration on as we mask it", interop, async () => {
  const everyKind = {
    servers: {
      local: {
        type: "stdio",
        disabled: true,
        forbidden_tools: ["rm"],
        tool_meta: {
          ls: { auto_apply: true, alias: "list", tags: ["files"], ret_object_mapper: { a: "b" } },
        },
        default_tool_meta: { auto_apply: false },
        vrl: ".a = 1",
        server_parameters: { command: "mcp", args: ["--x"], env: { KEY: "${input:key}" }, cwd: "/tmp" },
      },
      web: { type: "streamable", disabled: true, server_parameters: { url: "http://127.0.0.1/mcp" } },
      old: { type: "sse", disabled: true, server_parameters: { url: "http://127.0.0.1/sse" } },
    },
    inputs: [
      { type: "promptString", id: "key", description: "A key", default: "k", password: true },
      { type: "pickString", id: "pick", description: "One of", options: ["a", "b"], default: "a" },
      { type: "command", id: "run", description: "Run", command: "date", args: { utc: "" } },
    ],
  };
  await using server = await PythonPeer.start("server", ["--token", TOKEN]);
  await using computer = Computer.open({ name: "laptop", config: everyKind });
  await computer.join({ url: urlOf(server), office, token: TOKEN });
  await using agent = await connect(server);
  const config = await agent.computer("laptop").getConfig();
  assertObjectMatch({ ...config }, {
    servers: {
      local: {
        name: "local",
        disabled: true,
        forbidden_tools: ["rm"],
        tool_meta: everyKind.servers.local.tool_meta,
        default_tool_meta: { auto_apply: false },
        vrl: "***",
        server_parameters: { command: "mcp", args: ["--x"], env: { KEY: "${input:key}" }, cwd: "***" },
      },
      web: { type: "streamable", server_parameters: { url: "http://127.0.0.1/***", timeout: "PT30S" } },
      old: { type: "sse", server_parameters: { url: "http://127.0.0.1/***", timeout: 5 } },
    },
  });
  assertEquals(config.inputs?.map(({ id }) => id), ["key", "pick", "run"]);
});

Deno.test("a Python Server's refusals reach our peers as what they are", interop, async (t) => {
  await using server = await PythonPeer.start("server", ["--token", TOKEN]);

  await t.step("a wrong token is final", async () => {
    await assertRejects(() => connect(server, { token: "guess" }), AuthenticationError);
  });

  await t.step("a seat that is taken is refused at once", async () => {
    const address = ["--url", urlOf(server), "--office", office, "--token", TOKEN];
    await using bob = await PythonPeer.start("agent", [...address, "--name", "bob", "--await-join"]);
    await assertRejects(
      () => connect(server),
      JoinRefusedError,
      "Agent already in room",
    );
    await bob.command({ command: "leave" });
    await using ada = await connect(server);
    assertEquals((await ada.listOffice()).map(({ name }) => name), ["ada"]);
  });

  await t.step(
    "a name that is taken is tried again by whoever has the patience, until it is free",
    async () => {
      const { logger, said } = waitForWarning("name or seat is taken, retrying for 60000 ms");
      const config = { servers: {} };
      const address = { url: urlOf(server), office, token: TOKEN };
      await using first = Computer.open({ name: "laptop", config });
      await first.join(address);
      await using second = Computer.open({ name: "laptop", config, logger });
      await assertRejects(() => second.join(address), JoinRefusedError, "already exists in room");
      const joining = second.join({ ...address, joinPatienceMs: 60_000 });
      await Promise.race([said, joining]);
      assertStringIncludes(String((await said).reason), "already exists in room");
      await first.leave();
      await joining;
    },
  );
});
