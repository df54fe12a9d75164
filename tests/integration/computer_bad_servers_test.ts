import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Computer } from "../../src/computer/computer.ts";
import { LogBook, stateOf } from "../fixtures/log_book.ts";
import { scripted, scriptedServers } from "../fixtures/stdio_config.ts";
import { ComputerOffice } from "./_computer_office.ts";
import { TOOLS_CHANGED } from "../fixtures/script.ts";
import { eventually } from "../fixtures/within.ts";

const echo = { name: "echo", inputSchema: { type: "object" } };
const windows = [{ uri: "window://good/a", name: "a" }];
const contents = { "window://good/a": "hello" };

Deno.test("an MCP server that exits at start is retried and keeps nobody from working", async () => {
  await using office = await ComputerOffice.open({
    servers: {
      bad: scripted({ exitAtStart: true, stderr: "no licence" }),
      good: scripted({ tools: [echo] }),
    },
  });
  const { fields } = await office.log.until(stateOf("bad", "retrying"));
  assertEquals(fields["error"], "Cannot use the MCP server: exit code 3");
  assertStringIncludes(String(fields["stderr"]), "no licence");
  assertEquals((await office.laptop.callTool("echo")).isError, false);
  assertEquals(office.computer.servers.get("good")?.status, "running");
});

Deno.test("an MCP server whose command does not exist is failed, and says which command and why", async () => {
  const cases = { bad: "no-such-command-here", line: "deno run server.ts", file: "./no-such-file.sh" };
  const servers = Object.fromEntries(
    Object.entries(cases).map(([name, command]) => [name, { type: "stdio", server_parameters: { command } }]),
  );
  await using computer = Computer.open({ name: "laptop", config: { servers } });
  await computer.ready();
  const states = Object.keys(cases).map((name) => computer.servers.get(name));
  assertEquals(states.map((state) => state?.status), ["failed", "failed", "failed"]);
  const [bad = "", line = "", file = ""] = states.map((state) => state?.lastError ?? "");
  assertStringIncludes(bad, 'Cannot start command "no-such-command-here": no such command on the PATH');
  assertStringIncludes(line, "no such program");
  assertStringIncludes(file, "no such file");
});

Deno.test("an MCP server that never answers initialize keeps nobody from working", async () => {
  const log = new LogBook();
  const config = scriptedServers({ mute: { hang: ["initialize"] }, good: { tools: [echo] } });
  const limits = { startTimeoutMs: 600_000 };
  await using computer = Computer.open({ name: "laptop", config, logger: log, limits });
  await log.until(stateOf("good", "running"));
  assertEquals(computer.servers.get("mute")?.status, "starting");
});

Deno.test("an MCP server that never answers initialize is retried after its time", async () => {
  const log = new LogBook();
  const config = scriptedServers({ mute: { hang: ["initialize"] } });
  const limits = { startTimeoutMs: 100 };
  await using _ = Computer.open({ name: "laptop", config, logger: log, limits });
  const { fields } = await log.until(stateOf("mute", "retrying"));
  assertEquals(fields["error"], 'Cannot complete "initialize": no answer in 100 ms');
});

Deno.test("garbage on an MCP server's stdout is ignored, and its first line is shown", async () => {
  await using office = await ComputerOffice.open(
    scriptedServers({ noisy: { garbage: "Listening…\n{}\n[1]" } }),
  );
  const result = await office.laptop.callTool("received");
  assertEquals(result.isError, false);
  const warnings = office.log.of("warn").filter(({ message }) => message.includes("stdout"));
  assertEquals(warnings.map(({ fields }) => fields["line"]), ["Listening…"]);
});

Deno.test("a call in flight when its MCP server dies is answered 4003 at once and names the server", async () => {
  await using office = await ComputerOffice.open(
    scriptedServers({ mortal: { tools: [echo], dieOn: ["tools/call echo"] }, good: {} }),
    { limits: { restartDelayMs: 600_000 } },
  );
  const retrying = office.log.next(stateOf("mortal", "retrying"));
  const result = await office.laptop.callTool("echo", {}, { timeoutMs: 600_000 });
  assertEquals(result.isError, true);
  assertEquals(result.meta, { error_code: 4003, a2c_reason: "not_running", may_have_run: true });
  assertEquals(
    result.content[0]?.text,
    'Tool "echo" failed: Cannot use MCP server "mortal": retrying (exit code 7)',
  );
  await retrying;
  const meanwhile = await office.laptop.callTool("echo", {}, { timeoutMs: 600_000 });
  assertEquals(meanwhile.meta, { error_code: 4003, a2c_reason: "not_running" });
  assertStringIncludes(meanwhile.content[0]?.text ?? "", 'MCP server "mortal": ');
});

