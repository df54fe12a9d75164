// Questions of MCP servers during a call, at the terminals where they appear: the prompt of the Computer, a command for a
// running Computer, the command line of the Agent; and without a terminal.

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { Agent } from "../../src/agent/agent.ts";
import { SmcpServer } from "../../src/server/server.ts";
import { doorWords } from "../fixtures/door.ts";
import { runHosted, startHosted } from "../fixtures/hosted_door.ts";
import { KIOSK_PAY_URL } from "../fixtures/kiosk.ts";
import { kioskCommand, kioskOnStdio } from "../fixtures/kiosk_config.ts";
import { leave, testPrompt } from "../integration/_computer_prompt.ts";
import { Workplace } from "../integration/_computer_program.ts";
import {
  Key,
  openTerminalSession,
  type TerminalSession,
  testOnTerminal,
} from "../integration/_terminal_session.ts";

const ASKING_SERVER = fromFileUrl(new URL("../fixtures/asking_server.ts", import.meta.url));

/** A server whose tool `ask` asks what it is given. */
function askingServer(): Record<string, unknown> {
  const args = ["run", "--no-check", "--no-lock", "--quiet", ASKING_SERVER];
  return { type: "stdio", server_parameters: { command: Deno.execPath(), args } };
}

/** The lines of the form that `order` of the kiosk asks for. */
const FORM = [
  "  What size of drink?",
  "4 fields. Ctrl-D declines, Ctrl-C cancels.",
];

/** Fills in the form: a large drink, the default of one cup, sugar, no name; and sends it. */
async function fillIn(session: TerminalSession): Promise<void> {
  await session.expect('1/4 "size" (number or text) [small]: ');
  await session.write(`2${Key.enter}`);
  await session.expect('2/4 "cups" (whole number, 1 to 9) [1]: ');
  await session.write(`ten${Key.enter}`);
  await session.expect('"cups" must be a whole number, such as 3');
  await session.write(Key.enter);
  await session.expect('3/4 "sugar" (y/n) [no]: ');
  await session.write(`y${Key.enter}`);
  await session.expect('4/4 "name" (at least 1 character): ');
  await session.write(Key.enter);
  await session.expect("Send these answers? [Y]es, [c]hange, [n]o (decline): ");
  await session.write(Key.enter);
}

const ORDERED = 'ordered {"size":"large","cups":1,"sugar":true}';

testPrompt("the prompt asks what an MCP server asks in a call of the Agent", async ({ open }) => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
  const args = ["--url", server.url, "--office", "lab"];
  const session = await open({ config: { servers: { kiosk: kioskOnStdio() } }, args });
  await session.expect('joined office "lab" as "laptop"');
  await session.expect("laptop@lab> ");
  const laptop = agent.computer("laptop");
  const textOf = async (call: Promise<{ content: readonly { type: string }[] }>) =>
    JSON.stringify((await call).content.map((item) => "text" in item ? item.text : item.type));

  const order = laptop.callTool("order", {}, { timeoutMs: 300_000 });
  for (const line of ['MCP server "kiosk" asks in a call of "order" by Agent "ada":', ...FORM]) {
    await session.expect(line);
  }
  await fillIn(session);
  assertStringIncludes(JSON.parse(await textOf(order))[0], ORDERED);

  const declined = laptop.callTool("order", {}, { timeoutMs: 300_000 });
  await session.expect('1/4 "size"');
  await session.write(`1${Key.enter}`);
  await session.expect('2/4 "cups"');
  await session.write(Key.ctrlD);
  assertStringIncludes(await textOf(declined), "order: decline");

  const cancelled = laptop.callTool("order", {}, { timeoutMs: 300_000 });
  await session.expect('1/4 "size"');
  await session.write(Key.ctrlC);
  assertStringIncludes(await textOf(cancelled), "order: cancel");

  const page = laptop.callTool("pay", {}, { timeoutMs: 300_000 });
  await session.expect('MCP server "kiosk" asks you to open a page in a call of "pay" by Agent "ada":');
  await session.expect(`Host: pay.example.com\n${KIOSK_PAY_URL}\n`);
  await session.expect("[d]one, [N]o (decline): ");
  await session.write(`d${Key.enter}`);
  assertStringIncludes(await textOf(page), "pay: accept");
  await session.expectScreen(/\nlaptop@lab>$/);
  await leave(session);
});

