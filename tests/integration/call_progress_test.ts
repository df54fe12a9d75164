/** Progress of tool calls, from MCP servers as processes over our Server to an Agent. */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { Agent } from "../../src/agent/agent.ts";
import type { CallProgress } from "../../src/protocol/progress.ts";
import { SmcpError } from "../../src/protocol/errors.ts";
import { SmcpServer } from "../../src/server/server.ts";
import { EVERYTHING } from "../../examples/everything_servers.ts";
import { kioskOnStdio } from "../fixtures/kiosk_config.ts";
import { KioskHttp } from "../fixtures/kiosk_http.ts";
import { LogBook } from "../fixtures/log_book.ts";
import type { Work } from "../fixtures/progress_server.ts";
import { eventually, within } from "../fixtures/within.ts";
import { ComputerOffice } from "./_computer_office.ts";
import { NOTHING, ScriptedComputer, textResult } from "./_scripted_computer.ts";

const SERVER = fromFileUrl(new URL("../fixtures/progress_server.ts", import.meta.url));

function openOffice(file: string = SERVER, env: Record<string, string> = {}): Promise<ComputerOffice> {
  const server_parameters = {
    command: Deno.execPath(),
    env,
    args: ["run", "-A", "--no-check", "--no-lock", "--quiet", file],
  };
  const work = { type: "stdio", default_tool_meta: { auto_apply: true }, server_parameters };
  return ComputerOffice.open({ servers: { work } });
}

/** Collects what a call reports, and lets a test wait for a report. */
class Reports {
  readonly all: CallProgress[] = [];
  readonly add = (progress: CallProgress): void => void this.all.push(progress);

  until(isWanted: (progress: CallProgress) => boolean): Promise<unknown> {
    return eventually(() => this.all.some(isWanted), (has) => has, "a report of progress");
  }
}

const FIRST = { progress: 1, total: 4, message: "reading" };

// proves: ext-progress-follow, ext-progress-texts, ext-progress-token, ext-progress-late
Deno.test("an Agent hears numbers and texts of the calls it follows, and nothing after the result", async () => {
  await using office = await openOffice();
  const { laptop, agent } = office;
  const reports = new Reports();
  const heard: unknown[] = [];
  using _ = agent.on("updateProgress", (update) => void heard.push(update));
  const work: Work = { reports: [FIRST], waits: true };
  const call = laptop.callTool("work", { ...work }, { reqId: "c1", onProgress: reports.add });
  await reports.until(({ message }) => message === "reading");
  const next: Work = { reports: [{ progress: 3, total: 4 }] };
  await laptop.callTool("report", { ...next });
  await reports.until(({ progress }) => progress === 3);
  await laptop.callTool("finish");
  assertStringIncludes(JSON.stringify((await call).content), "token number");
  await laptop.callTool("report");
  assertEquals(reports.all, [FIRST, { progress: 3, total: 4 }]);
  const about = { type: "updateProgress", computer: "laptop", reqId: "c1" };
  assertEquals(heard, [
    { ...about, progress: 1, total: 4, hasMessage: true },
    { ...about, progress: 3, total: 4, hasMessage: false },
  ]);
});

// proves: ext-progress-opt-in
Deno.test("nobody is told of the progress of calls that are not followed", async () => {
  await using office = await openOffice();
  const observer = await Agent.connect({
    url: office.server.url,
    office: "lab",
    name: "eve",
    observer: true,
  });
  await using _ = observer;
  const heard: string[] = [];
  using _news = observer.on("updateProgress", ({ reqId }) => void heard.push(reqId));
  await office.laptop.callTool("work", { reports: [FIRST] }, { reqId: "quiet" });
  const told = new Promise<void>((resolve) => observer.on("updateProgress", () => resolve()));
  await office.laptop.callTool("work", { reports: [FIRST] }, { reqId: "loud", onProgress: () => {} });
  await within(told, "the progress of a followed call");
  assertEquals(heard, ["loud"]);
  const refused = await assertRejects(
    () => observer.request("client:follow_call", { computer: "laptop", call: "loud" }),
    SmcpError,
  );
  assertEquals(refused.code, 403);
});

