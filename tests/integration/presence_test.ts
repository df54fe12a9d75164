/** Whether a machine is there: asleep, awake again, and never another one of its name. */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import process from "node:process";
import { Agent } from "../../src/agent/agent.ts";
import { Computer } from "../../src/computer/computer.ts";
import { SmcpError } from "../../src/protocol/errors.ts";
import type { CallToolResult } from "../../src/protocol/tools.ts";
import { SmcpServer } from "../../server.ts";
import { RawMember } from "../attacks/_raw_member.ts";
import { doorWords } from "../fixtures/door.ts";
import { scriptedServers } from "../fixtures/stdio_config.ts";
import { TcpProxy } from "../fixtures/tcp_proxy.ts";
import { eventually, within } from "../fixtures/within.ts";
import { Workplace } from "./_computer_program.ts";
import { ada, laptop, request } from "./_echo_office.ts";
import { connectV1 } from "./_gateway_office.ts";
import { openLink } from "./_link_diary.ts";
import { RawPeer } from "./_socket.ts";

/** A real Computer in a process of its own, and the Agent of its office. */
async function openOffice() {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await SmcpServer.listen({ port: 0 }));
  const wire = stack.use(new TcpProxy(server.port));
  const place = stack.use(new Workplace());
  const config = place.write("config.json", scriptedServers({ notes: { tools: [{ name: "note" }] } }));
  const options = ["--url", wire.url, "--office", "lab", "--name", "attic", "--config", config];
  const computer = stack.use(await place.serveAlone(["--headless", ...options]));
  const agent = stack.use(await Agent.connect({ url: server.url, office: "lab", name: "ada" }));
  const attic = agent.computer("attic");
  await eventually(() => attic.getTools(), ({ length }) => length > 0, "the tools");
  const owned = stack.move();
  const close = async () => {
    // A stopped process does not end.
    if (!isEnded(computer.pid)) Deno.kill(computer.pid, "SIGCONT");
    await owned.disposeAsync();
  };
  /** Stops the machine, and ends its connection in its sleep. */
  const sleep = async (witness = agent) => {
    const left = witness.events({ types: ["leaveOffice"] });
    Deno.kill(computer.pid, "SIGSTOP");
    assert((await presenceOf(witness, "attic"))?.asleep_since !== undefined);
    wire.cut();
    await within(left.next(), "the end of its connection");
  };
  return { url: server.url, agent, attic, computer, sleep, [Symbol.asyncDispose]: close };
}

function isEnded(pid: number): boolean {
  try {
    return !process.kill(pid, 0);
  } catch {
    return true;
  }
}

async function presenceOf(agent: Agent, name: string) {
  return (await agent.listPresence())?.find(({ computer }) => computer === name);
}

async function assertAwake(agent: Agent): Promise<void> {
  const look = () => presenceOf(agent, "attic");
  await eventually(look, (found) => found !== undefined && found.asleep_since === undefined, "its waking");
}

Deno.test("a machine that is stopped is shown as asleep, calls to it fail unsent, and it is back", async () => {
  await using office = await openOffice();
  const { agent, attic, computer } = office;
  await assertAwake(agent);
  Deno.kill(computer.pid, "SIGSTOP");
  const { asleep_since = "" } = await presenceOf(agent, "attic") ?? {};
  assert(Math.abs(Date.parse(asleep_since) - Date.now()) < 60_000, asleep_since);
  const error = await assertRejects(() => attic.callTool("note"), SmcpError, "asleep since");
  assertEquals(
    [error.code, error.details?.["computer_name"], error.details?.["asleep_since"] !== undefined],
    [
      404,
      "attic",
      true,
    ],
  );
  Deno.kill(computer.pid, "SIGCONT");
  const { content: [received] } = await eventually(
    () => attic.callTool("received").catch(() => ({ content: [] })),
    ({ content }) => content.length > 0,
    "the call",
  );
  assert(received?.type === "text" && !received.text.includes('"note"'), "the call that failed has run");
  await assertAwake(agent);
});

Deno.test("calls that failed while their machine slept are cancelled, and do not run when it wakes", async () => {
  await using office = await openOffice();
  const { attic, computer } = office;
  Deno.kill(computer.pid, "SIGSTOP");
  const errors = await Promise.all(
    [1_000, 30_000].map((timeoutMs) =>
      within(assertRejects(() => attic.callTool("note", {}, { timeoutMs }), SmcpError), "the failure")
    ),
  );
  assertEquals(errors.map(({ code, details }) => [code, details?.["may_have_run"]]), [[408, true], [
    404,
    true,
  ]]);
  Deno.kill(computer.pid, "SIGCONT");
  const { content: [received] } = await eventually(
    () => attic.callTool("received").catch(() => ({ content: [] })),
    ({ content }) => content.length > 0,
    "the call",
  );
  assert(received?.type === "text" && !received.text.includes('"note"'), "a call that failed has run");
});

