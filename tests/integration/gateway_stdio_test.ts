/** The gateway as a program on standard input and output, with the official clients of both eras. */
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { Client as ClientV2 } from "@modelcontextprotocol/client";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { scripted, scriptedServers } from "../fixtures/stdio_config.ts";
import { type AuthProvider, SmcpServer } from "../../server.ts";
import { doorWords } from "../fixtures/door.ts";
import { eventually, within } from "../fixtures/within.ts";
import { connectV1, connectV2, GatewayOffice } from "./_gateway_office.ts";
import { isWindows } from "../fixtures/system.ts";
import { TcpProxy } from "../fixtures/tcp_proxy.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";

const tool = (name: string, more: Record<string, unknown> = {}) => ({
  name,
  inputSchema: { type: "object" },
  ...more,
});
const FILES = scriptedServers({ files: { tools: [tool("read_file"), tool("shared")] } });
const SHELL = scriptedServers({ shell: { tools: [tool("run"), tool("shared")] } });

/** Names without those of the control tools of scripted servers and of the gateway itself. */
function namesOf(tools: readonly { readonly name: string }[]): string[] {
  return tools.map(({ name }) => name).filter((name) => /read_file|run|shared/.test(name));
}

Deno.test("each official client lists the tools of all Computers and calls them", async (t) => {
  await using office = await GatewayOffice.open({ laptop: FILES, desk: SHELL });
  const expected = ["run", "desk__shared", "read_file", "laptop__shared"];

  // Deno's module for processes of Node, which this client uses, does not pass its input on under Wine.
  await t.step("1.x, with a process of its own", async () => {
    await using client = await connectV1(isWindows ? office.words() : office.processWords());
    assertEquals(namesOf((await client.listTools()).tools), expected);
    const result = await client.callTool({ name: "laptop__shared", arguments: { path: "a" } });
    assertEquals(result.content, [{ type: "text", text: '{"name":"shared","args":{"path":"a"}}' }]);
    assertEquals(result._meta, { a2c_mcp_server: "files", a2c_computer: "laptop" });
  });
  for (const mode of ["legacy", "auto"] as const) {
    // With a process of its own, the client leaves a timer behind where it asks for the version.
    await t.step(`2.x, ${mode === "auto" ? "2026-07-28" : "2025-11-25"}`, async () => {
      const options = { versionNegotiation: { mode } };
      await using client = await connectV2(
        office.words(),
        new ClientV2({ name: "v2", version: "1" }, options),
      );
      assertEquals(client.getNegotiatedProtocolVersion(), mode === "auto" ? "2026-07-28" : "2025-11-25");
      assertEquals(namesOf((await client.listTools()).tools), expected);
      const result = await client.callTool({ name: "run", arguments: { command: "ls" } });
      assertEquals(result.content, [{ type: "text", text: '{"name":"run","args":{"command":"ls"}}' }]);
    });
  }
});

Deno.test("a definition crosses the gateway unharmed", async () => {
  const definition = {
    name: "draw",
    title: "Draw",
    description: "Draws a picture",
    inputSchema: {
      type: "object",
      properties: { size: { type: "integer", minimum: 1 } },
      required: ["size"],
    },
    outputSchema: { type: "object", properties: { ok: { type: "boolean" } } },
    annotations: { readOnlyHint: true, title: "Draw" },
    icons: [{ src: "https://example.com/icon.png", mimeType: "image/png" }],
    _meta: { ui: { resourceUri: "ui://draw/page" }, "example.com/key": { deep: [1] } },
  };
  await using office = await GatewayOffice.open({
    laptop: scriptedServers({ draw: { tools: [definition] } }),
  });
  await using client = await connectV1(office.words());
  const listed = (await client.listTools()).tools.find(({ name }: { name: string }) => name === "draw");
  assertEquals(listed, {
    ...definition,
    _meta: {
      ...definition._meta,
      a2c_computer: "laptop",
      a2c_mcp_server: "draw",
    },
  });
});

