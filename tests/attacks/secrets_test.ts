/** Attacker: an Agent. It wants the secrets of a Computer's owner, from the configuration, errors or log lines */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { parseConfig } from "../../src/config/config.ts";
import { maskConfig, maskIdentifiedConfig } from "../../src/computer/secrets/masking.ts";
import { Redactor } from "../../src/computer/secrets/redaction.ts";
import { secretsOf } from "../../src/computer/secrets/values.ts";
import { parseGetComputerConfigRet } from "../../src/protocol/answers.ts";
import type { MCPServerConfig } from "../../src/protocol/config.ts";
import { SmcpError } from "../../src/protocol/errors.ts";
import { scripted } from "../fixtures/stdio_config.ts";
import { ComputerOffice } from "../integration/_computer_office.ts";
import corpus from "../vectors/server_entries.json" with { type: "json" };

/** What each made-up secret of the corpus has in it. */
const MARK = /[\w-]*zqS3cr3tV4lue\d+/g;
const config = parseConfig(corpus);

Deno.test("no secret of a hundred server entries leaves with the configuration", () => {
  assert(config.servers.length >= 100, `${config.servers.length} entries`);
  const { servers } = maskConfig(config);
  for (const [name, server] of Object.entries(servers)) {
    assertEquals(JSON.stringify(server).match(MARK), null, name);
  }
  assertEquals(parseGetComputerConfigRet({ servers, inputs: null }).servers, servers);
});

Deno.test("no secret of a hundred server entries leaves with the configuration of protocol 0.3", () => {
  const { servers } = maskIdentifiedConfig(config);
  assertEquals(JSON.stringify(servers).match(MARK), null);
  assertEquals(parseGetComputerConfigRet({ servers, inputs: null }).servers, servers);
});

Deno.test("what is shown of a hundred server entries are names, hosts, placeholders and masks", () => {
  const shown = new Set<string>();
  for (const server of Object.values(maskConfig(config).servers)) {
    if (server.type === "stdio") {
      const { command, args, env, cwd } = server.server_parameters;
      for (const text of [command, ...args, ...Object.values(env ?? {}), cwd ?? ""]) shown.add(text);
    } else {
      const { url, headers } = server.server_parameters;
      for (const text of [url, ...Object.values(headers ?? {}).map(String)]) shown.add(text);
    }
  }
  const harmless =
    /^(?:(?:--?[a-zA-Z][\w.-]*=?)?(?:[a-z\d]+(?:\+[a-z]+)?:\/\/)?(?:\*\*\*@)?[\w.:-]*\/?(?:\*\*\*)?|[\w.-]+ \*\*\*|(?:\*\*\*)?\$\{[^}]*\})$/;
  assertEquals([...shown].filter((text) => !harmless.test(text)), []);
});

Deno.test("inputs tell no value either", () => {
  const secret = "zqS3cr3tV4lue1";
  const { inputs } = maskConfig(parseConfig({
    servers: {},
    inputs: [
      { id: "a", type: "promptString", description: "API key", default: secret, note: secret },
      { id: "b", type: "promptString", description: "d", password: true, default: secret },
      { id: "c", type: "command", description: "d", command: `pass ${secret}`, args: { key: secret } },
      { id: "d", type: "pickString", description: "d", options: ["x"], default: "x", note: secret },
    ],
  }));
  assertEquals(JSON.stringify(inputs).match(MARK), null);
});

/** The secrets of what a server is started with, as it would repeat them; not those of members that it does not get. */
function startSecrets({ server_parameters }: MCPServerConfig): readonly string[] {
  const { cwd: _cwd, command: _command, ...rest } = { cwd: null, command: "", ...server_parameters };
  return JSON.stringify(rest).match(MARK) ?? [];
}

Deno.test("each secret of a hundred server entries is known to what masks errors and log lines", () => {
  for (const server of config.servers) {
    const redactor = new Redactor();
    redactor.learn(server.name, secretsOf(server, server).all);
    for (const secret of startSecrets(server)) {
      const text = redactor.redact(`401: ${secret} is wrong`);
      assertEquals(text.match(MARK), null, `${server.name}: ${text}`);
    }
  }
});

Deno.test("paths, packages, versions and plain words stay readable in errors and log lines", () => {
  const args = [
    "-y",
    "@modelcontextprotocol/server-everything@1.2.3",
    "/home/ada/my documents",
    "--log-level",
    "debug",
  ];
  const text = `cannot find ${args.join(", ")} in true, node or 1`;
  const { servers } = parseConfig({
    mcpServers: { s: { command: "npx", args, env: { A: "true", B: "1", C: "node" } } },
  });
  const redactor = new Redactor();
  for (const server of servers) redactor.learn("s", secretsOf(server, server).all);
  assertEquals(redactor.redact(text), text);
});

const SECRET = "zqS3cr3tV4lue7";
const uri = "dpe://host/doc";