Deno.test("a machine that polls is asleep, too, when it does not ask for what waits", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using agent = await RawPeer.join(server.url, ada);
  await using computer = await RawPeer.join(server.url, laptop, { transports: ["polling"] });
  const { transport } = computer.socket.io.engine;
  Object.assign(transport, { _poll() {} });
  // It comes by the last request for packets.
  const echo = computer.nextRequest("client:echo");
  const sent = agent.request("client:echo", { ...request, timeout: 5 });
  await echo;
  const asked = { ...request, office_id: "lab", probe: true };
  const [presence] = await agent.request("server:list_presence", asked);
  assert(Object(presence).computers[0].asleep_since !== undefined);
  const [refusal] = await agent.request("client:echo", request);
  assert(Object(refusal).details.asleep_since !== undefined);
  transport.close();
  await sent;
});

Deno.test("a machine whose connection ended in its sleep is still asleep, and back when it wakes", async () => {
  await using office = await openOffice();
  const { agent, attic, computer } = office;
  await office.sleep();
  assert((await presenceOf(agent, "attic"))?.asleep_since !== undefined);
  await assertRejects(() => attic.callTool("note"), SmcpError, "asleep since");
  Deno.kill(computer.pid, "SIGCONT");
  await eventually(() => attic.callTool("note").then(() => true, () => false), Boolean, "the call");
  await assertAwake(agent);
});

Deno.test("a machine whose connection ended since it answered no ping is asleep", async () => {
  await using server = await SmcpServer.listen({ port: 0, pingIntervalMs: 50, pingTimeoutMs: 5_000 });
  await using agent = await RawPeer.join(server.url, ada);
  using _silent = await RawMember.join(server, laptop);
  await agent.next("notify:leave_office");
  const [presence] = await agent.request("server:list_presence", {
    ...request,
    office_id: "lab",
    probe: true,
  });
  assert(Object(presence).computers[0].asleep_since !== undefined);
});

// The transport of the official client waits with a timer for the end of the program.
Deno.test({
  name:
    "the gateway keeps the tools of a machine that sleeps, and says since when, and since when one is gone",
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    await using office = await openOffice();
    const { url, agent, computer } = office;
    await agent.close();
    await using watcher = await Agent.connect({ url, office: "lab", name: "eve", observer: true });
    await using desk = Computer.open({ name: "desk", config: { servers: {} } });
    await desk.join({ url, office: "lab" });
    await using client = await connectV1(
      doorWords("agent.ts", ["mcp", "--url", url, "--office", "lab", "--name", "ada"]),
    );
    const call = async (name: string) => {
      const { content } = await client.callTool({ name });
      return JSON.stringify(content);
    };
    const names = async () => (await client.listTools()).tools.map(({ name }: { name: string }) => name);
    await eventually(names, (all) => all.includes("note"), "the tools of the machine");
    await office.sleep(watcher);
    const isAsleep = (text: string) => text.includes("asleep since");
    await eventually(() => call("note"), isAsleep, "the call");
    await eventually(() => call("list_computers"), isAsleep, "the list");
    await assertSaidFirst(client);
    assert((await names()).includes("note"), "its tools are gone");
    Deno.kill(computer.pid, "SIGCONT");
    await eventually(
      () => call("note"),
      (text) => text.includes(`name\\":\\"note`),
      "the call after its waking",
    );
    await eventually(() => call("list_computers"), (text) => !isAsleep(text), "its waking");
    Deno.kill(computer.pid, "SIGKILL");
    await eventually(names, (all) => !all.includes("note"), "the end of its tools");
    assertMatch(await call("note"), /attic.* is gone since \d{4}-/);
  },
});

