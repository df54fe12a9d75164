// What the prompt says is news once, and ends with what can be done there.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { scripted } from "../fixtures/stdio_config.ts";
import { enter, leave, testPrompt } from "../integration/_computer_prompt.ts";
import { doorWords } from "../fixtures/door.ts";
import { Workplace } from "../integration/_computer_program.ts";
import { Key, openTerminalSession, testOnTerminal } from "../integration/_terminal_session.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";
import { ClosedPort } from "../fixtures/tcp_proxy.ts";

const DYING = scripted({
  tools: [{ name: "die", inputSchema: { type: "object" } }],
  dieOn: ["tools/call die"],
});

testPrompt("whoever is warned of a dead MCP server hears when it runs again", async ({ open }) => {
  const session = await open({ config: { servers: { mortal: DYING } } });
  await session.expect("1 MCP server runs");
  await session.expect("laptop> ");
  await session.write(`call die${Key.enter}`);
  await session.expect("MCP server retrying server=mortal");
  await session.expect("MCP server is running again server=mortal");
  await leave(session);
});

testPrompt("a Computer with nothing but documents says how many there are", async ({ open }) => {
  using folder = new TempFolder();
  for (const name of ["a.txt", "b.txt"]) await Deno.writeTextFile(`${folder.path}/${name}`, name);
  const notes = { type: "documents", folders: [folder.path] };
  const session = await open({ config: { servers: { notes } } });
  await session.expect("1 MCP server runs, with 0 tools and 2 documents");
  await leave(session);
});

testPrompt("the failure of a server that was just added is told once, with its address", async ({ open }) => {
  const session = await open({});
  await session.expect("laptop> ");
  await using port = await ClosedPort.open();
  const url = `${port.url}/mcp`;
  const said = (await enter(session, `server add web ${url}`)).replaceAll("\n", " ");
  assertEquals(said.match(/not reachable/g)?.length, 1, said);
  assertStringIncludes(said, url);
  assertStringIncludes(said, "Connection refused");
  await leave(session);
});

testPrompt("exit ends the prompt, and server list shows what status shows", async ({ open }) => {
  const session = await open({ config: { servers: { mortal: DYING } } });
  await session.expect("1 MCP server runs");
  await session.expect("laptop> ");
  assertStringIncludes(await enter(session, "server list"), "mortal  running  3 tools");
  await session.write(`call -${Key.tab}`);
  await session.expectScreen(/call --$/);
  await session.write(Key.tab);
  await session.expectScreen(/--params .*--timeout/);
  await session.write(Key.ctrlU);
  await session.write(`exit${Key.enter}`);
  assertEquals(await session.expectExit(), 0);
});

testPrompt(
  "a complaint about an answer begins its own line, also while a command works",
  async ({ open }) => {
    const inputs = [{ type: "pickString", id: "region", description: "Region", options: ["eu", "us"] }];
    const session = await open({ config: { servers: {}, inputs } });
    await session.expect("laptop> ");
    await session.write(`input set region${Key.enter}`);
    await session.expect('Region (input "region"): ');
    // The progress of the command appears below once the answer is typed.
    await session.write(`xx${Key.enter}`);
    await session.expectScreen(/^Invalid choice "xx"/m);
    await session.write(`eu${Key.enter}`);
    await session.expect("is set");
    await leave(session);
  },
);

testPrompt("a command line with options of its own is pointed to --", async ({ open }) => {
  const session = await open({});
  await session.expect("laptop> ");
  assertStringIncludes(await enter(session, "server add fs npx -y pkg ."), "server add NAME -- COMMAND");
  assertStringIncludes(await enter(session, "read foo"), "--mcp-server NAME");
  assertStringIncludes(await enter(session, "join lab"), '"connect http://HOST:PORT"');
  await leave(session);
});

testOnTerminal("a terminal that is dumb gets neither colours nor a spinner", async () => {
  using place = new Workplace();
  const config = place.write("config.json", { servers: { mortal: DYING } });
  const env = { ...place.env, NO_COLOR: "", TERM: "dumb" };
  await using session = openTerminalSession(doorWords("computer.ts", ["status", "--config", config]), {
    env,
  });
  assertEquals(await session.expectExit(), 0);
  assertStringIncludes(session.output(), "running");
  assertEquals(session.output().includes("\u001b"), false);
});

testPrompt("tools, desktop and finder name a server that is still starting", async ({ open }) => {
  const session = await open({ config: { servers: { slow: scripted({ hang: ["initialize"] }) } } });
  await session.expect("laptop> ");
  for (
    const [command = "", what = ""] of [["tools", "tools"], ["desktop", "windows"], ["finder", "documents"]]
  ) {
    assertStringIncludes(await enter(session, command), `no ${what}: server "slow" is starting`);
  }
  await leave(session);
});
