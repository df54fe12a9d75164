// `computer.ts` at a terminal: commands, completion, history, help, and how it ends.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { scripted, scriptedServers } from "../fixtures/stdio_config.ts";
import { everything, filesystem, memory } from "../fixtures/public_servers.ts";
import { enter, leave, testPrompt } from "./_computer_prompt.ts";
import { untilGone } from "./_processes.ts";
import { Key } from "./_terminal_session.ts";

const ECHO = {
  name: "echo",
  description: "Says it again",
  inputSchema: {
    type: "object",
    properties: { text: { type: "string" }, times: { type: "integer" }, mode: { enum: ["quiet", "loud"] } },
  },
};
const TWO = {
  servers: { shop: scripted({ tools: [ECHO] }), broken: scripted({ exitAtStart: true, stderr: "no luck" }) },
  inputs: [{ type: "promptString", id: "city", description: "Where", default: "Rome" }],
};

testPrompt("the prompt tells what became of the MCP servers, and status tells why", async ({ open }) => {
  const session = await open({ config: TWO });
  await session.expect('1 of 2 MCP servers run, with 3 tools. "broken" does not run');
  await session.expect("laptop> ");
  const status = await enter(session, "status");
  assertStringIncludes(status, "computer  laptop\noffice    none, not connected\n");
  assertStringIncludes(status, "\nshop    running   3 tools  MCP 2025-06-18\n");
  assertStringIncludes(status, "\n    Cannot use the MCP server: exit code 3\n    no luck\n");
  await leave(session);
});

testPrompt(
  "a config that is not there yet is told of, and made by the first server",
  async ({ open, place }) => {
    const file = join(place.folder, "new.json");
    const session = await open({ args: ["--config", file], columns: 200 });
    await session.expect("does not exist yet");
    await enter(session, "server add here -- deno --version");
    await enter(session, "server remove here");
    assertEquals(JSON.parse(await Deno.readTextFile(file)), { servers: {} });
    await leave(session);
  },
);

testPrompt("Tab completes commands, servers, tools, their arguments and inputs", async ({ open }) => {
  const session = await open({ config: TWO });
  await session.expect("laptop> ");
  for (
    const [typed, completed] of [
      ["hist", "history "],
      ["server resta", "server restart "],
      ["server logs sh", "server logs shop "],
      ["call ec", "call echo "],
      ["call echo te", "call echo text="],
      ["call echo mode=q", "call echo mode=quiet "],
      ["input set ci", "input set city "],
      ["help server rem", "help server remove "],
    ] as const
  ) {
    await session.write(`${typed}${Key.tab}`);
    await session.expectScreen((screen) => screen.endsWith(`laptop> ${completed.trimEnd()}`));
    await session.write("|");
    await session.expectScreen(`laptop> ${completed}|`);
    await session.write(Key.ctrlU);
  }
  await leave(session);
});

testPrompt(
  "arguments are typed as NAME=VALUE, of the types that the tool wants, or as JSON",
  async ({ open }) => {
    const session = await open({ config: scriptedServers({ shop: { tools: [ECHO] } }) });
    await session.expect("laptop> ");
    const said = await enter(session, "call echo text=3 times=3");
    assertStringIncludes(said, '{"name":"echo","args":{"text":"3","times":3}}\n');
    assertStringIncludes(await enter(session, `call echo '{"text":"a b"}'`), '"args":{"text":"a b"}');
    assertStringIncludes(await enter(session, "call echo {text}"), "error: ");
    assertStringIncludes(await enter(session, "call echo times=x"), 'error: Tool "echo" was not called: ');
    await leave(session);
  },
);

testPrompt("a line that is wrong is told with what would be right", async ({ open }) => {
  const session = await open({});
  await session.expect("laptop> ");
  assertEquals(
    await enter(session, "server add x"),
    "error: missing required argument 'command-or-url'\n" +
      "(usage: server add [options] <server> <command-or-url...>)\n",
  );
  assertStringIncludes(await enter(session, "stat"), '(Did you mean status?)\n("help" shows the commands)');
  assertStringIncludes(await enter(session, "help server logs"), "Usage: server logs [options] <server>\n");
  await leave(session);
});

testPrompt("the next session has the lines of this one, but none with a secret", async ({ place, open }) => {
  const config = { servers: {}, inputs: [{ type: "promptString", id: "key", description: "" }] };
  const first = await open({ config });
  await first.expect("laptop> ");
  await enter(first, "status");
  await enter(first, "input set key hunter2");
  await enter(first, "server add web http://127.0.0.1:9/mcp --header X-Key=hunter2");
  await leave(first);
  const second = await open({});
  await second.expect("laptop> ");
  await second.write(Key.up);
  await second.expectScreen(/laptop> status$/);
  await leave(second);
  const history = await Deno.readTextFile(join(place.folder, "a2c-smcp", "history"));
  assertEquals(history, "status\n");
});

