// The progress of a call, on the terminals of an Agent and of a Computer, and where there is no terminal.

import { assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { Computer } from "../../src/computer/computer.ts";
import { SmcpServer } from "../../src/server/server.ts";
import { endedCalls } from "../fixtures/ended_calls.ts";
import { doorWords } from "../fixtures/door.ts";
import { startHosted } from "../fixtures/hosted_door.ts";
import { kioskOnStdio } from "../fixtures/kiosk_config.ts";
import { everything } from "../fixtures/public_servers.ts";
import type { Work } from "../fixtures/progress_server.ts";
import { eventually } from "../fixtures/within.ts";
import { testPrompt } from "../integration/_computer_prompt.ts";
import { Key, openTerminalSession, testOnTerminal } from "../integration/_terminal_session.ts";

const SERVER = fromFileUrl(new URL("../fixtures/progress_server.ts", import.meta.url));
const CONFIG = {
  servers: {
    work: {
      type: "stdio",
      default_tool_meta: { auto_apply: true },
      server_parameters: {
        command: Deno.execPath(),
        args: ["run", "-A", "--no-check", "--no-lock", "--quiet", SERVER],
      },
    },
  },
};
const WORK: Work = { reports: [{ progress: 1, total: 4, message: "reading\u001b[31m" }], waits: true };
const CALL = ["call", "work", "--params", JSON.stringify(WORK)];

/** A Server, a Computer in its office, and the words that make an Agent of this office. */
async function openOffice(config: unknown = CONFIG) {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await SmcpServer.listen({ port: 0 }));
  const computer = stack.use(Computer.open({ name: "laptop", config }));
  await computer.join({ url: server.url, office: "lab" });
  await computer.ready();
  const agent = ["--url", server.url, "--office", "lab", "--name", "ada"];
  const all = stack.move();
  return { computer, agent, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

testOnTerminal("call of the Agent shows the progress of the tool on a terminal", async () => {
  await using office = await openOffice();
  const command = doorWords("agent.ts", [...office.agent, ...CALL]);
  await using session = openTerminalSession(command, { columns: 100 });
  await session.expectScreen(/\S calling work 25 % \(1 of 4\) reading\S* {2}\d+ s$/);
  await office.computer.callTool("finish");
  assertEquals(await session.expectExit(), 0);
});

testOnTerminal("call of the Agent shows the progress of servers on both versions of the SDK", async () => {
  await using office = await openOffice({
    servers: { kiosk: kioskOnStdio({ mcp_version: "2026" }), everything: everything() },
  });
  const { agent, computer } = office;
  const calls: [string[], RegExp, () => Promise<unknown>][] = [
    [["wait"], /\S calling wait 50 % \(1 of 2\) step 1 {2}\d+ s$/, () => computer.callTool("release")],
    [
      ["trigger-long-running-operation", "duration=3", "steps=3"],
      /\S calling trigger-long-running-operation \d+ % \(\d of 3\) {2}\d+ s$/,
      () => Promise.resolve(),
    ],
  ];
  for (const [words, shown, end] of calls) {
    await using session = openTerminalSession(doorWords("agent.ts", [...agent, "call", ...words]), {
      columns: 100,
    });
    await session.expectScreen(shown);
    await end();
    assertEquals(await session.expectExit(), 0);
  }
});

Deno.test("call --json of the Agent prints the result alone, whatever the tool reports", async () => {
  await using office = await openOffice();
  await using program = startHosted("agent.ts", [...office.agent, "--json", ...CALL]);
  const calls = () =>
    endedCalls(office.computer).filter(({ tool }) => tool === "work")
      .length;
  const isDone = async () => {
    await office.computer.callTool("finish");
    return calls() === 1;
  };
  await eventually(isDone, (done) => done, "the end of the call");
  const { code, stdout, stderr } = await program.end();
  assertEquals([code, stderr], [0, ""]);
  assertEquals(JSON.parse(stdout).content[0].type, "text");
});

testPrompt("call at the prompt shows the progress of the tool", async ({ open }) => {
  const session = await open({ config: CONFIG });
  await session.expect("laptop> ");
  const params = JSON.stringify(WORK).replaceAll('"', '\\"');
  await session.write(`call work --params "${params}"${Key.enter}`);
  await session.expectScreen(/\n\S calling work 25 % \(1 of 4\) reading\S* {2}\d+ s$/);
  await session.write(Key.ctrlC);
  await session.expectScreen(/interrupted\nlaptop>$/);
  await session.write(`quit${Key.enter}`);
  assertEquals(await session.expectExit(), 0);
});