testPrompt("a question that is half answered is withdrawn when its call is cancelled", async ({ open }) => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
  const args = ["--url", server.url, "--office", "lab"];
  const session = await open({ config: { servers: { kiosk: kioskOnStdio() } }, args });
  await session.expect("laptop@lab> ");
  const controller = new AbortController();
  const { signal } = controller;
  const call = agent.computer("laptop").callTool("order", {}, { timeoutMs: 300_000, signal }).catch(String);
  await session.expect('1/4 "size"');
  await session.write(`2${Key.enter}`);
  await session.expect('2/4 "cups" (whole number, 1 to 9) [1]: ');
  await session.write("5");
  await session.expectScreen(/\[1\]: 5$/);
  controller.abort(new Error("enough"));
  await session.expectScreen(/\(withdrawn\)\nlaptop@lab>$/);
  assertStringIncludes(String(await call), "enough");
  await leave(session);
});

testPrompt("two calls that ask at once are asked about one after the other", async ({ open }) => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
  const args = ["--url", server.url, "--office", "lab"];
  const servers = { one: kioskOnStdio(), two: kioskOnStdio() };
  const session = await open({ config: { servers }, args });
  await session.expect('joined office "lab" as "laptop"');
  await session.expect("laptop@lab> ");
  const laptop = agent.computer("laptop");
  const calls = ["pay", "two__pay"].map((tool) => laptop.callTool(tool, {}, { timeoutMs: 300_000 }));
  for (const answer of ["d", "n"]) {
    await session.expect(/MCP server "(one|two)" asks you to open a page/);
    await session.expect("[d]one, [N]o (decline): ");
    await session.write(`${answer}${Key.enter}`);
  }
  const results = (await Promise.all(calls)).map(({ content }) => JSON.stringify(content[0])).sort();
  assertEquals(results.map((text) => /pay: \w+/.exec(text)?.[0]), ["pay: accept", "pay: decline"]);
  await session.expectScreen(/\nlaptop@lab>$/);
  await leave(session);
});

testPrompt("a call that was typed at the prompt is asked about there", async ({ open }) => {
  const session = await open({ config: { servers: { kiosk: kioskOnStdio() } } });
  await session.expect("1 MCP server runs");
  await session.write(`call order${Key.enter}`);
  for (const line of ['MCP server "kiosk" asks in your call of "order":', ...FORM]) {
    await session.expect(line);
  }
  await fillIn(session);
  await session.expect(ORDERED);
  await session.expectScreen(/\nlaptop>$/);
  await leave(session);
});

testPrompt(
  "a hostile question neither clears the screen nor passes for the prompt, and all its kinds of fields are asked",
  async ({ open }) => {
    const session = await open({ config: { servers: { evil: askingServer() } } });
    await session.expect("1 MCP server runs");
    const message = "Hello\u001b[2J\u001b[H\u001b]0;owned\u0007\r\nlaptop> quit\u202e\n" + "y ".repeat(120);
    const properties = {
      tags: {
        type: "array",
        title: "Tags\u001b[31m",
        minItems: 1,
        items: { type: "string", enum: ["a", "b\u0007"] },
      },
      day: { type: "string", format: "date" },
    };
    const questions = [{ message, requestedSchema: { type: "object", properties, required: ["tags"] } }];
    await session.write(`call ask ${JSON.stringify(JSON.stringify({ questions }))}${Key.enter}`);
    await session.expect('MCP server "evil" asks in your call of "ask":\n  Hello');
    await session.expect('1/2 "Tags" (required, numbers or texts, with commas, at least 1 option): ');
    assertMatch(session.screen(), /^ {2}laptop> quit$/m);
    await session.write(`2, a${Key.enter}`);
    await session.expect('2/2 "day" (date, such as 2026-01-31): ');
    await session.write(`tomorrow${Key.enter}`);
    await session.expect('"day" must be a date such as 2026-01-31');
    await session.write(`2026-12-24${Key.enter}`);
    await session.expect("[n]o (decline): ");
    await session.write(`c${Key.enter}`);
    await session.expect("at least 1 option) [b");
    await session.write(`${Key.enter}${Key.enter}${Key.enter}`);
    await session.expect('{"action":"accept","content":{"tags":["b');
    await session.expectScreen(/\nlaptop>$/);
    assert(!session.output().includes("\u001b[2J") && !session.output().includes("\u001b]0;"));
    await leave(session);
  },
);

