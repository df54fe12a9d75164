import { createToolkit } from "../../src/agent/toolkit/toolkit.ts";
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { Agent, type AgentOptions } from "../../src/agent/agent.ts";
import type { AgentEventName, AgentEventOf } from "../../src/agent/events.ts";
import { SmcpError } from "../../src/protocol/errors.ts";
import { JoinRefusedError } from "../../src/link/errors.ts";
import { SmcpServer } from "../../src/server/server.ts";
import { acceptJoin, BareServer } from "./_bare_server.ts";
import { ScriptedComputer } from "./_scripted_computer.ts";

function connect(url: string, options: Partial<AgentOptions> = {}): Promise<Agent> {
  return Agent.connect({ url, office: "lab", name: "ada", ...options });
}

/** The next event of one name. */
function next<Name extends AgentEventName>(agent: Agent, type: Name): Promise<AgentEventOf<Name>> {
  const { promise, resolve } = Promise.withResolvers<AgentEventOf<Name>>();
  const unsubscribe = agent.on(type, (event) => {
    unsubscribe();
    resolve(event);
  });
  return promise;
}

// proves: data-enter-notification, data-leave-notification
Deno.test("an Agent hears who comes and who leaves", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using agent = await connect(server.url);
  const came = next(agent, "enterOffice");
  using computer = await ScriptedComputer.join(server.url);
  assertEquals(await came, { type: "enterOffice", office: "lab", role: "computer", name: "laptop" });
  const left = next(agent, "leaveOffice");
  computer.close();
  assertEquals(await left, { type: "leaveOffice", office: "lab", role: "computer", name: "laptop" });
});

Deno.test("an Agent hears every kind of change, those of newer peers included", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  using computer = await ScriptedComputer.join(server.url);
  await using agent = await connect(server.url);
  const events = agent.events();
  for (const what of ["config", "tool_list", "desktop", "finder", "skills"]) {
    await computer.send(`server:update_${what}`, { computer: "laptop" });
  }
  const told: unknown[] = [];
  for await (const event of events) {
    told.push(event);
    if (told.length === 5) break;
  }
  const changes = ["updateConfig", "updateToolList", "updateDesktop", "updateFinder"];
  assertEquals(told, [
    ...changes.map((type) => ({ type, computer: "laptop" })),
    { type: "notification", event: "notify:update_skills", body: { computer: "laptop" } },
  ]);
});

// proves: desktop-agent-refresh, desktop-flow-pull
Deno.test("an Agent with a listener fetches the desktop anew after a change", async () => {
  let text = "old";
  await using server = await SmcpServer.listen({ port: 0 });
  using computer = await ScriptedComputer.join(server.url, {
    answers: { "client:get_desktop": ({ req_id }) => ({ desktops: [`window://a\n\n${text}`], req_id }) },
  });
  await using agent = await connect(server.url);
  const refreshed = next(agent, "desktopRefreshed");
  text = "new";
  await computer.send("server:update_desktop", { computer: "laptop" });
  assertEquals(await refreshed, {
    type: "desktopRefreshed",
    computer: "laptop",
    desktops: ["window://a\n\nnew"],
  });
});

// proves: finder-agent-refresh, finder-flow-pull
Deno.test("an Agent with a listener fetches the catalogue anew after a change", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  using computer = await ScriptedComputer.join(server.url, {
    answers: { "client:get_finder": ({ req_id }) => ({ documents: [], total_count: 0, req_id }) },
  });
  await using agent = await connect(server.url);
  const refreshed = next(agent, "finderRefreshed");
  await computer.send("server:update_finder", { computer: "laptop" });
  assertEquals(await refreshed, {
    type: "finderRefreshed",
    computer: "laptop",
    documents: [],
    totalCount: 0,
  });
});

Deno.test("an Agent with listeners fetches tools and configuration of a Computer that comes", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using agent = await connect(server.url);
  const refreshed = Promise.all([next(agent, "toolsRefreshed"), next(agent, "configRefreshed")]);
  using _computer = await ScriptedComputer.join(server.url, {
    answers: {
      "client:get_tools": ({ req_id }) => ({ tools: [], req_id }),
      "client:get_config": () => ({ servers: {} }),
    },
  });
  assertEquals((await refreshed).map((event) => event.computer), ["laptop", "laptop"]);
});

