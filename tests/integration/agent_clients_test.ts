/** An Agent that works for clients: their names on the wire, at the Computer and through the gateway. */
import { assertEquals, assertRejects } from "@std/assert";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { Agent } from "../../src/agent/agent.ts";
import type { ConfirmRequest } from "../../src/computer/tools/confirmation.ts";
import { createGateway } from "../../src/gateway/gateway_core.ts";
import { createHttpHandler } from "../../src/gateway/http/handler.ts";
import { AuthenticationError, mayHaveRun } from "../../src/link/errors.ts";
import { SmcpServer } from "../../src/server/server.ts";
import { scripted } from "../fixtures/stdio_config.ts";
import { everything } from "../fixtures/public_servers.ts";
import { within } from "../fixtures/within.ts";
import { ComputerOffice } from "./_computer_office.ts";
import { ScriptedComputer, textResult } from "./_scripted_computer.ts";

const echo = { name: "echo", inputSchema: { type: "object" } };

// proves: ext-client-name, ext-client-same, ext-client-cancel
Deno.test("all requests for a client name it, and a cancel names the Agent alone", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  using computer = await ScriptedComputer.join(server.url, {
    answers: { "client:get_tools": ({ req_id }) => ({ tools: [], req_id }) },
  });
  await using agent = await Agent.connect({ url: server.url, office: "lab", name: "hub" });
  const laptop = agent.computer("laptop", { client: "Claude" });
  await laptop.getTools();
  assertEquals(computer.lastBody("client:get_tools")["agent"], "hub/Claude");
  await agent.computer("laptop").getTools();
  assertEquals(computer.lastBody("client:get_tools")["agent"], "hub");

  const abort = new AbortController();
  const arrived = computer.next("client:tool_call");
  const call = laptop.callTool("echo", {}, { signal: abort.signal });
  assertEquals((await arrived)["agent"], "hub/Claude");
  const cancelled = computer.next("notify:tool_call_cancel");
  abort.abort();
  const reasons = [await assertRejects(() => call, DOMException), new Error("enough"), "enough"];
  assertEquals(reasons.map(mayHaveRun), [true, true, true]);
  const unsent = [new RangeError("no such time"), new AuthenticationError("not any more")];
  assertEquals(unsent.map(mayHaveRun), [false, false]);
  assertEquals((await cancelled)["agent"], "hub");
});

// proves: ext-client-same
Deno.test("the user of a client answers the question of its call", async () => {
  await using office = await ComputerOffice.open({ servers: { s: everything() } });
  const laptop = office.agent.computer("laptop", { client: "Claude" });
  const result = await laptop.callTool("trigger-elicitation-request", {}, {
    onQuestion: () => ({ action: "accept", content: { name: "Ada", check: true } }),
  });
  assertEquals(result.content.some(({ text }) => text?.includes("Name: Ada") === true), true);
});

// proves: ext-client-claim
Deno.test("who confirms learns the Agent from the Server and the client as a claim; the history has both", async () => {
  const asked: ConfirmRequest[] = [];
  await using office = await ComputerOffice.open(
    { servers: { s: scripted({ tools: [echo] }, { default_tool_meta: null }) } },
    { confirm: (request) => (asked.push(request), true) },
  );
  await office.agent.computer("laptop", { client: "Claude" }).callTool("echo");
  await office.laptop.callTool("echo");
  assertEquals(asked.map(({ agent, client, claimedAgent }) => [agent, client, claimedAgent]), [
    ["ada", "Claude", "ada/Claude"],
    ["ada", undefined, "ada"],
  ]);
  assertEquals(office.computer.history.map(({ agent, client }) => [agent, client]), [
    ["ada", "Claude"],
    ["ada", undefined],
  ]);
});

Deno.test("the gateway names the MCP client in calls and reads, of either way to call", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const tool = {
    name: "echo",
    description: "",
    params_schema: { type: "object" },
    return_schema: null,
    meta: {},
  };
  using computer = await ScriptedComputer.join(server.url, {
    answers: {
      "client:get_tools": ({ req_id }) => ({ tools: [tool], req_id }),
      "client:tool_call": () => textResult("hi"),
      "client:get_desktop": ({ req_id }) => ({ desktops: [], req_id }),
      "client:get_windows": ({ req_id }) => ({ windows: [], req_id }),
    },
  });
  await using agent = await Agent.connect({ url: server.url, office: "lab", name: "hub" });
  await using gateway = createGateway(agent);
  await using client = await connectInMemory(gateway);
  await within(client.callTool({ name: "echo" }), "the call");
  assertEquals(computer.lastBody("client:tool_call")["agent"], "hub/Claude");
  await client.callTool({ name: "call_tool", arguments: { name: "echo" } });
  assertEquals(computer.lastBody("client:tool_call")["agent"], "hub/Claude");
  await client.callTool({ name: "view_desktop", arguments: {} });
  assertEquals(computer.lastBody("client:get_windows")["agent"], "hub/Claude");
});

/** A client of the official SDK 1.x that calls itself Claude, on the gateway's `fetch`. */
async function connectInMemory(gateway: ReturnType<typeof createGateway>): Promise<Client & AsyncDisposable> {
  const { StreamableHTTPClientTransport } = await import(
    "@modelcontextprotocol/sdk/client/streamableHttp.js"
  );
  const handler = createHttpHandler(gateway);
  const client = new Client({ name: "Claude", version: "1" });
  const url = new URL("http://127.0.0.1/mcp");
  const fetch = (input: string | URL, init?: RequestInit) => handler.fetch(new Request(input, init));
  await client.connect(new StreamableHTTPClientTransport(url, { fetch }));
  return Object.assign(client, {
    async [Symbol.asyncDispose]() {
      await client.close();
      await handler.close();
    },
  });
}