Deno.test("nobody is asked about a call while its MCP server is down, and the same request runs after that", async () => {
  const asked: string[] = [];
  const mortal = scripted({ tools: [echo] }, { default_tool_meta: null });
  await using office = await ComputerOffice.open({ servers: { mortal } }, {
    limits: { restartDelayMs: 600_000 },
    confirm: ({ reqId }) => asked.push(reqId) > 0,
  });
  const retrying = office.log.next(stateOf("mortal", "retrying"));
  Deno.kill(office.computer.servers.get("mortal")?.pid ?? 0, "SIGKILL");
  await retrying;
  const call = () => office.laptop.callTool("echo", {}, { reqId: "r1", timeoutMs: 600_000 });
  assertEquals((await call()).meta, { error_code: 4003, a2c_reason: "not_running" });
  assertEquals(asked, []);
  const running = office.log.next(stateOf("mortal", "running"));
  office.computer.restartServer("mortal");
  await running;
  assertEquals([(await call()).isError, (await call()).isError, asked], [false, false, ["r1"]]);
});

Deno.test("an MCP server that died comes back, and its tools were listed all the while", async () => {
  await using office = await ComputerOffice.open(
    scriptedServers({ mortal: { tools: [echo], dieOn: ["tools/call echo"] } }),
  );
  const back = office.log.next(stateOf("mortal", "running"));
  await office.laptop.callTool("echo");
  assert((await office.laptop.getTools()).some(({ name }) => name === "echo"));
  await back;
  assertEquals((await office.laptop.callTool("received")).isError, false);
});

Deno.test("an MCP server that hangs on a list of tools keeps nobody from working", async () => {
  const config = scriptedServers({ hung: { hang: ["tools/list"] }, good: { tools: [echo] } });
  await using office = await ComputerOffice.open(config, { limits: { readTimeoutMs: 4_000 } });
  await office.log.until(({ message }) => message === "cannot list tools");
  assert((await office.laptop.getTools()).some(({ name }) => name === "echo"));
});

// proves: mcp-list-cursor
Deno.test("all pages of a list are read", async () => {
  const resources = Array.from({ length: 7 }, (_, i) => ({ uri: `window://pages/${i}`, name: `${i}` }));
  const texts = Object.fromEntries(resources.map(({ uri, name }) => [uri, name]));
  const tools = Array.from({ length: 5 }, (_, i) => ({ name: `tool${i}`, inputSchema: { type: "object" } }));
  await using office = await ComputerOffice.open(
    scriptedServers({ paged: { resources, tools, contents: texts, pageSize: 2 } }),
  );
  assertEquals((await office.laptop.getDesktop()).length, 7);
  const names = (await office.laptop.getTools()).map(({ name }) => name);
  assertEquals(names, ["tool0", "tool1", "tool2", "tool3", "tool4", "become", "received"]);
});

Deno.test("a list without end gives what was read in time", async () => {
  const config = scriptedServers({ endless: { tools: [echo], endless: true } });
  await using office = await ComputerOffice.open(config, { limits: { readTimeoutMs: 4_000 } });
  const names = new Set((await office.laptop.getTools()).map(({ name }) => name));
  assert(names.has("echo"));
  assert(office.log.lines.some(({ message }) => message.includes("does not end")));
});

// proves: desktop-annotations-mcp
Deno.test("a bad entry of a list costs no other entry", async () => {
  const tools = [
    { name: "echo", inputSchema: {}, outputSchema: "none", annotations: 5, _meta: null },
    { description: "no name", inputSchema: { type: "object" } },
    "not even an object",
    { name: "bare" },
  ];
  const resources = [
    { uri: "window://bad/priority", name: "p", annotations: { priority: 80, audience: ["assistant"] } },
    { uri: "window://bad/date", annotations: { lastModified: "2026-01-15" } },
    { name: "no uri" },
    null,
    { uri: "window:// bad host/x" },
    { uri: 7 },
  ];
  const texts = { "window://bad/priority": "1", "window://bad/date": "2" };
  await using office = await ComputerOffice.open(
    scriptedServers({ odd: { tools, resources, contents: texts } }),
  );
  const listed = await office.laptop.getTools();
  assertEquals(listed.map(({ name }) => name), ["echo", "bare", "become", "received"]);
  assertEquals(listed[0]?.params_schema, {});
  assertEquals(listed[1]?.params_schema, { type: "object" });
  assertEquals(await office.laptop.getDesktop(), ["window://bad/priority\n\n1", "window://bad/date\n\n2"]);
  const { resources: all } = await office.laptop.getResources("odd");
  assertEquals(all.map(({ uri }) => uri), [
    "window://bad/priority",
    "window://bad/date",
    "window:// bad host/x",
  ]);
});

