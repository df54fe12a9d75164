/** Calls about which the owner of the Computer has to be asked (`client:ask_tool_call`). */
import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import type { ConfirmRequest } from "../../src/computer/tools/confirmation.ts";
import { UnsupportedRequestError } from "../../src/protocol/errors.ts";
import { SmcpServer } from "../../src/server/server.ts";
import { scripted } from "../fixtures/stdio_config.ts";
import { ComputerOffice } from "./_computer_office.ts";
import { NOTHING, ScriptedComputer, textResult } from "./_scripted_computer.ts";

const echo = { name: "echo", inputSchema: { type: "object" } };

// proves: ext-ask-call
Deno.test("the owner is asked before an asked call, although its tool runs unasked otherwise", async () => {
  const asked: ConfirmRequest[] = [];
  await using office = await ComputerOffice.open(
    { servers: { s: scripted({ tools: [echo] }) } },
    { confirm: (request) => (asked.push(request), asked.length === 1) },
  );
  const runs = async () =>
    (await office.received()).filter(({ method, params }) =>
      method === "tools/call" && params?.["name"] === "echo"
    ).length;
  assertEquals((await office.laptop.callTool("echo")).isError, false);
  assertEquals(asked.length, 0, "auto_apply");
  assertEquals((await office.laptop.callTool("echo", {}, { ask: true })).isError, false);
  assertEquals(asked.map(({ tool, mustAsk }) => [tool, mustAsk]), [["echo", true]]);
  const declined = await office.laptop.callTool("echo", {}, { ask: true });
  assertEquals([declined.isError, declined.meta?.error_code], [true, 4005]);
  assertEquals(await runs(), 2);
});

// proves: ext-ask-call
Deno.test("the owner is asked although the Agent's user may confirm other calls", async () => {
  const asked: ConfirmRequest[] = [];
  await using office = await ComputerOffice.open(
    { servers: { s: scripted({ tools: [echo] }, { default_tool_meta: null, approval: "agent" }) } },
    { confirm: (request) => (asked.push(request), true) },
  );
  const questions: string[] = [];
  const onQuestion = ({ mode }: { readonly mode: string }) => {
    questions.push(mode);
    return { action: "accept" } as const;
  };
  await office.laptop.callTool("echo", {}, { onQuestion });
  assertEquals([questions, asked.length], [["approval"], 0]);
  await office.laptop.callTool("echo", {}, { onQuestion, ask: true });
  assertEquals([questions, asked.length], [["approval"], 1]);
});

// proves: ext-ask-nobody
Deno.test("where nobody can be asked, an asked call says so and does not run", async () => {
  for (const options of [{}, { confirm: () => undefined }]) {
    await using office = await ComputerOffice.open({ servers: { s: scripted({ tools: [echo] }) } }, options);
    const { isError, meta, content } = await office.laptop.callTool("echo", {}, { ask: true });
    assertEquals([isError, meta?.error_code], [true, 4005]);
    assertMatch(content[0]?.text ?? "", /the Agent demands .* cannot ask anybody/);
    const calls = (await office.received()).filter(({ params }) => params?.["name"] === "echo");
    assertEquals(calls, []);
  }
});

// proves: ext-ask-unknown
Deno.test("a Computer that does not know asked calls gets no other call in place of one", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  using computer = await ScriptedComputer.join(server.url, {
    answers: { "client:tool_call": () => textResult("ran"), "client:ask_tool_call": () => NOTHING },
  });
  await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
  await assertRejects(
    () => agent.computer("laptop").callTool("echo", {}, { ask: true }),
    UnsupportedRequestError,
  );
  assertEquals(computer.requests.filter(({ event }) => event === "client:tool_call"), []);
});