testPrompt("a form for a secret is declined before anybody sees it", async ({ open }) => {
  const session = await open({ config: { servers: { evil: askingServer() } } });
  await session.expect("1 MCP server runs");
  const properties = { password: { type: "string" } };
  const questions = [{ message: "Who are you?", requestedSchema: { type: "object", properties } }];
  await session.write(`call ask ${JSON.stringify(JSON.stringify({ questions }))}${Key.enter}`);
  await session.expect('{"action":"decline"}');
  await session.expectScreen(/\nlaptop>$/);
  assert(!session.screen().includes("Ctrl-D declines"));
  await leave(session);
});

/** A Computer with the kiosk that runs as a service, in an office. */
async function serveKiosk(place: Workplace, config: Readonly<Record<string, unknown>> = {}) {
  await using cleanUp = new AsyncDisposableStack();
  const server = cleanUp.use(await SmcpServer.listen({ port: 0 }));
  const file = place.write("config.json", { servers: { kiosk: kioskOnStdio(config) } });
  const office = ["--url", server.url, "--office", "lab"];
  cleanUp.use(await place.serve(["--config", file, "--name", "laptop", "--headless", ...office]));
  const kept = cleanUp.move();
  return { office: [...office, "--name", "ada"], [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

testOnTerminal("a command for a running Computer is asked where it was typed", async () => {
  using place = new Workplace();
  await using _computer = await serveKiosk(place);
  const words = doorWords("computer.ts", ["--name", "laptop", "call", "order", "--timeout", "300"]);
  await using session = openTerminalSession(words, { columns: 100, env: place.env });
  for (const line of ['MCP server "kiosk" asks in your call of "order":', ...FORM]) {
    await session.expect(line);
  }
  await fillIn(session);
  await session.expect(ORDERED);
  assertEquals(await session.expectExit(), 0);
  await using other = openTerminalSession(words, { columns: 100, env: place.env });
  await other.expect('1/4 "size" (number or text) [small]: ');
  await other.write(Key.ctrlC);
  await other.expect("order: cancel");
  assertEquals(await other.expectExit(), 0);
});

testOnTerminal("Ctrl-C ends a command that has asked something, once nothing is asked any more", async () => {
  using place = new Workplace();
  const inputs = [{ type: "promptString", id: "city", description: "City" }];
  const kiosk = kioskOnStdio({ server_parameters: { ...kioskCommand(), env: { CITY: "${input:city}" } } });
  const file = place.write("config.json", { servers: { kiosk }, inputs });
  const words = doorWords("computer.ts", ["call", "wait", "--timeout", "300", "--config", file]);
  await using session = openTerminalSession(words, { columns: 100, env: place.env });
  await session.expect('City (input "city" for MCP server "kiosk"): ');
  await session.write(`Paris${Key.enter}`);
  await session.expect("calling wait 50 %");
  await session.write(Key.ctrlC);
  assertEquals(await session.expectExit(), 130);
});

Deno.test("without a terminal, options answer, or the question is declined and told", async () => {
  using place = new Workplace();
  await using _computer = await serveKiosk(place);
  const call = (...words: string[]) => place.run(["--name", "laptop", "call", ...words]);
  const given = await call("order", "--answer", "size=large", "--answer", "sugar=yes");
  assertEquals([given.code, given.stderr], [0, ""]);
  assertStringIncludes(given.stdout, ORDERED);
  const defaults = await call("order", "--answers", "{}");
  assertStringIncludes(defaults.stdout, 'ordered {"size":"small","cups":1,"sugar":false}');
  const wrong = await call("order", "--answer", "cups=10", "--answer", "milk=yes");
  assertStringIncludes(wrong.stdout, "order: decline");
  assertStringIncludes(
    wrong.stderr,
    'note: MCP server "kiosk" asks in your call of "order": "What size of drink?". Declined: "cups" must be at most 9',
  );
  assertStringIncludes(wrong.stderr, 'note: No question asked for "milk"');
  const page = await call("pay");
  assertStringIncludes(page.stderr, KIOSK_PAY_URL);
  const json = await call("order", "--json");
  assertEquals(JSON.parse(json.stdout).content[0], { type: "text", text: "order: decline" });
  const { question, answer } = JSON.parse(json.stderr);
  assertEquals([question.mode, question.message, Object.keys(question.schema.properties), answer], [
    "form",
    "What size of drink?",
    ["size", "cups", "sugar", "name"],
    "decline",
  ]);
});

testOnTerminal("the Agent's command line asks the questions that come to the Agent", async () => {
  using place = new Workplace();
  await using computer = await serveKiosk(place, { elicitation: "agent" });
  const words = doorWords("agent.ts", [...computer.office, "call", "order"]);
  await using session = openTerminalSession(words, { columns: 100, env: place.env });
  await session.expect('MCP server "kiosk" of Computer "laptop" asks in your call of "order":');
  await fillIn(session);
  await session.expect(ORDERED);
  assertEquals(await session.expectExit(), 0);
  const piped = (...args: string[]) =>
    runHosted("agent.ts", [...computer.office, "call", ...args], { env: place.env });
  assertStringIncludes((await piped("order", "--answers", '{"cups":2}')).stdout, '"cups":2');
  const offered = await piped("order", "--questions", "--json");
  assertStringIncludes(offered.stdout, "order: decline");
  assertEquals(JSON.parse(offered.stderr).question.mcp_server, "kiosk");
  const { stdout } = await piped("order");
  assertStringIncludes(stdout, "order: decline");
  assertMatch(stdout, /nobody/);
});

testPrompt(
  "the Agent's command line says at once that its call waits for the person at the Computer",
  async ({ open }) => {
    await using server = await SmcpServer.listen({ port: 0 });
    const office = ["--url", server.url, "--office", "lab"];
    const session = await open({
      config: { servers: { kiosk: kioskOnStdio({ default_tool_meta: {} }) } },
      args: office,
    });
    await session.expect('joined office "lab" as "laptop"');
    const words = [...office, "--name", "ada", "call", "echo", "text=hi"];
    for (const args of [["--approve"], ["--approve", "--json"]]) {
      await using call = startHosted("agent.ts", [...words, ...args]);
      await session.expect("Run it? [y]es, [a]lways, [N]o: ");
      // The call cannot end before the answer, so this came while it waits.
      await call.said("confirmation");
      const note = call.stderr.text.trim();
      if (args.length === 1) {
        assertMatch(
          note,
          /^note: Computer "laptop": .*confirmation.*\(the call waits 10 min\)$/,
        );
      } else assertEquals(JSON.parse(note).waiting.mcp_server, "kiosk");
      await session.write(`y${Key.enter}`);
      assertStringIncludes((await call.end()).stdout, "hi");
    }
    await leave(session);
  },
);

testOnTerminal(
  "the Agent's command line asks whether a call may run, where the Computer's owner lets it",
  async () => {
    using place = new Workplace();
    await using computer = await serveKiosk(place, { approval: "agent", default_tool_meta: {} });
    const words = [...computer.office, "call", "echo", "text=hi"];
    for (const [answer, code] of [["y", 0], ["", 1]] as const) {
      await using session = openTerminalSession(doorWords("agent.ts", words), {
        columns: 100,
        env: place.env,
      });
      // A progress line may be drawn between the two.
      await session.expect('Computer "laptop" asks whether to run "echo" of "kiosk" with {"text":"hi"}\n');
      await session.expect("Run it? [y]es, [N]o: ");
      await session.write(`${answer}${Key.enter}`);
      assertEquals(await session.expectExit(), code);
    }
    const piped = (...args: string[]) => runHosted("agent.ts", [...words, ...args], { env: place.env });
    assertEquals((await piped("--approve")).stdout, "hi\n");
    const refused = await piped("--questions");
    assertEquals(refused.code, 1);
    assertStringIncludes(refused.stderr, "Approve with --approve");
    assertStringIncludes(refused.stderr, "(4005)");
  },
);