// proves: ext-progress-rate
Deno.test("a server that floods progress is told of at most twice a second, with its last value", async () => {
  await using office = await openOffice();
  const { laptop, agent } = office;
  const reports = new Reports();
  let updates = 0;
  using _ = agent.on("updateProgress", () => void updates++);
  const startMs = performance.now();
  const flood: Work = { reports: [{ progress: 0, message: "x".repeat(5_000) }], times: 5_000, waits: true };
  const call = laptop.callTool("work", { ...flood }, { timeoutMs: 120_000, onProgress: reports.add });
  await reports.until(({ progress }) => progress === 5_000);
  const seconds = (performance.now() - startMs) / 1_000;
  assert(updates <= 2 + 2 * seconds, `${updates} updates in ${seconds} s`);
  assertEquals(reports.all.at(-1)?.message, `${"x".repeat(1_000)}…`);
  await laptop.callTool("finish");
  await call;
});

// proves: ext-progress-shape
Deno.test("progress of a wrong shape is dropped with one warning, and a value that does not grow stays", async () => {
  await using office = await openOffice();
  const { laptop, log } = office;
  const reports = new Reports();
  const work: Work = { reports: [{ progress: "half" }], waits: true };
  const call = laptop.callTool("work", { ...work }, { onProgress: reports.add });
  const wrong = () => log.lines.filter(({ message }) => message.includes("wrong shape")).length;
  await eventually(wrong, (count) => count === 1, "the warning");
  for (
    const report of [
      { progress: 5, total: 0 },
      { progress: 2, message: "second part" },
      { progress: 2, message: "second part" },
      { total: 7 },
      { progress: 6, total: "ten" },
      { progress: 7 },
    ]
  ) {
    await laptop.callTool("report", { reports: [report] });
    const { progress, message } = report;
    if (message !== undefined) await reports.until((each) => each.message === message);
    else if (progress === 5 || progress === 7) await reports.until((each) => each.progress === progress);
  }
  await laptop.callTool("finish");
  await call;
  assertEquals(reports.all, [{ progress: 5 }, { progress: 5, message: "second part" }, { progress: 7 }]);
  assertEquals(wrong(), 1);
});

// proves: ext-progress-idle
Deno.test("a call whose progress restarts its time-out ends when it makes none", async () => {
  await using office = await openOffice();
  const work: Work = { reports: [FIRST], waits: true };
  const { isError, meta, content } = await office.laptop.callTool("work", { ...work }, {
    timeoutMs: 1_000,
    resetTimeoutOnProgress: true,
  });
  assertEquals([isError, meta?.a2c_timeout, meta?.error_code], [true, true, 4004]);
  assertStringIncludes(content[0]?.text ?? "", "no progress in 1 s");
});

// proves: ext-progress-idle
Deno.test("the Agent sends the time in all with the call, and the idle time before it", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  using computer = await ScriptedComputer.join(server.url, {
    answers: {
      "client:follow_call": ({ req_id }) => ({ req_id }),
      "client:tool_call": () => textResult("done"),
    },
  });
  await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
  const laptop = agent.computer("laptop");
  const sent = () => [
    computer.lastBody("client:follow_call")["idle_timeout"],
    computer.lastBody("client:tool_call")["timeout"],
  ];
  await laptop.callTool("any", {}, { timeoutMs: 1_500, resetTimeoutOnProgress: true });
  assertEquals(sent(), [2, 3_600]);
  await laptop.callTool("any", {}, { timeoutMs: 9_000, resetTimeoutOnProgress: true, maxTimeoutMs: 5_000 });
  assertEquals(sent(), [9, 9]);
  const before = computer.requests.length;
  await assertRejects(
    () => laptop.callTool("any", {}, { timeoutMs: 0, resetTimeoutOnProgress: true }),
    RangeError,
  );
  assertEquals(computer.requests.length, before);
});