Deno.test("a Computer that joins and leaves changes the list, and the client is told", async () => {
  await using office = await GatewayOffice.open({});
  const client = new ClientV1({ name: "test", version: "1" });
  let changed = Promise.withResolvers<void>();
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => changed.resolve());
  await using _ = await connectV1(office.words(), client);
  assertEquals(namesOf((await client.listTools()).tools), []);

  const until = async (names: readonly string[]) => {
    while (namesOf((await client.listTools()).tools).join() !== names.join()) {
      await within(changed.promise, "a notification of changed tools");
      changed = Promise.withResolvers();
    }
  };
  const laptop = await office.add("laptop", FILES);
  await until(["read_file", "shared"]);
  // The newcomer does not rename the older tool.
  await office.add("desk", SHELL);
  await until(["run", "desk__shared", "read_file", "shared"]);
  await laptop.close();
  await until(["run", "desk__shared"]);
});

Deno.test("a Computer that leaves during a call is an error result at once", async () => {
  const slow = { tools: [tool("slow")], hang: ["tools/call slow"] };
  await using office = await GatewayOffice.open({ laptop: scriptedServers({ slow }) });
  await using client = await connectV1(office.words());
  await client.listTools();
  const call = client.callTool({ name: "slow", arguments: {} });
  // The call has reached the Computer once its MCP server has received it.
  const hasBegun = async () => {
    const { content } = await client.callTool({ name: "received", arguments: {} });
    return JSON.stringify(content).includes('\\"name\\":\\"slow\\"');
  };
  while (!await hasBegun());
  await office.computers.get("laptop")?.close();
  const result = await within<{ isError?: unknown; content?: unknown }>(call, "the result");
  assertEquals(result.isError, true);
  assertMatch(JSON.stringify(result.content), /left the office during the call|not in the office/);
});

Deno.test("an unknown tool is an error result that says what to do", async () => {
  await using office = await GatewayOffice.open({});
  await using client = await connectV1(office.words());
  const result = await client.callTool({ name: "nothing", arguments: {} });
  assertEquals(result.isError, true);
  assertMatch(JSON.stringify(result.content), /No tool named \\"nothing\\".*List the tools again/);
});

Deno.test("a question of a tool is elicitation of the client, in both eras", async (t) => {
  const ASKING = fromFileUrl(new URL("../fixtures/asking_server.ts", import.meta.url));
  const config = {
    servers: {
      asking: scripted({}, {
        server_parameters: { command: Deno.execPath(), args: ["run", "-A", "--no-check", "--quiet", ASKING] },
      }),
    },
  };
  await using office = await GatewayOffice.open({ laptop: config });
  const requestedSchema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
  const call = { name: "ask", arguments: { questions: [{ message: "Where?", requestedSchema }] } };
  const answer = { action: "accept" as const, content: { city: "Kyoto" } };

  await t.step("1.x", async () => {
    const client = new ClientV1({ name: "v1", version: "1" }, { capabilities: { elicitation: {} } });
    const asked: string[] = [];
    client.setRequestHandler(ElicitRequestSchema, ({ params }: { params: { message: string } }) => {
      asked.push(params.message);
      return answer;
    });
    await using _ = await connectV1(office.words(), client);
    const result = await client.callTool(call);
    const who = 'Computer "laptop" has a question in your call of "ask" of MCP server "asking".';
    assertEquals(asked, [`${who}\nIts words:\n\`\`\`\nWhere?\n\`\`\``]);
    assertMatch(JSON.stringify(result.content), /Kyoto/);
  });
  await t.step("2.x, 2026-07-28", async () => {
    const client = new ClientV2({ name: "v2", version: "1" }, {
      capabilities: { elicitation: { form: {} } },
      versionNegotiation: { mode: "auto" },
    });
    client.setRequestHandler("elicitation/create", () => answer);
    await using _ = await connectV2(office.words(), client);
    const result = await client.callTool(call);
    assertMatch(JSON.stringify(result.content), /Kyoto/);
  });
  await t.step("without elicitation the question is cancelled", async () => {
    await using client = await connectV1(office.words());
    const result = await client.callTool(call);
    assertMatch(JSON.stringify(result.content), /nobody can be asked/);
  });
});