testPrompt("Ctrl-C cancels the call at its MCP server, and the prompt comes back", async ({ open }) => {
  const session = await open({
    config: scriptedServers({ shop: { tools: [ECHO], hang: ["tools/call echo"] } }),
  });
  await session.expect("laptop> ");
  await session.write(`call echo${Key.enter}`);
  await session.expectScreen(/\n\S calling echo {2}\d+ s$/);
  await session.write(Key.ctrlC);
  await session.expectScreen(/\nlaptop> call echo\ninterrupted\nlaptop>$/);
  assertStringIncludes(await enter(session, "call received"), "/cancelled");
  assertStringIncludes(await enter(session, "history"), "cancelled");
  await leave(session);
});

for (const [how, keys] of [["Ctrl-D", Key.ctrlD], ["quit", `quit${Key.enter}`]] as const) {
  testPrompt(`${how} stops the MCP servers and leaves no process behind`, async ({ open }) => {
    const isLinux = Deno.build.os === "linux";
    const session = await open({
      config: scriptedServers({ stubborn: { stubborn: true, stray: isLinux } }),
    });
    await session.expect("laptop> ");
    const pids = await session.processes();
    assert(pids.length >= 4, "the program, the server, its child and the guard");
    await session.write(keys);
    assertEquals(await session.expectExit(), 0);
    await untilGone(pids);
  });
}

testPrompt(
  "an edit of the config is told above what is being typed, and a broken one as well",
  async ({ place, open }) => {
    const session = await open({ config: scriptedServers({ shop: {} }) });
    await session.expect("laptop> ");
    await session.write("status");
    await session.expectScreen("laptop> status");
    place.write("config.json", '{ "servers": ');
    await session.expectScreen(/ERROR config: cannot use the edited config[^>]*\nlaptop> status$/);
    place.write("config.json", scriptedServers({ shop: {}, more: {} }));
    // More may be told by now: the new server's tools have names that are taken.
    await session.expectScreen(/applied the edited config added=more\n[^>]*laptop> status$/);
    await session.write(Key.enter);
    await session.expect(/more {2}(starting|running)/);
    await leave(session);
  },
);

testPrompt("a paste of several lines is run line by line, on a narrow terminal, too", async ({ open }) => {
  const session = await open({ config: scriptedServers({ shop: { tools: [ECHO] } }), columns: 40 });
  await session.expect("laptop> ");
  await session.write("call echo text=one\rcall echo text=two\rstat");
  await session.expectScreen(
    /one"\}\}\nlaptop> call echo text=two\n\{"name":"echo","args":\{"text":"two"\}\}\nlaptop> stat$/,
  );
  await session.write(Key.ctrlC);
  await session.write(`tools${Key.enter}`);
  const tools = await session.expect(`"tools NAME" shows one tool in full`);
  // A call that took long has had its line drawn over.
  assertEquals(tools.split(/[\r\n]+/).filter((line) => line.length > 40), []);
  await leave(session);
});

testPrompt(
  "another process asks the Computer at the prompt, which shows what has changed",
  async ({ place, open }) => {
    const session = await open({ config: scriptedServers({ shop: { tools: [ECHO] } }) });
    await session.expect("laptop> ");
    const { stdout } = await place.run(["call", "echo", "text=hi"]);
    assertEquals(stdout, '{"name":"echo","args":{"text":"hi"}}\n');
    const second = await open({ args: ["--log-level", "warn"] });
    await second.expect("of this name runs already");
    await leave(second);
    assertEquals((await place.run(["quit"])).code, 0);
    assertEquals(await session.expectExit(), 0);
  },
);

testPrompt(
  "servers are added, stopped, started and removed without a config file",
  async ({ place, open }) => {
    const session = await open({});
    await session.expect("laptop> ");
    const words = [Deno.execPath(), "run", "-A", "--no-lock", "--quiet"].join(" ");
    const config = filesystem(place.folder) as { server_parameters: { args: string[] } };
    const [module = ""] = config.server_parameters.args.slice(-2);
    const added = await enter(session, `server add files -- ${words} ${module} ${place.folder}`);
    assertStringIncludes(
      added,
      'it has no config file\nserver "files" is running, with 14 tools',
    );
    assertStringIncludes(await enter(session, "server stop files"), 'server "files" is stopped');
    assertStringIncludes(await enter(session, "call list_directory path=/"), "error: ");
    assertStringIncludes(
      await enter(session, "server start files"),
      'server "files" is running, with 14 tools',
    );
    assertStringIncludes(await enter(session, `call list_directory path=${place.folder}`), "a2c-smcp");
    assertStringIncludes(await enter(session, "server remove files"), 'removed server "files"');
    assertStringIncludes(await enter(session, "status"), "no MCP servers");
    await leave(session);
  },
);

testPrompt("public MCP servers work at the prompt", async ({ place, open }) => {
  const session = await open({
    config: { servers: { everything: everything(), memory: memory(join(place.folder, "memory.json")) } },
  });
  await session.expect("2 MCP servers run, with 24 tools");
  await session.expect("laptop> ");
  assertStringIncludes(await enter(session, "call get-sum a=2 b=3"), "5");
  assertStringIncludes(await enter(session, "tools echo"), "echo(message: string)");
  assertStringIncludes(await enter(session, "call read_graph"), "entities");
  await leave(session);
});
