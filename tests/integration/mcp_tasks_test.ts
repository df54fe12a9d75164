/** Tools that can only be called as tasks, of real MCP servers on the SDK. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { scripted } from "../fixtures/stdio_config.ts";
import { eventually } from "../fixtures/within.ts";
import { ComputerOffice } from "./_computer_office.ts";

const TASK_SERVER = fromFileUrl(new URL("../fixtures/task_server.ts", import.meta.url));

function openOffice(file: string): Promise<ComputerOffice> {
  const args = ["run", "-A", "--no-check", "--no-lock", "--quiet", file];
  const server_parameters = { command: Deno.execPath(), args };
  const lab = { type: "stdio", default_tool_meta: { auto_apply: true }, server_parameters };
  return ComputerOffice.open({ servers: { lab } });
}

async function states({ laptop }: ComputerOffice): Promise<string[]> {
  const { content } = await laptop.callTool("tasks");
  return JSON.parse(content[0]?.text ?? "[]");
}

// proves: mcp-task-poll, mcp-task-failures, mcp-task-support
Deno.test("a tool that demands a task answers what came of the task", async () => {
  await using office = await openOffice(TASK_SERVER);
  const { laptop } = office;
  const done = await laptop.callTool("work", { end: "completed" });
  assertEquals([done.isError, done.content[0]?.text], [false, "built"]);
  const failed = await laptop.callTool("work", { end: "failed" });
  assertEquals([failed.isError, failed.content[0]?.text, failed.meta?.error_code], [
    true,
    "out of paper",
    undefined,
  ]);
  for (const [end, text] of [["cancelled", "closing time"], ["lost", "not found"]]) {
    const { isError, content, meta } = await laptop.callTool("work", { end });
    assertEquals([isError, meta?.error_code], [true, 4003]);
    assertStringIncludes(content[0]?.text ?? "", text ?? "");
  }
});

// proves: mcp-task-cancel
Deno.test("a task ends with its call: after the time-out, and by a cancel", async () => {
  await using office = await openOffice(TASK_SERVER);
  const { laptop, agent } = office;
  const late = await laptop.callTool("work", { end: "never" }, { timeoutMs: 1_000 });
  assertEquals(late.meta?.a2c_timeout, true);
  await eventually(() => states(office), (all) => all[0] === "cancelled", "the end of a late task");
  const abort = new AbortController();
  const progress = Promise.withResolvers<string | undefined>();
  const call = laptop.callTool("work", { end: "never" }, {
    signal: abort.signal,
    onProgress: ({ message }) => progress.resolve(message),
  }).catch((error) => error);
  assertEquals(await progress.promise, "warming up");
  abort.abort(new TypeError("enough"));
  assertEquals((await call).message, "enough");
  await eventually(() => states(office), (all) => all[1] === "cancelled", "the end of a cancelled task");
  assert(agent.isConnected);
});

// proves: mcp-task-questions
Deno.test("a question of a task is answered before its result", async () => {
  await using office = await openOffice(TASK_SERVER);
  const { isError, content } = await office.laptop.callTool("work", { end: "ask" });
  assertEquals(isError, false);
  assertStringIncludes(content[0]?.text ?? "", "decline");
});

// proves: mcp-task-2026
Deno.test("a tool of a server of 2026-07-28 that demands a task is not called, and says why", async () => {
  const discovered = {
    resultType: "complete",
    supportedVersions: ["2026-07-28"],
    capabilities: { tools: {} },
    serverInfo: { name: "s", version: "1" },
  };
  const tool = { name: "work", inputSchema: { type: "object" }, execution: { taskSupport: "required" } };
  const script = { tools: [tool], answers: { "server/discover": discovered } };
  await using office = await ComputerOffice.open({
    servers: { s: scripted(script, { mcp_version: "2026" }) },
  });
  const { isError, meta, content } = await office.laptop.callTool("work");
  assertEquals([isError, meta?.error_code], [true, 4003]);
  assertStringIncludes(content[0]?.text ?? "", "2026-07-28");
});
