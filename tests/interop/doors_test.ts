import { assertEquals, assertObjectMatch, assertStringIncludes } from "@std/assert";
import { Agent } from "../../agent.ts";
import { runDoor } from "../fixtures/door.ts";
import { Workplace } from "../integration/_computer_program.ts";
import { configuration, HELP, interop, nextEvent, statusSays, TOKEN } from "./_office.ts";
import { PythonPeer } from "./peer.ts";

const office = "lab";
const names = ["add", "slow", "set_status", "picture", "echo", "fail"];

Deno.test("our Computer and our Agent as programs work on a Python Server", interop, async (t) => {
  await using server = await PythonPeer.start("server", ["--token", TOKEN]);
  const url = String(server.ready.url);
  using place = new Workplace();
  const config = place.write("config.json", configuration());
  const address = ["--url", url, "--office", office, "--token", TOKEN];
  const waiting = await Agent.connect({ url, office, name: "ada", token: TOKEN });
  const ready = nextEvent(waiting, "toolsRefreshed", ({ tools }) => tools.length === names.length);
  const laptop = ["--name", "laptop", "--config", config];
  await using computer = await place.serve([...address, ...laptop]);
  assertEquals(computer.stdout.text, `joined office "lab" as "laptop"\n`);
  await ready;
  await waiting.close();
  const run = (...command: string[]) =>
    runDoor("agent.ts", [...address, "--name", "ada", "--json", ...command]);

  await t.step("the tools", async () => {
    const { code, stdout } = await run("tools");
    assertEquals(code, 0);
    assertObjectMatch(JSON.parse(stdout), { computer: "laptop", tools: names.map((name) => ({ name })) });
  });

  await t.step("a tool call", async () => {
    const { code, stdout } = await run("call", "add", "--params", `{"a":40,"b":2}`);
    assertEquals(code, 0);
    assertObjectMatch(JSON.parse(stdout), { structuredContent: { sum: 42 } });
  });

  await t.step("the desktop", async () => {
    const { code, stdout } = await run("desktop");
    assertEquals([code, JSON.parse(stdout).desktops], [0, [statusSays("idle"), HELP]]);
  });

  await t.step("the finder, which that Server does not know", async () => {
    const { code, stderr } = await run("finder");
    assertEquals(code, 1);
    assertStringIncludes(stderr, "does not support it");
  });

  await t.step("a wrong token", async () => {
    const { code } = await run("--token", "guess", "office");
    assertEquals(code, 4);
  });
});
