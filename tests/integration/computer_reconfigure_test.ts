import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { endedCalls } from "../fixtures/ended_calls.ts";
import { eventually, within } from "../fixtures/within.ts";
import { Computer } from "../../src/computer/computer.ts";
import { ConfigError } from "../../src/config/problem.ts";
import { SmcpError } from "../../src/protocol/errors.ts";
import { LogBook, stateOf } from "../fixtures/log_book.ts";
import type { Script } from "../fixtures/script.ts";
import { scripted } from "../fixtures/stdio_config.ts";
import { ComputerOffice } from "./_computer_office.ts";

/** A script whose only tool of its own has this name. */
function having(tool: string, script: Script = {}): Script {
  return { tools: [{ name: tool, inputSchema: { type: "object" } }], ...script };
}

/** The names of the tools that the Agent sees, without those of every scripted server. */
async function toolNames(office: ComputerOffice): Promise<string[]> {
  const names = (await office.laptop.getTools()).map(({ name }) => name);
  return names.filter((name) => !/(become|received)$/.test(name));
}

function running(office: ComputerOffice): number {
  return office.log.lines.filter(({ message }) => /^MCP server (is )?running/.test(message)).length;
}

Deno.test("an edit starts, stops and restarts exactly the servers that it touches, and tells the Agent", async () => {
  const [kept, changed, gone] = [having("stay"), having("old"), having("leave")];
  await using office = await ComputerOffice.open({
    servers: { kept: scripted(kept), changed: scripted(changed), gone: scripted(gone) },
  });
  assertEquals(await toolNames(office), ["stay", "old", "leave"]);
  const told = Promise.all([office.next("updateConfig"), office.next("updateToolList")]);
  const change = await office.computer.reconfigure({
    servers: { kept: scripted(kept), changed: scripted(having("new")), added: scripted(having("come")) },
  });
  assertEquals(change, { added: ["added"], removed: ["gone"], adopted: [], restarted: ["changed"] });
  await told;
  await office.computer.ready();
  assertEquals(await toolNames(office), ["stay", "new", "come"]);
  assertEquals(running(office), 5, "three at the start, two since");
  assertEquals([...office.computer.servers.keys()], ["kept", "changed", "added"]);
});

Deno.test("an edit of what the Computer makes of a server's tools touches no process", async () => {
  const config = scripted(having("echo"));
  await using office = await ComputerOffice.open({ servers: { s: config } });
  const told = office.next("updateToolList");
  const change = await office.computer.reconfigure({
    servers: { s: { ...config, forbidden_tools: ["become"], tool_meta: { echo: { alias: "say" } } } },
  });
  assertEquals(change, { added: [], removed: [], adopted: ["s"], restarted: [] });
  await told;
  assertEquals((await office.laptop.getTools()).map(({ name }) => name), ["say", "received"]);
  assertEquals((await office.laptop.callTool("say", {})).isError, false);
  assertEquals((await office.laptop.callTool("become", {})).meta?.error_code, 4002);
  assertEquals(running(office), 1);
});

Deno.test("a server restarts when it may no longer ask questions, and not when another person answers them", async () => {
  const config = scripted(having("echo"));
  await using office = await ComputerOffice.open({ servers: { s: config } });
  const edit = (elicitation: string) =>
    office.computer.reconfigure({ servers: { s: { ...config, elicitation } } });
  assertEquals((await edit("agent")).adopted, ["s"]);
  assertEquals((await edit("decline")).restarted, ["s"]);
  assertEquals((await edit("computer")).restarted, ["s"]);
});

Deno.test("the same configuration again changes nothing and tells nobody", async () => {
  const config = { servers: { a: scripted(having("a")), b: scripted(having("b")) } };
  await using office = await ComputerOffice.open(config);
  let updates = 0;
  using _ = office.agent.on("updateConfig", () => void updates++);
  const change = await office.computer.reconfigure(structuredClone(config));
  assertEquals(change, { added: [], removed: [], adopted: [], restarted: [] });
  await office.become({}, "become");
  assertEquals([updates, running(office)], [0, 2]);
});

Deno.test("a broken edit changes nothing and says why", async () => {
  const config = { servers: { a: scripted(having("a")) } };
  await using office = await ComputerOffice.open(config);
  await assertRejects(
    () => office.computer.reconfigure({ servers: { a: { type: "carrier-pigeon" } } }),
    ConfigError,
  );
  assertEquals(await toolNames(office), ["a"]);
  assertEquals((await office.laptop.callTool("a", {})).isError, false);
});

