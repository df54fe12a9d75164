/** One connection that several programs use as one Agent, without the socket between them. */
import { assertEquals, assertRejects } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import { GuestConnection } from "../../src/cli/agent/seat/guest_connection.ts";
import { ownConnection, SeatHolder } from "../../src/cli/agent/seat/seat_holder.ts";
import { SharedConnection } from "../../src/cli/agent/seat/shared_connection.ts";
import { openConnection } from "../../src/link/connect.ts";
import { RequestTimeoutError } from "../../src/link/errors.ts";
import { silentLogger } from "../../src/log.ts";
import { SmcpServer } from "../../src/server/server.ts";
import { scripted } from "../fixtures/stdio_config.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";
import { eventually } from "../fixtures/within.ts";
import { ComputerOffice } from "./_computer_office.ts";
import { ScriptedComputer, textResult } from "./_scripted_computer.ts";

const TIMEOUT_MS = 100_000;

interface Scene extends AsyncDisposable {
  readonly server: SmcpServer;
  readonly computer: ScriptedComputer;
  readonly shared: SharedConnection;
}

async function open(): Promise<Scene> {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await SmcpServer.listen({ port: 0 }));
  const computer = stack.use(
    await ScriptedComputer.join(server.url, {
      answers: {
        "client:subscribe_resource": ({ req_id }) => ({ req_id }),
        "client:unsubscribe_resource": ({ req_id }) => ({ req_id }),
        "client:tool_call": ({ tool_name }) => tool_name === "echo" ? textResult("hi") : undefined,
      },
    }),
  );
  const { signal } = new AbortController();
  const context = { signal, timeoutMs: TIMEOUT_MS, onEvent: () => undefined };
  const connection = await openConnection({ url: server.url }, context);
  stack.defer(() => connection.close());
  const all = stack.move();
  return {
    server,
    computer,
    shared: new SharedConnection(connection),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

const join = (name: string) => ({
  event: "server:join_office",
  body: { role: "agent", name, office_id: "lab" },
  timeoutMs: TIMEOUT_MS,
});

const request = (event: string, more: Readonly<Record<string, unknown>>) => ({
  event: `client:${event}`,
  body: { agent: "bea", req_id: crypto.randomUUID(), computer: "laptop", ...more },
  timeoutMs: TIMEOUT_MS,
});

Deno.test("the first program joins, and the others are told what the Server answered it", async () => {
  await using scene = await open();
  const [one, other] = [scene.shared.share(() => undefined), scene.shared.share(() => undefined)];
  const acks = await Promise.all([one.request(join("ada")), other.request(join("bea"))]);
  assertEquals(acks, [[true, null], [true, null]]);
  const [answer] = await one.request({
    event: "server:list_room",
    body: { agent: "ada", req_id: "r", office_id: "lab" },
    timeoutMs: TIMEOUT_MS,
  }) as [{ sessions: { name: string; role: string }[] }];
  const agents = answer.sessions.filter(({ role }) => role === "agent").map(({ name }) => name);
  assertEquals(agents, ["ada"]);
});

Deno.test("a join that the Server refuses is refused to all, and may be tried again", async () => {
  await using scene = await open();
  const { signal } = new AbortController();
  const context = { signal, timeoutMs: TIMEOUT_MS, onEvent: () => undefined };
  const rival = await openConnection({ url: scene.server.url }, context);
  await rival.request("server:join_office", join("eve").body, TIMEOUT_MS);
  const share = scene.shared.share(() => undefined);
  const [accepted] = await share.request(join("ada"));
  assertEquals(accepted, false);
  await rival.request("server:leave_office", { office_id: "lab" }, TIMEOUT_MS);
  assertEquals(await share.request(join("ada")), [true, null]);
  await rival.close();
});

Deno.test("a subscription ends when the last program that needs it has gone", async () => {
  await using scene = await open();
  const { shared, computer } = scene;
  const [one, other] = [shared.share(() => undefined), shared.share(() => undefined)];
  await one.request(join("ada"));
  const overview = { uri: "window://a.b/c" };
  await one.request(request("subscribe_resource", overview));
  await other.request(request("subscribe_resource", overview));
  await one.request(request("unsubscribe_resource", overview));
  await other.request(request("subscribe_resource", { uri: "file:///x", mcp_server: "files" }));
  assertEquals(computer.requests.filter(({ event }) => event === "client:unsubscribe_resource"), []);
  const ended = [computer.next("client:unsubscribe_resource")];
  other.end();
  const { uri, agent } = await ended[0] ?? {};
  assertEquals([uri, agent], [overview.uri, "ada"]);
});

Deno.test("what a program has begun is cancelled when it has gone, in the name of the Agent", async () => {
  await using scene = await open();
  const { shared, computer } = scene;
  const [one, other] = [shared.share(() => undefined), shared.share(() => undefined)];
  await one.request(join("ada"));
  await other.request(request("tool_call", { tool_name: "echo", params: {} }));
  const asked = request("tool_call", { tool_name: "wait", params: {} });
  const arrived = computer.next("client:tool_call");
  other.request(asked).catch(() => undefined);
  await arrived;
  const cancelled = computer.next("notify:tool_call_cancel");
  other.end();
  assertEquals(await cancelled, { agent: "ada", req_id: asked.body.req_id });
  assertEquals(one.isBusy, false);
});

// proves: question-wait
Deno.test("a program without questions waits for the owner where another one has opened the channel", async () => {
  const echo = { name: "echo", inputSchema: { type: "object" } };
  const decision = Promise.withResolvers<boolean>();
  await using office = await ComputerOffice.open(
    { servers: { s: scripted({ tools: [echo] }, { default_tool_meta: null }) } },
    { confirm: ({ claimedAgent }) => claimedAgent === "asking" || decision.promise },
  );
  await office.agent.leave();
  const { signal } = new AbortController();
  const context = { signal, timeoutMs: TIMEOUT_MS };
  const connections: SharedConnection[] = [];
  const connection = await openConnection({ url: office.server.url }, {
    ...context,
    onEvent: (incoming) => connections[0]?.onEvent(incoming),
  });
  const shared = new SharedConnection(connection);
  connections.push(shared);
  const connect = (name: string) =>
    Agent.connectBy(
      { url: office.server.url, office: "lab", name },
      {
        open: (_options, { onEvent }) => Promise.resolve(ownConnection(shared, shared.share(onEvent))),
        isShared: true,
      },
    );
  await using asking = await connect("asking");
  const onQuestion = () => ({ action: "cancel" } as const);
  assertEquals((await asking.computer("laptop").callTool("echo", {}, { onQuestion })).isError, false);
  const silent = await connect("silent");
  const onWait = () => decision.resolve(true);
  assertEquals((await silent.computer("laptop").callTool("echo", {}, { onWait })).isError, false);
  await silent.close();
});

const SILENT = request("tool_call", { tool_name: "silent", params: {}, timeout: 60 });

/** A seat that is shared by a socket in the folder, with one program that has joined. */
async function openSeat({ shared }: Scene, folder: TempFolder) {
  const path = `${folder.path}/seat.sock`;
  const holder = await SeatHolder.open(path, silentLogger);
  holder.serve(shared, "0.2");
  const { signal } = new AbortController();
  const context = { signal, timeoutMs: TIMEOUT_MS, onEvent() {} };
  const connect = async () => GuestConnection.open(await Deno.connect({ transport: "unix", path }), context);
  const { connection } = await connect();
  await connection.request("server:join_office", join("bea").body, TIMEOUT_MS);
  return { holder, connect, connection };
}

Deno.test({
  name: "a request of a guest that nobody answers ends after its time",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using scene = await open();
    using folder = new TempFolder();
    const { holder, connection } = await openSeat(scene, folder);
    const { event, body } = SILENT;
    await assertRejects(() => connection.request(event, body, 50), RequestTimeoutError);
    holder.close();
    await connection.closed;
  },
});

Deno.test({
  name: "a program that comes while the Server shuts down waits for the next connection",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using scene = await open();
    using folder = new TempFolder();
    const { holder, connect, connection } = await openSeat(scene, folder);
    const { event, body } = SILENT;
    const lost = assertRejects(() => connection.request(event, body, TIMEOUT_MS));
    const draining = scene.server.drain({ timeoutMs: 60_000 });
    await connection.dismissed;
    const late = connect();
    await eventually(() => holder.programs, (count) => count > 1, "the late program");
    await scene.shared.server.close();
    await Promise.all([lost, draining, connection.closed]);
    await using next = await open();
    holder.serve(next.shared, "0.3");
    assertEquals((await late).hello.protocol, "0.3");
    holder.close();
    await (await late).connection.closed;
  },
});
