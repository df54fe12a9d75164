/** What becomes of a call while a connection is lost: its Agent comes back, and asks for the result under the same id. */
import { assertEquals, assertRejects } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { Agent } from "../../src/agent/agent.ts";
import type { CallToolOptions } from "../../src/agent/remote_options.ts";
import { Computer } from "../../src/computer/computer.ts";
import { ConnectionClosedError } from "../../src/link/errors.ts";
import { SmcpError } from "../../src/protocol/errors.ts";
import { withConstants } from "../../src/server/options/constants.ts";
import { SmcpServer } from "../../src/server/server.ts";
import { TcpProxy } from "../fixtures/tcp_proxy.ts";
import { eventually, within } from "../fixtures/within.ts";

const file = fromFileUrl(new URL("../fixtures/progress_server.ts", import.meta.url));
const args = ["run", "-A", "--no-check", "--no-lock", "--quiet", file];
const server_parameters = { command: Deno.execPath(), args };
const work = { type: "stdio", default_tool_meta: { auto_apply: true }, server_parameters };

/** An Agent and a Computer, each on a wire of its own, and a call "r1" that runs until the tool "finish" is called. */
async function openOffice(options: Parameters<typeof SmcpServer.listen>[0] = {}) {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await SmcpServer.listen({ port: 0, ...options }));
  const [near, far] = [stack.use(new TcpProxy(server.port)), stack.use(new TcpProxy(server.port))];
  const computer = stack.use(Computer.open({ name: "laptop", config: { servers: { work } } }));
  await computer.join({ url: far.url, office: "lab" });
  const agent = stack.use(await Agent.connect({ url: near.url, office: "lab", name: "ada" }));
  await computer.ready();
  const laptop = agent.computer("laptop", { client: "cli" });
  const call = (options: CallToolOptions = {}) =>
    laptop.callTool("work", { waits: true }, { reqId: "r1", timeoutMs: 600_000, ...options });
  const lost = assertRejects(() => call(), ConnectionClosedError);
  await eventually(() => computer.calls.running.length, (count) => count > 0, "the call");
  const outcomes = () => computer.history.filter(({ reqId }) => reqId === "r1").map(({ outcome }) => outcome);
  const owned = stack.move();
  const close = () => owned.disposeAsync();
  return { server, near, far, computer, agent, laptop, call, lost, outcomes, [Symbol.asyncDispose]: close };
}

// proves: data-req-id-dedupe
Deno.test("an Agent that lost its connection gets the result of the running call under its id", async () => {
  await using office = await openOffice();
  office.near.cut();
  await within(office.lost, "the loss");
  const again = office.call();
  await office.laptop.callTool("finish");
  const { isError } = await within(again, "the result");
  assertEquals([isError, office.outcomes()], [false, ["ok"]]);
});

Deno.test("a call of an idempotent tool goes on by itself when the connection is back", async () => {
  await using office = await openOffice();
  const retry = { patienceMs: 600_000, isIdempotent: true };
  const result = office.call({ retry });
  office.near.cut();
  await within(office.lost, "the loss");
  const finish = { retry: { patienceMs: 600_000 } };
  await within(office.laptop.callTool("finish", {}, finish), "the end");
  assertEquals([(await within(result, "the result")).isError, office.outcomes()], [false, ["ok"]]);
});

Deno.test("a call waits for a Computer that comes late, where it is to be made again", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
  const retry = { patienceMs: 600_000 };
  const result = agent.computer("laptop").callTool("work", {}, { retry });
  await assertRejects(() => agent.computer("laptop").callTool("work"), SmcpError, "laptop");
  await using computer = Computer.open({ name: "laptop", config: { servers: { work } } });
  await computer.join({ url: server.url, office: "lab" });
  assertEquals([(await within(result, "the result")).isError, computer.history.length], [false, 1]);
});

Deno.test("an Agent and a Computer that come back to another Server go on with the running call", async () => {
  await using office = await openOffice();
  const { near, far, computer } = office;
  for (const wire of [near, far]) wire.interrupt();
  await within(office.lost, "the loss");
  await using server = await SmcpServer.listen({ port: 0 });
  far.restore(server.port);
  await eventually(() => computer.connection?.isConnected, Boolean, "the return of the Computer");
  // The Computer has looked who is there when this is answered.
  await using observer = await Agent.connect({ url: server.url, office: "lab", name: "eve", observer: true });
  await observer.computer("laptop").getTools();
  near.restore(server.port);
  const again = office.call();
  await office.laptop.callTool("finish");
  const { isError } = await within(again, "the result");
  assertEquals([isError, office.outcomes()], [false, ["ok"]]);
});

Deno.test("of the calls of an Agent and a Computer that come back to the same Server, those asked for again go on", async () => {
  await using office = await openOffice();
  const { near, far, computer, laptop } = office;
  const call = () => laptop.callTool("work", { waits: true }, { reqId: "r2", timeoutMs: 600_000 });
  const lost = assertRejects(call, ConnectionClosedError);
  await eventually(() => computer.calls.running.length, (count) => count > 1, "the second call");
  for (const wire of [near, far]) wire.interrupt();
  await within(Promise.all([office.lost, lost]), "the loss");
  await eventually(() => computer.connection?.isConnected !== true, Boolean, "the loss of the Computer");
  for (const wire of [far, near]) wire.restore();
  await eventually(() => computer.connection?.isConnected, Boolean, "the return of the Computer");
  const again = call();
  await eventually(office.outcomes, ({ length }) => length > 0, "the end of the first call");
  assertEquals(office.outcomes(), ["cancelled"]);
  await laptop.callTool("finish");
  assertEquals((await within(again, "the result")).isError, false);
});

Deno.test("a call of an Agent that does not come back in time is cancelled", async () => {
  await using office = await openOffice(withConstants({ returnMs: 50 }));
  office.near.interrupt();
  await within(office.lost, "the loss");
  await eventually(office.outcomes, ({ length }) => length > 0, "the end of the call");
  const ended = office.computer.history.map(({ agent, client, outcome }) => [agent, client, outcome]);
  assertEquals(ended, [["ada", "cli", "cancelled"]]);
});