Deno.test("an edit of the order alone changes who owns a contested name, and touches no process", async () => {
  const [a, b] = [scripted(having("same")), scripted(having("same"))];
  await using office = await ComputerOffice.open({ servers: { a, b } });
  assertEquals(await toolNames(office), ["same", "b__same"]);
  const told = office.next("updateToolList");
  await office.computer.reconfigure({ servers: { b, a } });
  await told;
  assertEquals(await toolNames(office), ["same", "a__same"]);
  assertEquals(running(office), 2);
});

Deno.test("windows and documents come and go with the server of an edit, and the Agent is told", async () => {
  const W = "window://host/w";
  const D = "dpe://docs/d";
  const shown = having("x", {
    resources: [{ uri: W }, { uri: D }],
    contents: {
      [W]: "hello",
      [D]: { doc_ref: "d", uri: D, file_uri: "file:///d", file_type: "md", title: "D", page_count: 1 },
    },
  });
  await using office = await ComputerOffice.open({ servers: {} });
  const come = Promise.all([office.next("updateDesktop"), office.next("updateFinder")]);
  await office.computer.reconfigure({ servers: { s: scripted(shown) } });
  await come;
  assertEquals(await office.laptop.getDesktop(), [`${W}\n\nhello`]);
  assertEquals((await office.laptop.getFinder()).totalCount, 1);
  const go = Promise.all([office.next("updateDesktop"), office.next("updateFinder")]);
  await office.computer.reconfigure({ servers: {} });
  await go;
  assertEquals(await office.laptop.getDesktop(), []);
  assertEquals((await office.laptop.getFinder()).totalCount, 0);
});

Deno.test("a call that waits for its confirmation while its server is removed fails at once when it is confirmed", async () => {
  const asked = Promise.withResolvers<void>();
  const decision = Promise.withResolvers<boolean>();
  const config = { servers: { s: scripted(having("a"), { default_tool_meta: null }) } };
  await using office = await ComputerOffice.open(config, {
    confirm: () => (asked.resolve(), decision.promise),
  });
  const call = office.laptop.callTool("a", {});
  await within(asked.promise, "the question");
  await office.computer.reconfigure({ servers: {} });
  decision.resolve(true);
  const { meta, content } = await call;
  assertEquals([meta?.error_code, content[0]?.text], [
    4003,
    'Tool "a" failed: Cannot use MCP server "s": stopped',
  ]);
});

Deno.test("a call in flight when its server is removed, or replaced, is answered at once", async () => {
  for (const next of [{}, { s: scripted(having("b")) }]) {
    const config = { servers: { s: scripted(having("a", { hang: ["tools/call a"] })) } };
    await using office = await ComputerOffice.open(config);
    const call = office.laptop.callTool("a", {}, { timeoutMs: 600_000 });
    assertEquals(
      (await office.laptop.callTool("received")).isError,
      false,
      "the call before it has come, too",
    );
    await office.computer.reconfigure({ servers: next });
    assertEquals((await call).meta?.error_code, 4003);
  }
});

Deno.test("a server is stopped, started and restarted by name", async () => {
  await using office = await ComputerOffice.open({
    servers: { a: scripted(having("a")), b: scripted(having("b")) },
  });
  const { computer, log } = office;
  await computer.stopServer("a");
  // An event of the opening may come as late as that of the stop.
  const lists = (names: string) =>
    eventually(() => toolNames(office), (listed) => listed.join() === names, `the tools ${names}`);
  await lists("b");
  assertEquals(computer.servers.get("a")?.status, "stopped");
  assertEquals((await office.laptop.callTool("a", {})).meta?.error_code, 4001);
  computer.startServer("a");
  await lists("a,b");
  const again = log.next(stateOf("a", "running"));
  computer.restartServer("a");
  assertEquals(await toolNames(office), ["a", "b"], "its tools stay listed meanwhile");
  await again;
  assertEquals((await office.laptop.callTool("a", {})).isError, false);
});

Deno.test("who waits for a server that is restarted meanwhile waits for the new start", async () => {
  await using computer = Computer.open({ name: "laptop", config: { servers: { a: scripted(having("a")) } } });
  const ready = computer.ready();
  computer.restartServer("a");
  await ready;
  assertEquals(computer.servers.get("a")?.status, "running");
  assertEquals(computer.toolsOf("a").includes("a"), true);
});