function leaking(error: unknown, more: Record<string, unknown> = {}) {
  const script = {
    resources: [{ uri, name: "a" }],
    answers: { [`resources/read ${uri}`]: { error } },
    ...more,
  };
  const server = scripted(script);
  const parameters = { ...server["server_parameters"] as object, env: { TOKEN: SECRET } };
  return { servers: { s: { ...server, server_parameters: parameters } } };
}

// proves: guide-error-no-secrets
Deno.test("an error tells no secret in its details, however deep, and neither in the names of its members", async () => {
  const data = {
    code: 4201,
    details: { url: `http://h/?token=${SECRET}`, list: [{ deep: [SECRET, { [`key ${SECRET}`]: 1 }] }] },
  };
  await using office = await ComputerOffice.open(
    leaking({ code: 4201, message: `upstream said 401 for ${SECRET}`, data }),
  );
  const error = await assertRejects(() => office.laptop.readResource(uri), SmcpError);
  assertEquals([error.code, error.message], [4201, "upstream said 401 for ***"]);
  assertEquals(error.details, { url: "http://h/?token=***", list: [{ deep: ["***", { "key ***": 1 }] }] });
  assertEquals(JSON.stringify(office.log.lines).match(MARK), null);
});

Deno.test("an error of a server with a bundle_id tells no secret, also after its name has changed", async () => {
  const { servers: { s } } = leaking({ code: -32603, message: `401 for ${SECRET}` });
  const named = (name: string) => ({ servers: { [name]: { ...s, bundle_id: "files" } } });
  await using office = await ComputerOffice.open(named("Files of ada"), { protocolVersion: "0.4" });
  for (const name of ["Files of bob", "files", "other"]) {
    const error = await assertRejects(() => office.laptop.readResource(uri), SmcpError);
    assertStringIncludes(error.message, "401 for ***");
    assertEquals(JSON.stringify([error.message, error.details, office.log.lines]).match(MARK), null);
    await office.computer.reconfigure(named(name));
    await office.computer.ready();
  }
});

Deno.test("a secret that stands where a line is cut leaves no half of it behind", async () => {
  const tool = { name: "say", inputSchema: { type: "object" } };
  for (const cut of [200, 1_000]) {
    const text = `${"some words ".repeat(100).slice(0, cut - 5)} ${SECRET}`;
    const message = { method: "notifications/message", params: { level: "warning", data: text } };
    const more = { garbage: text, stderr: text, tools: [tool], tellOn: { "tools/call say": [message] } };
    await using office = await ComputerOffice.open(leaking({ code: 1, message: "no" }, more));
    await office.laptop.callTool("say");
    await office.computer.close();
    const told = JSON.stringify(office.log.lines) + JSON.stringify(office.computer.serverLog("s"));
    assert(told.includes("some words"), "the lines were told");
    assertEquals(told.match(/zq\w*/g), null);
  }
});

Deno.test("a secret that an MCP server encodes before it repeats it is masked, too", () => {
  const secret = "Zq9$/pa+ss wörd&1'7!";
  const server_parameters = { command: "srv", env: { API_KEY: secret } };
  const [written] = parseConfig({ servers: { srv: { type: "stdio", server_parameters } } }).servers;
  assert(written !== undefined);
  const redactor = new Redactor();
  redactor.learn("srv", secretsOf(written, written).all);
  const bytes = new TextEncoder().encode(secret);
  const behind = (text: string) => new TextEncoder().encode(text + secret).toBase64();
  const percent = encodeURIComponent(secret);
  for (
    const [encoded, most] of [
      [bytes.toBase64(), 4],
      [bytes.toBase64({ alphabet: "base64url" }), 4],
      // A letter on either side depends on what is beside the secret.
      [`Basic ${behind("user:")}`, "Basic dXNlcjp".length + 4],
      [behind("ab:"), 8],
      [behind("a:"), 8],
      [bytes.toHex(), 0],
      [percent.replace(/%../g, (code) => code.toLowerCase()), 0],
      [new URLSearchParams({ k: secret }).toString(), 2],
      [JSON.stringify(secret).replace("ö", "\\u00f6"), 2],
    ] as const
  ) {
    const left = redactor.redact(encoded).replaceAll("***", "");
    assert(left.length <= most, `${encoded}: ${left}`);
  }
});

