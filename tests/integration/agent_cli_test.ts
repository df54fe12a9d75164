import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { staticTokens } from "../../src/server/admission/tokens.ts";
import { Agent } from "../../src/agent/agent.ts";
import { SmcpServer } from "../../src/server/server.ts";
import { type DoorOutcome, runDoor, type RunningDoor, startDoor } from "../fixtures/door.ts";
import { runHosted } from "../fixtures/hosted_door.ts";
import { ClosedPort } from "../fixtures/tcp_proxy.ts";
import { type Answer, contents, ScriptedComputer, textResult } from "./_scripted_computer.ts";
import { isWindows } from "../fixtures/system.ts";

const RAW = "\u001b[31mred\u001b[0m\r\n\u0007\u202eend";

const answers: Record<string, Answer> = {
  "client:get_tools": ({ req_id }) => ({
    tools: [{
      name: "echo",
      description: "Says it again",
      params_schema: { type: "object", properties: { message: { type: "string" } }, required: ["message"] },
      return_schema: null,
      meta: {},
    }],
    req_id,
  }),
  "client:tool_call": ({ tool_name, params }) =>
    tool_name === "raw"
      ? textResult(RAW)
      : tool_name === "echo"
      ? textResult(JSON.stringify(params))
      : { ...textResult("out of paper"), isError: true, meta: { error_code: 4003 } },
  "client:get_config": () => ({
    servers: { web: { name: "web", type: "sse", server_parameters: { url: "http://web/sse" } } },
  }),
  "client:get_desktop": ({ desktop_size, window, req_id }) => ({
    desktops: [`${window ?? "window://a"}\n\n${desktop_size ?? "all"}`],
    req_id,
  }),
  "client:get_finder": ({ keywords, file_type, offset, limit, req_id }) => ({
    documents: [{
      doc_ref: "rpt",
      uri: "dpe://docs/rpt",
      file_uri: "file:///rpt.xlsx",
      file_type: "xlsx",
      title: JSON.stringify({ keywords, file_type, offset, limit }),
      page_count: 2,
      server: "docs",
    }],
    total_count: 8,
    req_id,
  }),
  "client:read_resource": ({ uri }) =>
    uri === "dpe://docs/rpt"
      ? contents(uri, `{"title":"Report"}`)
      : uri === "window://raw"
      ? contents(uri, RAW)
      : { code: 4201, message: "Document not found", details: { doc_ref: "x" } },
};

/** The permissions that the documentation names. */
const permissions = ["--allow-net", "--ignore-env"];

function start(args: readonly string[]): RunningDoor {
  return startDoor("agent.ts", args, { permissions });
}

function run(...args: string[]): Promise<DoorOutcome> {
  return runHosted("agent.ts", args);
}

function options(server: { readonly url: string }): string[] {
  return ["--url", server.url, "--office", "lab", "--name", "ada"];
}

Deno.test("agent.ts shows the office, and JSON with --json before or after the command", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  using _computer = await ScriptedComputer.join(server.url, { answers });
  const text = await runDoor("agent.ts", [...options(server), "office"], { permissions });
  assertEquals([text.code, text.stderr], [0, ""]);
  assertMatch(text.stdout, /^computer {2}laptop {2}protocol 0\.2\.0 {2}awake\n$/);
  const json = await run(...options(server), "office", "--json");
  const { sessions } = JSON.parse(json.stdout);
  assertEquals(sessions.map(({ name }: { name: string }) => name), ["laptop"]);
});

Deno.test("agent.ts shows the configuration, and sends options as the fields of the protocol", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  using computer = await ScriptedComputer.join(server.url, { answers });
  const show = async (...args: string[]) => (await run(...options(server), ...args)).stdout;
  assertEquals(await show("config"), "web  sse  enabled  http://web/sse\n");
  assertEquals(await show("desktop", "--size", "3", "--window", "window://b"), "window://b\n\n```\n3\n```\n");
  const flags = ["--keyword", "a", "--keyword", "b", "--file-type", "xlsx", "--offset", "4", "--limit", "1"];
  assertEquals(
    await show("finder", ...flags),
    'docs\n└─ {"keywords":["a","b"],"file_type":"xlsx","offset":4,"limit":1}  xlsx  2 pages\n' +
      "     dpe://docs/rpt\n5–5 of 8\n",
  );
  await show("call", "echo", "--params", `{"message":"hi"}`, "--timeout", "2.5");
  assertEquals(computer.lastBody("client:tool_call")["timeout"], 3);
});