Deno.test("a server that is being stopped says so at once, however long its process takes", async () => {
  await using computer = Computer.open({
    name: "laptop",
    config: { servers: { a: scripted(having("a", { stubborn: true })) } },
    limits: { stopGraceMs: 50 },
  });
  await computer.ready();
  const stopped = computer.stopServer("a");
  assertEquals(computer.servers.get("a")?.status, "stopped");
  await stopped;
  assertEquals(computer.servers.get("a")?.status, "stopped");
});

Deno.test("what cannot be started or stopped is refused by name", async () => {
  const disabled = scripted({}, { disabled: true });
  await using computer = Computer.open({ name: "laptop", config: { servers: { off: disabled } } });
  assertThrows(() => computer.startServer("off"), TypeError, "disabled");
  assertThrows(() => computer.restartServer("none"), TypeError, "(servers: off)");
  await assertRejects(() => computer.stopServer("none"), TypeError, 'No server named "none"');
  assertThrows(() => computer.setInput("none", "x"), TypeError, "(inputs: none)");
});

Deno.test("changing one input restarts only the servers that use it", async () => {
  const using = (id: string, tool: string) => {
    const config = scripted(having(tool));
    const parameters = config["server_parameters"] as Record<string, unknown>;
    return { ...config, server_parameters: { ...parameters, env: { TOKEN: `\${input:${id}}` } } };
  };
  const inputs = ["one", "two"].map((id) => ({ id, type: "promptString", default: "x" }));
  await using office = await ComputerOffice.open({
    servers: { a: using("one", "a"), b: using("two", "b"), c: scripted(having("c")) },
    inputs,
  });
  const { computer, log } = office;
  const again = log.next(stateOf("a", "running"));
  assertEquals(computer.setInput("one", "y"), ["a"]);
  await again;
  assertEquals(running(office), 4);
  const back = log.next(stateOf("a", "running"));
  assertEquals(computer.clearInput("one"), ["a"]);
  await back;
  assertEquals(computer.clearInput("one"), [], "it was cleared already");
  const second = log.next(stateOf("b", "running"));
  const change = await computer.reconfigure({
    servers: { a: using("one", "a"), b: using("two", "b"), c: scripted(having("c")) },
    inputs: inputs.map((input) => input.id === "two" ? { ...input, default: "z" } : input),
  });
  assertEquals(change.restarted, ["b"]);
  await second;
  assertEquals(running(office), 6);
});

Deno.test("a server that failed for want of an input starts when the input is set", async () => {
  const config = scripted(having("a"));
  const parameters = config["server_parameters"] as Record<string, unknown>;
  const log = new LogBook();
  await using computer = Computer.open({
    name: "laptop",
    logger: log,
    config: {
      servers: { a: { ...config, server_parameters: { ...parameters, env: { TOKEN: "${input:key}" } } } },
      inputs: [{ id: "key", type: "promptString" }],
    },
  });
  await computer.ready();
  assertEquals(computer.servers.get("a")?.status, "failed");
  assert(computer.servers.get("a")?.lastError?.includes('"key"'));
  assertEquals(computer.setInput("key", "v"), ["a"]);
  await computer.ready();
  assertEquals(computer.servers.get("a")?.status, "running");
});

Deno.test("the Computer's own program calls tools and looks at windows and documents as an Agent does", async () => {
  const W = "window://host/w";
  const script = having("echo", { resources: [{ uri: W }], contents: { [W]: "hello" } });
  await using computer = Computer.open({ name: "laptop", config: { servers: { s: scripted(script) } } });
  await computer.ready();
  const result = await computer.callTool("echo", { n: 1 });
  assertEquals(result.content[0]?.text, '{"name":"echo","args":{"n":1}}');
  assertEquals(
    endedCalls(computer).map(({ tool, outcome }) => [tool, outcome]),
    [["echo", "ok"]],
  );
  assertEquals(await computer.getDesktop(), [`${W}\n\nhello`]);
  assertEquals(await computer.getFinder(), { documents: [], totalCount: 0 });
  assertEquals((await computer.readResource(W)).contents[0]?.text, "hello");
});