Deno.test("no answer depends on whether a request guesses a secret, and the owner reads of each that does", async () => {
  const tools = [{ name: "check", inputSchema: { type: "object", properties: { q: { type: "string" } } } }];
  const prompts = [{ name: "ask" }];
  await using office = await ComputerOffice.open(
    leaking({ code: 1, message: "no" }, {
      tools,
      prompts,
      capabilities: { tools: {}, resources: {}, prompts: {} },
    }),
  );
  /** All answers to a guess, with the guess taken out of them. */
  const answersTo = async (guess: string) => {
    const failure = { error: { code: -32602, message: `Invalid q: "${guess}"`, data: { q: [guess] } } };
    const told = {
      "tools/call check": failure,
      "prompts/get": failure,
      [`resources/read ${uri}/elements/${guess}`]: failure,
    };
    await office.become({ answers: told });
    const requests: [string, Record<string, unknown>][] = [
      ["client:read_resource", { uri: `window://nobody/${guess}` }],
      ["client:read_resource", { uri: `dpe://nobody/${guess}` }],
      ["client:read_resource", { uri: `dpe://${guess}//` }],
      ["client:read_resource", { uri: `${uri}/elements/${guess}` }],
      ["client:read_resource", { uri: `file:///${guess}` }],
      ["client:read_resource", { uri: "file:///x", mcp_server: guess }],
      ["client:get_resources", { mcp_server: guess }],
      ["client:get_desktop", { window: `x ${guess}` }],
      ["client:get_completion", { ref: { uri: `x:${guess}` }, argument: { name: "a", value: "" } }],
      ["client:get_prompt", { name: guess }],
      ["client:get_prompt", { name: "ask", arguments: { q: guess } }],
      ["client:get_skill", { name: guess }],
      ["client:get_blob", { blob_handle: guess }],
      ["client:tool_call", { tool_name: guess, params: {} }],
      ["client:tool_call", { tool_name: "check", params: { q: guess } }],
      ["client:tool_call", { tool_name: "check", params: { q: [guess] } }],
      [`client:${guess}`, {}],
    ];
    const answers: string[] = [];
    for (const [event, body] of requests) {
      const answer = await office.agent.request(event, { computer: "laptop", ...body }).catch((
        error,
      ) => [error.code, error.message, error.details]);
      answers.push(JSON.stringify(answer).replaceAll(guess, "GUESS"));
    }
    return answers;
  };
  const wrong = await answersTo("zqS3cr3tV4lue8");
  assertEquals(office.log.lines.filter(({ message }) => message.includes("contains a secret")), []);
  assertEquals(await answersTo(SECRET), wrong);
  assert(wrong.every((answer) => !answer.includes("***")), wrong.join("\n"));
  assert(wrong.filter((answer) => answer.includes("GUESS")).length >= 10, wrong.join("\n"));
  const alarms = office.log.lines.filter(({ message }) => message.includes("contains a secret"));
  assert(alarms.length >= 17, `${alarms.length} lines`);
  assertEquals([alarms[0]?.level, alarms[0]?.fields?.["requester"]], ["warn", "ada"]);
  assertEquals(JSON.stringify(alarms).match(MARK), null);
});

Deno.test("a request of many guesses gets a short answer without a mask, and as many are a bounded number of lines", async () => {
  await using office = await ComputerOffice.open(leaking({ code: 1, message: "no" }));
  const startMs = performance.now();
  const guesses = Array.from({ length: 6_000 }, (_, i) => `zqS3cr3tV4lue${i}`).join("/");
  for (let round = 0; round < 25; round++) {
    const error = await assertRejects(
      () => office.laptop.readResource(`window://nobody/${guesses}`),
      SmcpError,
    );
    const text = JSON.stringify([error.message, error.details]);
    assertEquals(
      [error.code, text.includes("***"), text.length < 1_000],
      [404, false, true],
      text.slice(0, 2_000),
    );
  }
  const lines = office.log.lines.filter(({ message }) => message.includes("contains a secret")).length;
  // 20 at once, then two a second.
  const most = 20 + Math.ceil((performance.now() - startMs) / 500);
  assert(lines >= 20 && lines <= Math.min(25, most), `${lines} lines, at most ${most}`);
});

Deno.test("guesses that an MCP server changes before it repeats them are a warning, and get no reason after twenty", async () => {
  await using office = await ComputerOffice.open(leaking({ code: 1, message: `no ${SECRET}` }));
  const messages: string[] = [];
  const startMs = performance.now();
  for (let round = 0; round < 40; round++) {
    const error = await assertRejects(() => office.laptop.readResource(uri), SmcpError);
    messages.push(error.message);
  }
  const masked = messages.filter((message) => message.includes("***")).length;
  assert(messages.slice(0, 20).every((message) => message.includes("***")));
  // 20 at once, then one in three seconds.
  assert(masked <= 20 + Math.ceil((performance.now() - startMs) / 3_000), `${masked} masked`);
  assert(masked < 40 && new Set(messages).size === 2);
  assertEquals(
    office.log.lines.filter(({ message }) => message.includes("secret was masked")).length,
    masked,
  );
});

Deno.test("a long request that fails gets the same answer for a right and a wrong guess", async () => {
  await using office = await ComputerOffice.open(leaking({ code: 1, message: "no" }));
  const answers = new Set<string>();
  for (const [unit, guess] of [["%252541", SECRET], ["guess12/", SECRET], ["a", "zqS3cr3tV4lue8"]] as const) {
    const uri = `window://nobody/${guess}/${unit.repeat(200_000 / unit.length)}`;
    const error = await assertRejects(() => office.laptop.readResource(uri), SmcpError);
    answers.add(JSON.stringify([error.code, error.message, error.details]));
  }
  assertEquals(answers.size, 1);
});