// proves: ext-progress-texts
Deno.test("known secrets are masked in the text of a progress, unless the call says them itself", async () => {
  await using office = await openOffice(SERVER, { SECRET: "hunter2-hunter2" });
  const reports = new Reports();
  // One is cut in the middle of the secret.
  const cut = `${"x".repeat(995)}hunter2-hunter2`;
  const own: Work = { reports: [{ progress: 1, message: "as hunter2-hunter2" }], waits: true };
  const saying = office.laptop.callTool("work", { ...own }, { onProgress: reports.add });
  await reports.until(({ message }) => message === "as hunter2-hunter2");
  await office.laptop.callTool("finish");
  await saying;
  const work: Work = { reports: [{ progress: 1, message: "begun" }], waits: true };
  const call = office.laptop.callTool("work", { ...work }, { onProgress: reports.add });
  await reports.until(({ message }) => message === "begun");
  await office.laptop.callTool("report", { reports: [{ progress: 2, message: cut }] });
  await reports.until(({ message }) => message === `${"x".repeat(995)}***`);
  await office.laptop.callTool("finish");
  await call;
});

// proves: ext-progress-unknown
Deno.test("a Computer that does not know progress runs the call as it is, with its own time-out", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const refusal = { code: 400, message: "no", details: { field: "event" } };
  for (const answer of [refusal, NOTHING]) {
    using computer = await ScriptedComputer.join(server.url, {
      answers: { "client:follow_call": () => answer, "client:tool_call": () => textResult("done") },
    });
    const log = new LogBook();
    await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada", logger: log });
    const options = { timeoutMs: 2_000, resetTimeoutOnProgress: true, onProgress: () => {} };
    const { content } = await agent.computer("laptop").callTool("any", {}, options);
    assertEquals(content[0]?.text, "done");
    assertEquals(computer.lastBody("client:tool_call")["timeout"], 2);
    // A Computer that does not know it is not asked again before it comes anew.
    await agent.computer("laptop").callTool("any", {}, options);
    const asked = () => computer.requests.filter(({ event }) => event === "client:follow_call").length;
    assertEquals(asked(), 1);
    const joined = new Promise<void>((resolve) => agent.on("enterOffice", () => resolve()));
    computer.close();
    using again = await ScriptedComputer.join(server.url, { answers: computer.answers });
    await within(joined, "the Computer to come again");
    await agent.computer("laptop").callTool("any", {}, options);
    assertEquals(again.requests[0]?.event, "client:follow_call");
    assertEquals(log.lines.filter(({ message }) => message.includes("does not confirm it")).length, 2);
  }
});

// proves: ext-progress-follow, ext-progress-last
Deno.test("a server on version 2 of the SDK reports progress in both eras, over stdio and over HTTP", async () => {
  await using http = new KioskHttp();
  await using office = await ComputerOffice.open({
    servers: {
      stdio: kioskOnStdio(),
      stdio2026: kioskOnStdio({ mcp_version: "2026" }),
      http: { ...http.config(), mcp_version: "2025" },
      http2026: { ...http.config(), mcp_version: "2026" },
    },
  });
  for (const prefix of ["", "stdio2026__", "http__", "http2026__"]) {
    const reports = new Reports();
    const call = office.laptop.callTool(`${prefix}wait`, {}, { onProgress: reports.add });
    await reports.until(({ message }) => message === "step 1");
    await office.laptop.callTool(`${prefix}release`);
    assertEquals((await call).content[0]?.text, "released");
    assertEquals(reports.all, [{ progress: 1, total: 2, message: "step 1" }]);
    const last = new Reports();
    await office.laptop.callTool(`${prefix}brew`, { steps: 1 }, { onProgress: last.add });
    // The result may come before the text.
    assertEquals(last.all.map(({ progress, total }) => [progress, total]), [[1, 1]], prefix);
  }
});

// proves: ext-progress-follow
Deno.test("the public server's long operation reports each step", async () => {
  await using office = await openOffice(EVERYTHING);
  const reports = new Reports();
  const args = { duration: 2, steps: 4 };
  const { isError } = await office.laptop.callTool("trigger-long-running-operation", args, {
    onProgress: reports.add,
  });
  assertEquals(isError, false);
  assert(reports.all.length > 0);
  assert(reports.all.every(({ progress, total }) => progress >= 1 && progress <= 4 && total === 4));
});
