// What `computer.ts` asks at a terminal: values of inputs, and whether a tool may run.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import type { CallToolResult } from "../../src/protocol/tools.ts";
import { SmcpServer } from "../../src/server/server.ts";
import { scripted } from "../fixtures/stdio_config.ts";
import { enter, leave, needing, type Sitting, testPrompt } from "../integration/_computer_prompt.ts";
import { Key, type TerminalSession } from "../integration/_terminal_session.ts";

const KEY = { type: "promptString", id: "key", description: "API key", password: true };

// proves: data-input-password
testPrompt(
  "a password is asked for once for all servers that use it, and is nowhere on the terminal",
  async ({ open }) => {
    const session = await open({
      config: { servers: { a: needing("key"), b: needing("key") }, inputs: [KEY] },
    });
    await session.expect('API key (input "key" for MCP server "a"): ');
    await session.write(`hunter2${Key.enter}`);
    await session.expect("2 MCP servers run");
    await session.expect("laptop> ");
    assertStringIncludes(
      await enter(session, "input list"),
      "key  promptString  terminal  used by a, b  API key\n",
    );
    assertStringIncludes(await enter(session, "render a"), '"V0": "***"');
    await leave(session);
    assertEquals(session.screen().match(/API key \(/g)?.length, 1);
    assert(!session.output().includes("hunter"));
  },
);

testPrompt("a pick takes a number, and asks again for what is none of its options", async ({ open }) => {
  const input = { type: "pickString", id: "color", description: "Colour", options: ["red", "dark blue"] };
  const session = await open({ config: { servers: { a: needing("color") }, inputs: [input] } });
  await session.expect('  1  red\n  2  dark blue\nColour (input "color" for MCP server "a"): ');
  await session.write(`green${Key.enter}`);
  await session.expectScreen(/^Invalid choice "green"/m);
  await session.write(`2${Key.enter}`);
  await session.expect("1 MCP server runs");
  assertStringIncludes(await enter(session, "render a"), '"V0": "dark blue"');
  assertStringIncludes(await enter(session, "input set color green"), "error: Cannot use the value");
  await leave(session);
});

testPrompt("a refused question fails its server alone, and input set mends it, unseen", async ({ open }) => {
  const session = await open({ config: { servers: { a: needing("key"), b: needing() }, inputs: [KEY] } });
  await session.expect('MCP server "a"): ');
  await session.write(Key.ctrlC);
  await session.expect("1 of 2 MCP servers run, with 3 tools");
  const status = await enter(session, "status");
  assertStringIncludes(status, 'a  failed   0 tools\n    Cannot resolve input "key": no value');
  assertStringIncludes(status, "b  running  3 tools  MCP 2025-06-18\n");
  await session.write(`input set key${Key.enter}`);
  await session.expect('API key (input "key"): ');
  await session.write(`hunter2${Key.enter}`);
  // On a busy machine the lines of the log may come before the prompt.
  await session.expectScreen(/input "key" is set; restarting a\n(?:.*\n)*laptop>$/);
  await enter(session, "server start a");
  assertStringIncludes(await enter(session, "status"), "a  running  3 tools  MCP 2025-06-18\n");
  await leave(session);
  assert(!session.output().includes("hunter"));
});

testPrompt("a question that comes while somebody types waits until they rest", async ({ place, open }) => {
  const inputs = [{ type: "promptString", id: "city", description: "" }];
  const session = await open({ config: { servers: {}, inputs } });
  await session.expect("laptop> ");
  await session.write("stat");
  await session.expectScreen("laptop> stat");
  place.write("config.json", { servers: { a: needing("city") }, inputs });
  await session.expect("applied the edited config");
  await session.write(`us${Key.enter}`);
  await session.expect("a  starting");
  await session.expect('MCP server "a"): ');
  await session.write(`Paris${Key.enter}`);
  await session.expectScreen(/: Paris\nlaptop>$/);
  await leave(session);
});

testPrompt(
  "an input that was cleared is not asked for until it is set, or its server started",
  async ({ open }) => {
    const config = { servers: { a: needing("key") }, inputs: [KEY] };
    const session = await open({ config });
    await session.expect('MCP server "a"): ');
    await session.write(`hunter2${Key.enter}`);
    await session.expect("1 MCP server runs");
    await session.write(`input clear key${Key.enter}`);
    await session.expect("restarting a\n");
    await session.expect("input set");
    await session.expectScreen(/\nlaptop>$/);
    assertStringIncludes(await enter(session, "status"), "a  failed");
    await session.write(`server start a${Key.enter}`);
    await session.expect('MCP server "a"): ');
    await session.write(`hunter2${Key.enter}`);
    await session.expect('server "a" is running');
    await leave(session);
  },
);

interface Call {
  readonly session: TerminalSession;
  /** Has the Agent call the tool. */
  readonly call: (signal?: AbortSignal) => Promise<CallToolResult>;
}

/** A prompt in an office whose Agent calls a tool that needs a confirmation. */
async function confirming({ open }: Sitting, work: (call: Call) => Promise<void>): Promise<void> {
  await using server = await SmcpServer.listen({ port: 0 });
  await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
  const shop = scripted({ tools: [{ name: "buy", inputSchema: { type: "object" } }] }, {
    default_tool_meta: {},
  });
  const args = ["--url", server.url, "--office", "lab"];
  const session = await open({ config: { servers: { shop } }, args });
  await session.expect('joined office "lab" as "laptop"');
  await session.expect("laptop@lab> ");
  const computer = agent.computer("laptop");
  await work({
    session,
    call: (signal) => computer.callTool("buy", { what: "tea" }, signal === undefined ? {} : { signal }),
  });
  await leave(session);
}

const CALL = 'Agent "ada" calls "buy" of "shop" with {"what":"tea"}\nRun it? [y]es, [a]lways, [N]o: y\n';
const QUESTION = "Run it? [y]es, [a]lways, [N]o: ";

testPrompt(
  "an Agent's call runs after a yes, not after a no, and after an always unasked",
  async (sitting) => {
    await confirming(sitting, async ({ session, call }) => {
      const texts = [];
      for (const answer of ["", "n", "y", "always"]) {
        const result = call();
        await session.expect(QUESTION);
        await session.write(`${answer}${Key.enter}`);
        texts.push(isTold(await result));
      }
      texts.push(isTold(await call()));
      assertEquals(texts, [4005, 4005, "ran", "ran", "ran"]);
      assertStringIncludes(session.screen(), CALL);
    });
  },
);

testPrompt(
  "a confirmation that the Agent does not wait for is withdrawn, and the half-typed line is back",
  async (sitting) => {
    await confirming(sitting, async ({ session, call }) => {
      await session.write("stat");
      await session.expectScreen(/laptop@lab> stat$/);
      const controller = new AbortController();
      const result = call(controller.signal).catch((error) => String(error));
      await session.expect(QUESTION);
      controller.abort(new Error("enough"));
      await session.expectScreen(/\[N\]o: \(withdrawn\)\nlaptop@lab> stat$/);
      assertStringIncludes(String(await result), "enough");
    });
  },
);

function isTold({ isError, meta }: CallToolResult): unknown {
  return isError ? meta?.error_code : "ran";
}