Deno.test("starts are bounded, and a server that hangs in its start does not delay the others for ever", async () => {
  const names = ["a", "b", "c", "d"];
  const log = new LogBook();
  await using computer = Computer.open({
    name: "laptop",
    logger: log,
    config: {
      servers: {
        hung: scripted({ hang: ["initialize"] }),
        ...Object.fromEntries(names.map((name) => [name, scripted(having(name))])),
      },
    },
    limits: { maxConcurrentStarts: 2 },
  });
  await Promise.all(names.map((name) => log.until(stateOf(name, "running"))));
  assertEquals(computer.servers.get("hung")?.status, "starting");
});

Deno.test("a Computer that was closed takes no configuration and starts nothing", async () => {
  const computer = Computer.open({
    name: "laptop",
    config: { servers: { a: scripted(having("a")) }, inputs: [{ id: "key", type: "promptString" }] },
  });
  const closing = computer.close();
  await assertRejects(
    () => computer.reconfigure({ servers: { b: scripted(having("b")) } }),
    TypeError,
    "closed",
  );
  assertThrows(() => computer.startServer("a"), TypeError, "closed");
  assertThrows(() => computer.restartServer("a"), TypeError, "closed");
  assertThrows(() => computer.setInput("key", "v"), TypeError, "closed");
  await closing;
  assertEquals([...computer.servers].map(([name, { status }]) => [name, status]), [["a", "stopped"]]);
});

Deno.test({
  name: "a server starts once nothing is left of what had its name or its parameters before",
  ignore: Deno.build.os === "windows",
  async fn() {
    // A shell that takes its time to end.
    const slow = (tool: string) => {
      const config = scripted(having(tool));
      const { command, args } = config["server_parameters"] as { command: string; args: string[] };
      return {
        ...config,
        server_parameters: { command: "sh", args: ["-c", '"$0" "$@"; sleep 0.5', command, ...args] },
      };
    };
    const log = new LogBook();
    const config = { servers: { back: slow("a"), on: slow("b"), "old name": slow("c") } };
    await using computer = Computer.open({ name: "laptop", config, logger: log });
    await computer.ready();
    const first = log.lines.length;
    const change = computer.reconfigure({
      servers: { on: { ...slow("b"), disabled: true }, "new name": slow("c") },
    });
    await computer.reconfigure({ servers: { back: slow("a"), on: slow("b"), "new name": slow("c") } });
    await change;
    await computer.ready();
    const order = (server: string, status: string) =>
      log.lines.findIndex((line, index) => index >= first && stateOf(server, status)(line));
    for (const [old, next] of [["back", "back"], ["on", "on"], ["old name", "new name"]] as const) {
      assert(order(old, "stopped") !== -1, old);
      assert(order(old, "stopped") < order(next, "running"), `${next} runs while ${old} does`);
    }
  },
});

Deno.test("a server that is being stopped by hand stays so when its inputs change", async () => {
  const config = scripted(having("a"));
  const parameters = config["server_parameters"] as Record<string, unknown>;
  await using computer = Computer.open({
    name: "laptop",
    config: {
      servers: { a: { ...config, server_parameters: { ...parameters, env: { TOKEN: "${input:key}" } } } },
      inputs: [{ id: "key", type: "promptString", default: "x" }],
    },
  });
  await computer.ready();
  const stopping = computer.stopServer("a");
  assertEquals(computer.setInput("key", "v"), []);
  await stopping;
  assertEquals(computer.servers.get("a")?.status, "stopped");
});

Deno.test("what is asked of a server when it is stopped ends at once, and says that it is stopped", async () => {
  const [W, KNOWN] = ["window://host/w", "window://host/known"];
  const script = having("work", {
    resources: [{ uri: W }, { uri: KNOWN }],
    contents: { [KNOWN]: "x" },
    hang: ["tools/call work", `resources/read ${W}`],
  });
  await using computer = Computer.open({ name: "laptop", config: { servers: { s: scripted(script) } } });
  await computer.ready();
  await computer.readResource(KNOWN);
  const call = computer.callTool("work", {}, { timeoutMs: 600_000 });
  const read = assertRejects(() => computer.readResource(W, { timeoutMs: 600_000 }), SmcpError);
  const stopping = computer.stopServer("s");
  assertEquals((await call).content[0]?.text, 'Tool "work" failed: Cannot use MCP server "s": stopped');
  assertEquals((await read).details, { mcp_server: "s", state: "stopped" });
  await stopping;
});