Deno.test("agent.ts says where to look when the Computer has no tools", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const none: Answer = ({ req_id }) => ({ tools: [], req_id });
  using _computer = await ScriptedComputer.join(server.url, { answers: { "client:get_tools": none } });
  const { code, stdout } = await run(...options(server), "tools");
  assertEquals(code, 0);
  assertStringIncludes(stdout, "their tools may be forbidden");
  assertStringIncludes(stdout, '"deno run -A computer.ts status" on that machine');
  const json = await run(...options(server), "tools", "--json");
  assertEquals(JSON.parse(json.stdout), { computer: "laptop", tools: [] });
});

Deno.test("agent.ts asks which Computer when there are several, and says when there is none", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const none = await run(...options(server), "tools");
  assertEquals(none.code, 1);
  assertStringIncludes(none.stderr, `Cannot find a Computer in office "lab": none has joined`);
  assertStringIncludes(none.stderr, "just started joins within seconds");
  assertStringIncludes(none.stderr, "check the name of the office");
  using _laptop = await ScriptedComputer.join(server.url, { answers });
  using _desk = await ScriptedComputer.join(server.url, { name: "desk", answers });
  const several = await run(...options(server), "tools");
  assertEquals(several.code, 2);
  assertStringIncludes(several.stderr, `--computer`);
  const other = await run(...options(server), "--computer", "phone", "tools");
  assertEquals(other.code, 1);
  assertStringIncludes(other.stderr, `Cannot find Computer "phone": the office has "laptop", "desk"`);
  assertEquals((await run(...options(server), "tools", "--computer", "desk")).code, 0);
});

Deno.test("agent.ts explains a wrong command line and ends with 2", async () => {
  const missing = await run("office");
  assertEquals(missing.code, 2);
  for (const word of ["--url (or A2C_URL)", "--office", "--name (or A2C_NAME)"]) {
    assertStringIncludes(missing.stderr, word);
  }
  const misspelled = await run("ofice");
  assertEquals(misspelled.code, 2);
  assertStringIncludes(misspelled.stderr, "Did you mean office?");
  const office = ["--url", "http://127.0.0.1:1", "--office", "lab", "--name", "ada"];
  const params = await run(...office, "call", "echo", "--params", "[1]");
  assertEquals(params.code, 2);
  assertStringIncludes(params.stderr, "JSON object");
  assertEquals((await run(...office, "call", "echo", "--params", "{")).code, 2);
  assertEquals((await run(...office, "call", "echo", "--timeout", "86401")).code, 2);
  assertEquals((await run(...office, "dance")).code, 2);
  const word = await run(...office, "call", "echo", "hi");
  assertEquals(word.code, 2);
  assertStringIncludes(word.stderr, "NAME=VALUE");
});

Deno.test("agent.ts shows its help and its version", async () => {
  const help = await run("--help");
  assertEquals([help.code, help.stderr], [0, ""]);
  for (const word of ["office", "tools", "call", "config", "desktop", "finder", "read", "watch", "A2C_URL"]) {
    assertStringIncludes(help.stdout, word);
  }
  assertMatch((await run("--version")).stdout, /^agent \d+\.\d+\.\d+ \(protocol 0\.2\.0\)\n$/);
});

Deno.test("agent.ts reads its options from the environment, too", async () => {
  await using server = await SmcpServer.listen({ port: 0, auth: staticTokens({ tokens: ["s3cret"] }) });
  const env = { A2C_URL: server.url, A2C_OFFICE: "lab", A2C_NAME: "ada", A2C_TOKEN: "s3cret" };
  const { code, stdout } = await runHosted("agent.ts", ["office"], { env });
  assertEquals(code, 0);
  assertStringIncludes(stdout, "the office is empty");
  const refused = await runHosted("agent.ts", ["office"], { env: { ...env, A2C_TOKEN: "guess" } });
  assertEquals(refused.code, 4);
  assertStringIncludes(refused.stderr, "refused");
});

Deno.test("agent.ts ends with 3 when it cannot reach the Server in time", async () => {
  await using port = await ClosedPort.open();
  const gone = options(port);
  const { code, stdout, stderr } = await run(...gone, "--connect-timeout", "0.2", "office");
  assertEquals([code, stdout], [3, ""]);
  assertMatch(stderr, /^error: Cannot reach the Server [^\n]*\n$/);
});