Deno.test("an MCP server that tells of changes to its list each time that it is listed is listed at a bounded pace", async () => {
  const changed = { method: "notifications/resources/list_changed" };
  const config = scriptedServers({
    storm: { resources: windows, contents, tellOn: { "resources/list": [changed, changed, changed] } },
  });
  await using office = await ComputerOffice.open(config);
  const lists = async () =>
    (await office.received()).filter(({ method }) => method === "resources/list").length;
  const startMs = performance.now();
  const before = await lists();
  // One may come at once.
  await eventually(lists, (count) => count >= before + 3, "three more lists");
  assert(performance.now() - startMs >= 300, "the lists are some intervals apart");
  assertEquals(await office.laptop.getDesktop(), ["window://good/a\n\nhello"]);
});

Deno.test("an MCP server that answers no ping is started anew", async () => {
  const log = new LogBook();
  await using _ = Computer.open({
    name: "laptop",
    config: scriptedServers({ hung: { hang: ["ping"] } }),
    logger: log,
    limits: { pingIntervalMs: 50, pingTimeoutMs: 50 },
  });
  const { fields } = await log.until(stateOf("hung", "retrying"));
  assertEquals(fields["error"], "no answer to 2 pings");
  const starts = () => log.lines.filter(stateOf("hung", "running")).length;
  await eventually(starts, (count) => count >= 2, "a second start");
});

Deno.test("an MCP server that leaves calls and the pings after them unanswered is started anew", async () => {
  await using office = await ComputerOffice.open(
    scriptedServers({ hung: { tools: [echo], hang: ["ping", "tools/call echo"] } }),
    { limits: { pingTimeoutMs: 50 } },
  );
  const retrying = office.log.next(stateOf("hung", "retrying"));
  let isOver = false;
  retrying.then(() => isOver = true);
  const call = async () => {
    const { meta } = await office.laptop.callTool("echo", {}, { timeoutMs: 100 });
    assert(meta?.error_code === 4004 || meta?.error_code === 4003);
    return isOver;
  };
  await eventually(call, (isOver) => isOver, "the end of the deaf MCP server");
  assertEquals((await retrying).fields["error"], "no answer to 2 pings");
});

Deno.test("a running server whose tools cannot be listed says why in its state, until they can", async () => {
  const limits = { listRetryDelayMs: 20 };
  await using office = await ComputerOffice.open(scriptedServers({ s: { tools: [] } }), { limits });
  const answers = { "tools/list": { error: { code: -32603, message: "cloud is down" } } };
  await office.computer.callTool("become", { answers, tell: [TOOLS_CHANGED] });
  await office.log.until(({ message }) => message === "cannot list tools");
  const stateNow = () => office.computer.servers.get("s");
  const { status, problem } = stateNow() ?? {};
  assertEquals([status, problem], ["running", "cannot list tools: cloud is down"]);
  await office.computer.callTool("become", { answers: {} });
  await eventually(stateNow, (state) => state?.problem === undefined, "a list that succeeds");
});

Deno.test("a server that died logs the last lines that it wrote, and a warning is followed by the good news", async () => {
  const stderr = Array.from({ length: 20 }, (_, index) => `line ${index}`).join("\n");
  const script = { tools: [{ name: "die" }], dieOn: ["tools/call die"], stderr };
  await using office = await ComputerOffice.open(scriptedServers({ s: script }));
  const isRecovery = ({ message }: { readonly message: string }) => message.includes("again");
  const again = office.log.next(isRecovery);
  await office.computer.callTool("die");
  const { fields } = await office.log.until(stateOf("s", "retrying"));
  assertEquals(fields["stderr"], stderr.split("\n").slice(-8).join(" | "));
  await again;
  const told = office.log.of("warn").filter(isRecovery).map(({ message }) => message);
  assertEquals(told, ["MCP server is running again"]);
});