Deno.test("a line that is no message is told in one line of the log, and the next one is served", async () => {
  await using office = await GatewayOffice.open({});
  const [command = "", ...args] = office.words();
  const child = new Deno.Command(command, {
    args,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const stdin = child.stdin.getWriter();
  await stdin.write(
    new TextEncoder().encode('{"hello":1}\ngarbage\n{"jsonrpc":"2.0","id":1,"method":"nope"}\n'),
  );
  const lines = child.stdout.pipeThrough(new TextDecoderStream());
  for await (const text of lines) {
    assertMatch(text, /"id":1,"error"/);
    await stdin.close();
  }
  assertMatch(await new Response(child.stderr).text(), /not served error="not a message of JSON-RPC 2\.0"\n/);
  assertEquals((await child.status).code, 0);
});

async function textOf(client: ClientV1, name: string): Promise<string> {
  const { content } = await client.callTool({ name, arguments: {} });
  return (content as { text?: string }[])[0]?.text ?? "";
}

Deno.test("a gateway that the Server refuses goes on, and tells its client why", async () => {
  const auth = { authenticate: () => Promise.resolve({ refused: "wrong token" }) };
  await using server = await SmcpServer.listen({ port: 0, auth });
  using folder = new TempFolder();
  const file = `${folder.path}/token`;
  await Deno.writeTextFile(file, "s3cret");
  const place = ["--url", server.url, "--office", "lab", "--name", "ada", "--token-file", file];
  await using client = await connectV1(doorWords("agent.ts", ["mcp", ...place, "--patience", "1s"]));
  for (const name of ["list_computers", "find_documents"]) {
    const ask = () => textOf(client, name);
    const text = await eventually(ask, (text) => !text.includes("still connecting"), "the reason");
    assertMatch(
      text,
      /wrong token\)\. Trying again does not help: tell the user, who has to correct the token/,
    );
    assertStringIncludes(text, `${JSON.stringify(file)} (--token-file)`);
    assert(!text.includes("Try again"), text);
  }
});

Deno.test("a gateway whose token is taken away in the session goes on, and tells its client why", async (t) => {
  let isGood = true;
  const auth: AuthProvider = {
    authenticate: () => isGood ? { principal: "ada" } : { refused: "wrong token" },
  };
  await using server = await SmcpServer.listen({ port: 0, auth });
  using folder = new TempFolder();
  const file = `${folder.path}/token`;
  await Deno.writeTextFile(file, "s3cret");
  const open = async (...words: string[]) => {
    isGood = true;
    await using stack = new AsyncDisposableStack();
    const wire = stack.use(new TcpProxy(server.port));
    const place = ["--url", wire.url, "--office", "lab", "--name", "ada"];
    const client = stack.use(await connectV1(doorWords("agent.ts", ["mcp", ...place, ...words])));
    const ask = () => textOf(client, "list_computers");
    await eventually(ask, (text) => text.includes("No Computer"), "the office");
    isGood = false;
    wire.cut();
    const owned = stack.move();
    return { ask, [Symbol.asyncDispose]: () => owned.disposeAsync() };
  };
  await t.step("until its file has a good one", async () => {
    await using gateway = await open("--token-file", file);
    const text = await eventually(gateway.ask, (text) => text.includes("wrong token"), "the reason");
    assertMatch(text, /Trying again does not help: tell the user, who has to correct the token in/);
    isGood = true;
    await eventually(gateway.ask, (text) => text.includes("No Computer"), "the return");
  });
  await t.step("and what the user has to do, where it was given by a variable", async () => {
    await using gateway = await open("--header", "authorization=Bearer s3cret");
    const text = await eventually(gateway.ask, (text) => text.includes("wrong token"), "the reason");
    assertMatch(text, /wrong token.*Trying again does not help: tell the user, who has to/);
  });
});