/** That "attic" sleeps comes before what "desk" has, and nothing is said of what nobody was asked. */
async function assertSaidFirst(client: Awaited<ReturnType<typeof connectV1>>): Promise<void> {
  const why = `"Computer 'attic' has been asleep since [^"]*"`;
  const lookups: readonly (readonly [name: string, args: object, problem: string, rest: RegExp])[] = [
    ["find_documents", { query: "tea" }, "Not searched: ", /^\nNo page fits[^\n]*$/],
    ["find_documents", {}, "Not searched: ", /^\nNo document fits[^\n]*$/],
    ["view_desktop", {}, "Not shown: ", /^\nNo window is open\.$/],
    ["read_document", { uri: "dpe://com.example.shop/menu" }, "Not searched: ", /^\nNo other Computer has /],
    ["find_documents", { query: "tea", computer: "attic" }, "Not searched: ", /^$/],
    ["view_desktop", { computer: "attic" }, "Not shown: ", /^$/],
    [
      "read_document",
      { uri: "dpe://com.example.shop/menu", computer: "attic" },
      "Cannot complete .*: ",
      /^$/,
    ],
  ];
  for (const [name, args, problem, rest] of lookups) {
    const result = await client.callTool({ name, arguments: args }) as CallToolResult;
    const text = result.content.map(({ text = "" }) => text).join("\n");
    const [first = ""] = new RegExp(`^${problem}${why}`).exec(text) ?? [];
    assert(first !== "", `${name} ${JSON.stringify(args)}: ${text}`);
    assertMatch(text.slice(first.length), rest);
    if (name === "find_documents") assertEquals(Object(result.structuredContent).notice, first);
  }
}

/** A Computer that says in its list of tools which machine it is. */
async function joinMachine(url: string, machine: string, name = "laptop"): Promise<RawPeer> {
  const peer = await RawPeer.join(url, { ...laptop, name }, { auth: { machine } });
  const tool = { name: machine, description: "", params_schema: {}, return_schema: null, meta: {} };
  peer.serve("client:get_tools", (body) => [{ tools: [tool], req_id: Object(body).req_id }]);
  return peer;
}

Deno.test("an Agent's Computer is one machine: another one of its name is not asked, a renamed one is", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
  const moves = agent.events({ types: ["enterOffice", "leaveOffice"] });
  const first = await joinMachine(server.url, "first");
  const names = async (computer: string | typeof handle) =>
    (await (typeof computer === "string" ? agent.computer(computer) : computer).getTools()).map(({ name }) =>
      name
    );
  const handle = agent.computer("laptop");
  assertEquals(await names(handle), ["first"]);
  await first[Symbol.asyncDispose]();
  for (const _move of ["enter", "leave"]) await within(moves.next(), "a move");
  const away = await assertRejects(() => names(handle), SmcpError, "may come back");
  assertEquals([away.code, away.details], [404, { computer_name: "laptop" }]);
  await using _second = await joinMachine(server.url, "second");
  await within(moves.next(), "the second machine");
  const replaced = await assertRejects(() => names(handle), SmcpError, "another machine has its name now");
  assertEquals([replaced.code, replaced.details], [404, { computer_name: "laptop", replaced: true }]);
  assertEquals(await names("laptop"), ["second"]);
  await using _renamed = await joinMachine(server.url, "first", "notebook");
  assertEquals(await names(handle), ["first"]);
});

Deno.test("a Server that knows no presence tells nothing, and calls go by name", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using agent = await RawPeer.join(server.url, ada);
  await using computer = await joinMachine(server.url, "first");
  const [answer] = await agent.request("server:list_presence", { ...request, office_id: "lab" });
  const { computers: [{ machine }] } = Object(answer);
  computer.serve("client:echo", (body) => [Object(body).computer]);
  assertEquals(await agent.request("client:echo", { ...request, computer: machine }), [machine]);
  const [refusal] = await computer.request("server:list_presence", { ...request, office_id: "lab" });
  assertEquals(Object(refusal).code, 403, "Computers do not learn the ids of others");
});

Deno.test("a member that slept for long comes back at once, and one that slept shortly keeps its connection", async () => {
  await using server = await SmcpServer.listen({ port: 0, pingIntervalMs: 20_000, pingTimeoutMs: 20_000 });
  const { link, diary } = await openLink(server);
  await using _link = link;
  await link.join({ role: "agent", name: "ada", office_id: "lab" });
  const { now } = Date;
  using _clock = { [Symbol.dispose]: () => void (Date.now = now) };
  const sleep = async (ms: number) => {
    const before = Date.now();
    const offsetMs = before + ms - now();
    Date.now = () => now() + offsetMs;
    // Longer than a tick of the clock that notices it.
    await eventually(() => Date.now() - before - ms, (sinceMs) => sinceMs > 1_500, "a tick");
  };
  await sleep(10_000);
  assertEquals(diary.lost, []);
  await sleep(100_000);
  await within(diary.returned.promise, "the return");
  assertEquals(diary.lost, ["ping timeout"]);
  assertEquals(link.isAwake, undefined, "calls on the new connection wait for the check of the old one");
});
