/** Attacker: an Agent. It starts more on a Computer than that can bear, and leaves what it started behind */
import { setImmediate } from "node:timers";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Agent } from "../../src/agent/agent.ts";
import type { ConfirmRequest } from "../../src/computer/tools/confirmation.ts";
import type { CallToolResult } from "../../src/protocol/tools.ts";
import { endedCalls } from "../fixtures/ended_calls.ts";
import { scripted } from "../fixtures/stdio_config.ts";
import { eventually, within } from "../fixtures/within.ts";
import { ComputerOffice } from "../integration/_computer_office.ts";
import { RawPeer } from "../integration/_socket.ts";

const echo = { name: "echo", inputSchema: { type: "object" } };
const hang = { tools: [echo], hang: ["tools/call echo"] };
const unasked = { received: { auto_apply: true }, become: { auto_apply: true } };

function hanging() {
  return { servers: { s: scripted(hang) } };
}

/** How often the tool was called at its MCP server, and how often such a call was cancelled there. */
async function counts(office: ComputerOffice): Promise<[calls: number, cancelled: number]> {
  const result = await office.computer.callTool("received", {}, { isConfirmed: true });
  const all: { method: string; params?: { name?: string } }[] = JSON.parse(result.content[0]?.text ?? "[]");
  const calls = all.filter(({ method, params }) => method === "tools/call" && params?.name === "echo");
  return [calls.length, all.filter(({ method }) => method === "notifications/cancelled").length];
}

/** A confirm callback that never answers by itself, and what it was asked. */
function asking() {
  const asked: ConfirmRequest[] = [];
  const waiting: (() => void)[] = [];
  const answers: ((isConfirmed: boolean) => void)[] = [];
  return {
    asked,
    answers,
    confirm: (request: ConfirmRequest) => {
      asked.push(request);
      for (const resolve of waiting.splice(0)) resolve();
      return new Promise<boolean>((resolve) => answers.push(resolve));
    },
    /** Resolves when so many were asked. */
    async count(least: number): Promise<void> {
      while (asked.length < least) {
        await within(new Promise<void>((resolve) => waiting.push(resolve)), `${least} questions`);
      }
    },
  };
}

Deno.test("calls beyond the bound are answered at once unless they are repeated, and one that ends makes room", async () => {
  await using office = await ComputerOffice.open(hanging(), { limits: { maxCalls: 8 } });
  const again = () => office.laptop.callTool("received", {}, { reqId: "done" });
  const first = await again();
  const controller = new AbortController();
  const running = Array.from(
    { length: 8 },
    (_, i) =>
      office.laptop.callTool("echo", { i }, { reqId: `r${i}`, timeoutMs: 600_000, signal: controller.signal })
        .catch(() => undefined),
  );
  const refused = await within(
    Promise.all(
      Array.from({ length: 200 }, () => office.laptop.callTool("echo", {}, { timeoutMs: 600_000 })),
    ),
    "the refusals",
  );
  for (const { isError, meta, content } of refused) {
    assertEquals([isError, meta?.error_code], [true, 4003]);
    assertStringIncludes(content[0]?.text ?? "", "8 calls");
  }
  assertEquals(await again(), first);
  const repeated = office.laptop.callTool("echo", { i: 0 }, { reqId: "r0", timeoutMs: 600_000 });
  assertEquals(await counts(office), [8, 0]);
  controller.abort();
  await Promise.all(running);
  let cancelled = 0;
  const isLast = (outcome: unknown) => outcome === "cancelled" && ++cancelled === 8;
  await within(office.log.until(({ fields }) => isLast(fields["outcome"])), "the last cancelled call");
  assertEquals((await within(repeated, "the repeated call")).meta?.a2c_cancelled, true);
  assertEquals((await office.laptop.callTool("received")).isError, false);
});

Deno.test("calls that ask for no answer count as well", async () => {
  await using office = await ComputerOffice.open(hanging(), { limits: { maxCalls: 8 } });
  await office.agent.close();
  await using eve = await RawPeer.join(office.server.url, { role: "agent", name: "eve", office_id: "lab" });
  const body = { agent: "eve", computer: "laptop", tool_name: "echo", params: {}, timeout: 600 };
  for (let i = 0; i < 500; i++) eve.socket.emit("client:tool_call", { ...body, req_id: `r${i}` });
  // Events keep their order on a connection
  await eve.request("client:get_tools", { agent: "eve", computer: "laptop", req_id: "last" });
  assertEquals((await counts(office))[0], 8);
});

Deno.test("questions beyond the bound are not asked, and the call is refused", async () => {
  const person = asking();
  const config = {
    servers: { s: scripted({ tools: [echo] }, { default_tool_meta: {}, tool_meta: unasked }) },
  };
  await using office = await ComputerOffice.open(config, {
    confirm: person.confirm,
    limits: { maxConfirmations: 4 },
  });
  const waiting = Array.from({ length: 4 }, () => office.laptop.callTool("echo", {}, { timeoutMs: 600_000 }));
  await person.count(4);
  const refused = await Promise.all(Array.from({ length: 50 }, () => office.laptop.callTool("echo")));
  for (const { meta, content } of refused) {
    assertEquals(meta?.error_code, 4005);
    assertStringIncludes(content[0]?.text ?? "", "too many other calls wait");
  }
  for (const answer of person.answers) answer(true);
  for (const { isError } of await Promise.all(waiting)) assertEquals(isError, false);
  assertEquals(person.asked.length, 4);
});

