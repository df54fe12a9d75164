/** Attacker: a Computer in an office with a gateway. It wants the tool name of another one, or to keep the gateway from starting again */
import { assert, assertEquals } from "@std/assert";
import { GatewayState } from "../../src/cli/agent/mcp/gateway_state.ts";
import type { KeptByGateway } from "../../src/gateway/gateway_options.ts";
import { KeptInMemory } from "../fixtures/kept_by_gateway.ts";
import { LogBook } from "../fixtures/log_book.ts";
import { within } from "../fixtures/within.ts";
import { ScriptedComputer } from "../integration/_scripted_computer.ts";
import { answersOf, AttackedGateway, tool } from "./_attacked_gateway.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";

Deno.test("a tool that is called like a tool of another Computer is named after its own", async () => {
  await using gateway = await AttackedGateway.open(
    answersOf([tool("report"), tool("good__report"), tool("bad__report")], []),
  );
  const { tools } = await gateway.ask("tools/list");
  const owners = new Map<string, string>(
    tools.map(({ name, _meta }: { name: string; _meta?: { a2c_computer: string } }) => [
      name,
      _meta?.a2c_computer,
    ]),
  );
  assertEquals(owners.get("good__report"), "good");
  assertEquals([...owners].filter(([name, owner]) => name.startsWith("good") && owner !== "good"), []);
});

Deno.test("the name of a tool of a Computer that has left goes to nobody", async () => {
  await using gateway = await AttackedGateway.open(answersOf([], []));
  assertEquals(await gateway.client.tools(), ["report"]);
  const left = new Promise<void>((resolve) =>
    gateway.gateway.onChange(() =>
      void gateway.client.tools().then((tools) => tools.length === 0 && resolve())
    )
  );
  gateway.good.close();
  await within(left, "the gateway to notice that the Computer has left");
  const thief = await ScriptedComputer.join(gateway.url, {
    name: "thief",
    answers: answersOf([tool("report")], []),
  });
  using _ = thief;
  const come = new Promise<string[]>((resolve) =>
    gateway.gateway.onChange(() =>
      void gateway.client.tools().then((tools) => tools.length > 0 && resolve(tools))
    )
  );
  assertEquals(await within(come, "the tool of the thief"), ["thief__report"]);
});

Deno.test("a tool with a name of a million characters is not remembered", async () => {
  const names = [tool("x".repeat(1_000_000)), tool("fine")];
  const memory = new KeptInMemory();
  await using gateway = await AttackedGateway.open(answersOf(names, []), { memory });
  assertEquals(await gateway.client.tools(), ["fine", "report"]);
  assert(JSON.stringify(memory.kept).length < 1_000);
});

function named(...names: KeptByGateway["names"]): KeptByGateway {
  return { names, computers: [], pinned: [] };
}

Deno.test("a file of names never becomes too large to be read again", async () => {
  using folder = new TempFolder();
  const path = `${folder.path}/names.json`;
  const log = new LogBook();
  const file = await GatewayState.open(path, log);
  const long = Array.from({ length: 10_000 }, (_, index) => ({
    computer: "bad",
    tool: `${"\u0001".repeat(1_000)}${index}`,
    name: `bad_${index}`,
  }));
  const honest = { computer: "good", tool: "report", name: "report" };
  file.of().keep(named(...long, honest));
  await file.close();
  const { names: given } = (await GatewayState.open(path, log)).of().kept;
  assert(given.length < 10_000, String(given.length));
  assertEquals(given.at(-1), honest);
});

Deno.test("an office whose Computers make up names takes no room of another office", async () => {
  using folder = new TempFolder();
  const path = `${folder.path}/names.json`;
  const log = new LogBook();
  const file = await GatewayState.open(path, log);
  const honest = { computer: "good", tool: "report", name: "report" };
  file.of(["lab"]).keep(named(honest));
  const longTool = "x".repeat(1_000);
  const long = Array.from({ length: 10_000 }, (_, index) => {
    return { computer: "bad", tool: `${longTool}${index}`, name: `bad_${index}` };
  });
  file.of(["den"]).keep(named(...long));
  await file.close();
  const next = await GatewayState.open(path, log);
  assertEquals(next.of(["lab"]).kept.names, [honest]);
  assert(next.of(["den"]).kept.names.length < 5_000);
});

Deno.test("gateways that share a file of names lose none of each other, and a link stays a link", async () => {
  using folder = new TempFolder();
  const path = `${folder.path}/names.json`;
  await Deno.writeTextFile(`${folder.path}/target`, "");
  await Deno.symlink("target", path);
  const log = new LogBook();
  const [one, other] = [await GatewayState.open(path, log), await GatewayState.open(path, log)];
  const name = (tool: string) => ({ computer: "good", tool, name: tool });
  const bad = { computer: "bad", tool: "report", name: "report" };
  one.of().keep(named(name("report"), name("gone")));
  await one.close();
  other.of().keep(named(name("read")));
  await other.close();
  one.of().keep(named(name("report")));
  await one.close();
  const kept = async () => (await GatewayState.open(path, log)).of().kept.names;
  assertEquals(await kept(), [name("report"), name("read")]);
  other.of().keep(named(bad));
  await other.close();
  assertEquals(await kept(), [bad]);
  assertEquals([(await Deno.lstat(path)).isSymlink, log.lines], [true, []]);
});