Deno.test("agent.ts --json tells a failure as one JSON object on stderr, a wrong command line too", async () => {
  const gone = ["--url", "http://127.0.0.1:1", "--office", "lab", "--name", "ada", "--json"];
  const errorOf = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(...args);
    const { error } = JSON.parse(stderr);
    assertEquals([stdout, stderr.split("\n").length, error.exit_code], ["", 2, code]);
    return [code, error.code, error.message];
  };
  const [code, name, message] = await errorOf(...gone, "--connect-timeout", "0.2", "office");
  assertEquals([code, name], [3, "SERVER_UNREACHABLE"]);
  assertMatch(message, /^Cannot reach the Server/);
  assertEquals(await errorOf(...gone, "dance"), [2, "USAGE", "unknown command 'dance'"]);
  const [status, kind, missing] = await errorOf("office", "--json");
  assertEquals([status, kind], [2, "USAGE"]);
  assertStringIncludes(missing, "--url (or A2C_URL)");
  assertEquals((await errorOf(...gone, "call", "echo", "--params", "[1]")).slice(0, 2), [2, "USAGE"]);
  assertEquals((await errorOf(...gone)).slice(0, 2), [2, "USAGE"]);
});

Deno.test(
  "Ctrl-C during a call cancels it on the wire and ends with 130",
  { ignore: isWindows },
  async () => {
    await using server = await SmcpServer.listen({ port: 0 });
    using computer = await ScriptedComputer.join(server.url);
    const asked = computer.next("client:tool_call");
    const cancelled = computer.next("notify:tool_call_cancel");
    await using child = start([...options(server), "call", "sleep"]);
    const { req_id } = await asked;
    child.kill("SIGINT");
    assertEquals(await cancelled, { agent: "ada", req_id });
    assertEquals((await child.end()).code, 130);
  },
);

Deno.test("agent.ts watch takes no seat, and ends when nobody reads what it prints", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using child = start([...options(server), "--json", "watch"]);
  await child.said("watching");
  assertEquals((await run(...options(server), "call", "echo")).code, 1);
  await child.stdout.cancel();
  let isOver = false;
  const outcome = child.end().finally(() => isOver = true);
  // A line that is written while the pipe is being closed is lost without an error, so more events come until it ends.
  while (!isOver) {
    using _computer = await ScriptedComputer.join(server.url);
    await run(...options(server), "office");
  }
  assertEquals((await outcome).code, 0);
});

Deno.test("agent.ts watch ends with 0 at Ctrl-C also while the Server cannot be reached", {
  ignore: isWindows,
}, async () => {
  await using child = start(["--url", "http://127.0.0.1:1", "--office", "lab", "--name", "ada", "watch"]);
  await child.said("cannot connect to the Server");
  child.kill("SIGINT");
  assertEquals((await child.end()).code, 0);
});

Deno.test("agent.ts call ends with 6 after --patience, and says who has the seat, since when, and what to do", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using _agent = await Agent.connect({ url: server.url, office: "lab", name: "bob" });
  const { code, stderr } = await run(...options(server), "call", "echo", "--patience", "100ms");
  assertEquals(code, 6);
  assertMatch(
    stderr,
    /Room already has an agent \(4101\): "bob", since 20.*End that Agent, wait.*add --patience/s,
  );
  assertEquals(stderr.includes("observer"), false);
});

Deno.test("agent.ts calls that start at the same time take the seat one after another", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  using _computer = await ScriptedComputer.join(server.url, { answers });
  const calls = ["1", "2", "3"].map((message) =>
    run(...options(server), "call", "echo", `message=${message}`, "--patience", "2m")
  );
  const outcomes = await Promise.all(calls);
  assertEquals(outcomes.map(({ code, stdout, stderr }) => [code, stdout, stderr]), [
    [0, '{"message":"1"}\n', ""],
    [0, '{"message":"2"}\n', ""],
    [0, '{"message":"3"}\n', ""],
  ]);
});

Deno.test("agent.ts watch prints what happens to one Computer, one JSON line each, until Ctrl-C", {
  ignore: isWindows,
}, async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using child = start([...options(server), "--json", "--computer", "laptop", "watch"]);
  await child.said("watching");
  using _other = await ScriptedComputer.join(server.url, { name: "desk" });
  using computer = await ScriptedComputer.join(server.url);
  await computer.send("server:update_desktop", { computer: "laptop" });
  computer.close();
  await child.said("leaveOffice");
  child.kill("SIGINT");
  const { code, stdout } = await child.end();
  assertEquals(code, 0);
  const lines = stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
  assertEquals(lines.map(({ type, name, computer }) => [type, name ?? computer]), [
    ["enterOffice", "laptop"],
    ["updateDesktop", "laptop"],
    ["leaveOffice", "laptop"],
  ]);
});