Deno.test("calls beyond the bound that a rule confirms at once all run", async () => {
  const config = {
    servers: { s: scripted({ tools: [echo] }, { default_tool_meta: {}, tool_meta: unasked }) },
  };
  await using office = await ComputerOffice.open(config, {
    confirm: () => new Promise((resolve) => setImmediate(() => resolve(true))),
    limits: { maxConfirmations: 4 },
  });
  const calls = await Promise.all(Array.from({ length: 12 }, () => office.laptop.callTool("echo")));
  assertEquals(calls.map(({ isError }) => isError), Array(12).fill(false));
});

Deno.test("when the Agent leaves, its calls are cancelled at their MCP server and its questions withdrawn", async () => {
  const person = asking();
  await using office = await openAsking(person);
  const { gone } = await leavingCalls(office.agent);
  await person.count(1);
  await office.agent.close();
  await gone;
  const { signal } = person.asked[0] ?? {};
  const cancelled = (tool: string) =>
    office.log.until(({ fields }) => fields["tool"] === tool && fields["outcome"] === "cancelled");
  await within(Promise.all([cancelled("ask"), cancelled("echo")]), "both cancelled calls");
  assertEquals(signal?.aborted, true);
  for (const answer of person.answers) answer(true);
  assertEquals(
    endedCalls(office.computer).slice(-2).map((
      { tool, outcome },
    ) => [tool, outcome]).sort(),
    [
      ["ask", "cancelled"],
      ["echo", "cancelled"],
    ],
  );
  assertEquals(await counts(office), [1, 1]);
});

Deno.test("when the Computer leaves the office, nothing that was asked there runs on", async () => {
  const person = asking();
  await using office = await openAsking(person);
  const { gone } = await leavingCalls(office.agent);
  await person.count(1);
  await office.computer.leave();
  await gone;
  assertEquals(person.asked[0]?.signal.aborted, true);
  assertEquals(await counts(office), [1, 1]);
});

Deno.test("what was asked on a lost connection stays, and runs for nobody when it is allowed then", async () => {
  const person = asking();
  await using office = await openAsking(person);
  const { gone } = await leavingCalls(office.agent);
  await person.count(1);
  office.cut();
  await gone;
  await within(office.log.until(({ message }) => message === "reconnected"), "the connection");
  assertEquals(person.asked[0]?.signal.aborted, false);
  for (const answer of person.answers) answer(true);
  const waiting = () => office.computer.calls.running.map(({ name, awaits }) => [name, awaits]);
  await eventually(waiting, (calls) => calls.some(([, awaits]) => awaits === "caller"), "what was allowed");
  assertEquals(waiting(), [["echo", undefined], ["ask", "caller"]]);
  assertEquals(await counts(office), [1, 0]);
});

Deno.test("requests of every kind are bounded", async () => {
  const window = { uri: "window://host/a", name: "a" };
  const slow = { resources: [window], hang: ["resources/read"] };
  await using office = await ComputerOffice.open({ servers: { s: scripted(slow) } }, {
    limits: { maxRequests: 16 },
  });
  const ended = new AbortController();
  let refused = 0;
  const read = () =>
    office.laptop.readResource(window.uri, { timeoutMs: 600_000, signal: ended.signal }).catch((error) => {
      if (error.code === 500 && ++refused === 84) ended.abort();
    });
  await within(Promise.all(Array.from({ length: 100 }, read)), () => `84 refusals, of which ${refused} came`);
  assertEquals(refused, 84);
});

/** A Computer with a tool that never answers and one that needs a confirmation. */
function openAsking({ confirm }: Pick<ReturnType<typeof asking>, "confirm">): Promise<ComputerOffice> {
  const asks = scripted({ tools: [{ ...echo, name: "ask" }] }, { default_tool_meta: {} });
  return ComputerOffice.open({ servers: { s: scripted(hang), asks } }, { confirm });
}

/** Has the Agent call a tool that never answers and one that needs a confirmation; resolves once the first runs. */
async function leavingCalls(agent: Agent): Promise<{ readonly gone: Promise<unknown> }> {
  const laptop = agent.computer("laptop");
  const calls: Promise<CallToolResult | undefined>[] = ["echo", "ask"].map((tool) =>
    laptop.callTool(tool, {}, { timeoutMs: 600_000 }).catch(() => undefined)
  );
  // The call is at its MCP server before an answer to a later one comes from there
  const { content } = await laptop.callTool("received");
  assert((content[0]?.text ?? "").includes('"echo"'));
  return { gone: Promise.all(calls) };
}