Deno.test("a refresh that fails is an event, and changes nothing else", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  using computer = await ScriptedComputer.join(server.url, {
    answers: { "client:get_desktop": () => ({ code: 500, message: "Broken" }) },
  });
  await using agent = await connect(server.url);
  using _ = agent.on("desktopRefreshed", () => {});
  const failed = next(agent, "refreshFailed");
  await computer.send("server:update_desktop", { computer: "laptop" });
  const { view, error } = await failed;
  assertEquals([view, error instanceof SmcpError && error.code], ["desktop", 500]);
});

Deno.test("malformed and unexpected events are dropped with a log line, and answered where an answer was asked for", async () => {
  const lines: string[] = [];
  const warn = (message: string) => void lines.push(message);
  await using server = await BareServer.listen({ handlers: { "server:join_office": acceptJoin } });
  await using agent = await connect(server.url, { logger: { debug() {}, info() {}, error() {}, warn } });
  const socket = await server.connection(1);
  const heard = next(agent, "updateDesktop");
  socket.emit("notify:update_desktop", { computer: 7 });
  const answer = await socket.timeout(5_000).emitWithAck("client:tool_call", { tool_name: "echo" });
  assertEquals([answer.code, answer.error.details], [400, { field: "event" }]);
  socket.emit("notify:update_desktop", { computer: "laptop" });
  assertEquals((await heard).computer, "laptop");
  assertEquals(lines, ["notification dropped", "unexpected event"]);
});

Deno.test("an Agent whose connection was cut comes back at once, and refreshes what it may have missed", async () => {
  await using server = await BareServer.listen({
    handlers: {
      "server:join_office": acceptJoin,
      "server:list_room": (_body, ack) =>
        ack({ sessions: [{ sid: "s", name: "laptop", role: "computer", office_id: "lab" }], req_id: "x" }),
      "client:get_tools": (_body, ack) => ack({ tools: [], req_id: "x" }),
    },
  });
  await using agent = await connect(server.url);
  const refreshed = next(agent, "toolsRefreshed");
  const story = agent.events({ types: ["disconnected", "reconnected"] });
  await server.cut(1);
  assertEquals((await story.next()).value?.type, "disconnected");
  assertEquals((await story.next()).value, { type: "reconnected", office: "lab" });
  assertEquals((await refreshed).computer, "laptop");
  assertEquals(agent.isConnected, true);
});

Deno.test("an Agent whose way back is barred says so and ends its events", async () => {
  let joins = 0;
  await using server = await BareServer.listen({
    handlers: {
      "server:join_office": (_body, ack) => ++joins === 1 ? ack(true, null) : ack(false, "banned"),
    },
  });
  await using agent = await connect(server.url);
  using toolkit = createToolkit(agent);
  const events = agent.events({ types: ["failed"] });
  await server.cut(1);
  const [failed, ...rest] = await Array.fromAsync(events);
  assertEquals([failed?.type, rest], ["failed", []]);
  const { content: [why] } = await toolkit.call("echo");
  assertStringIncludes(why?.type === "text" ? why.text : "", "banned");
  await assertRejects(() => agent.listOffice(), JoinRefusedError, "banned");
});

Deno.test("closing an Agent ends its events", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const agent = await connect(server.url);
  const events = Array.fromAsync(agent.events());
  await agent.close();
  assertEquals(await events, []);
});

Deno.test("an Agent leaves its office and joins another", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using agent = await connect(server.url);
  await agent.leave();
  assertEquals(agent.office, undefined);
  assertEquals((await assertRejects(() => agent.listOffice(), SmcpError)).code, 4103);
  await agent.join("attic");
  assertEquals([agent.office, (await agent.listOffice())[0]?.office_id], ["attic", "attic"]);
});

Deno.test("names that are none are refused before anything is sent", async () => {
  const url = "http://127.0.0.1:1";
  await assertRejects(() => connect(url, { name: "" }), TypeError, "name");
  await assertRejects(() => connect(url, { office: "a\nb" }), TypeError, "office");
});
