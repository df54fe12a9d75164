import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { startDoor } from "../fixtures/door.ts";
import { runHosted, startHosted } from "../fixtures/hosted_door.ts";
import { isWindows } from "../fixtures/system.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";
import { eventually } from "../fixtures/within.ts";

Deno.test("a machine joins by code, runs without a token, is renamed and limited, and is out when it is revoked", async () => {
  using folder = new TempFolder();
  const [operator, machine] = ["operator", "machine"].map((name) => {
    const path = join(folder.path, name);
    Deno.mkdirSync(path);
    return { XDG_STATE_HOME: path, XDG_RUNTIME_DIR: path };
  });
  const file = join(folder.path, "machines.json");
  const words = ["--port", "0", "--token", "s3cret", "--machines", file];
  await using server = startHosted("server.ts", words, { env: operator });
  const url = await server.listening();
  const machines = async (...words: readonly string[]) => {
    const { code, stdout, stderr } = await runHosted("server.ts", ["machines", ...words, "--json"], {
      env: operator,
    });
    return code === 0 ? JSON.parse(stdout) : stderr;
  };
  await using cancelled = startHosted("computer.ts", ["join", url], { env: machine });
  await cancelled.said("approve");
  assertEquals((await machines("list")).waiting.length, 1);
  cancelled.kill();
  await cancelled.end();
  assertEquals((await machines("list")).waiting, []);
  await using joining = startHosted("computer.ts", ["join", url, "--name", "laptop"], { env: machine });
  await joining.said("approve");
  const [, code = ""] = /^Code {2}(\S+)$/m.exec(joining.stdout.text) ?? [];
  const { waiting: [waits] } = await machines("list");
  assertEquals([waits.name, waits.server, JSON.stringify(waits).includes(code)], ["laptop", url, false]);
  assertStringIncludes(
    await machines("approve", "AAAA-AAAA", "--office", "lab"),
    "not the code of a sign-in",
  );
  assertStringIncludes(await machines("approve", code), "--office");
  assertStringIncludes(await machines("approve", code, "--office", "lab,den"), "give each one by itself");
  const { id } = await machines("approve", code.toLowerCase(), "--office", "lab");
  assertStringIncludes(await machines("approve", code, "--office", "lab"), "no machine waits");
  const joined = await joining.end();
  assertEquals(joined.code, 0, joined.stderr);
  assertMatch(server.stderr.text, /audit: approved a machine action=machine .* via=command by=\S+$/m);
  const wrong =
    /audit: a command of an operator failed action=operate via=command by=\S+ .*AAAA-AAAA.* failed=/;
  assertMatch(server.stderr.text, wrong);
  assertMatch(joined.stdout, /as "laptop"/);

  const config = join(folder.path, "mcp.json");
  await Deno.writeTextFile(config, `{ "servers": {} }`);
  const run = ["--url", url, "--config", config, "--headless"];
  {
    const words = ["--token", "s3cret", "--office", "lab", "--name", "with a token"];
    await using computer = startHosted("computer.ts", [...run, ...words], { env: machine });
    await computer.said('joined office "lab" as "with a token"');
  }
  {
    await using computer = startDoor("computer.ts", run, { env: machine });
    await computer.said('joined office "lab" as "laptop"');
    const { machines: [awake] } = await machines("list");
    assertEquals([awake.in, awake.asleep_since], [["lab"], null]);
    if (!isWindows) {
      computer.kill("SIGSTOP");
      const look = async () => (await machines("list")).machines[0];
      // The answer of before counts for a moment.
      const asleep = await eventually(look, ({ asleep_since }) => asleep_since !== null, "its sleep");
      assertEquals([asleep.in, asleep.asleep_since], [["lab"], asleep.last_seen]);
      assert(asleep.last_seen >= awake.last_seen, "last seen went back");
      computer.kill("SIGCONT");
    }
    assertEquals((await machines("rename", "laptop", "desk")).former_name, "laptop");
  }
  {
    await using computer = startHosted("computer.ts", run, { env: machine });
    await computer.said('joined office "lab" as "desk"');
    assertEquals((await machines("limit", id, "--office", "lab", "--office", "den")).offices, ["lab", "den"]);
    await computer.said("reconnected");
    const paused = async (command: string) => {
      const { stdout, stderr } = await runHosted("computer.ts", [command, "--json"], { env: machine });
      assertEquals(stderr, "");
      return JSON.parse(stdout).paused;
    };
    assertEquals(await paused("pause"), true);
    await machines("rename", id, "table");
    await machines("limit", id, "--office", "den");
    await computer.said('joined office "den" as "table"');
    assertEquals(await paused("status"), true);
    await machines("revoke", "table");
    await computer.said("This machine was revoked");
    await computer.said("the Server refuses this member");
  }
  const left = async () => (await machines("list")).machines;
  await eventually(left, (listed) => listed.length === 0, "the list without the machine");
  const again = await runHosted("computer.ts", [...run, "--office", "lab"], { env: machine });
  assertEquals(again.code, 4);
  assertMatch(again.stderr, /join again/);
});

Deno.test("an operator cannot try code after code", async () => {
  using folder = new TempFolder();
  const env = { XDG_RUNTIME_DIR: folder.path };
  const words = ["--port", "0", "--machines", join(folder.path, "machines.json")];
  await using server = startHosted("server.ts", words, { env });
  await server.listening();
  const tries: string[] = [];
  for (let index = 0; index < 11; index++) {
    const { stderr } = await runHosted("server.ts", ["machines", "approve", "AAAA-AAAA", "--office", "lab"], {
      env,
    });
    tries.push(stderr);
  }
  assertEquals(tries.findIndex((text) => text.includes("too many wrong codes")), 10);
});

Deno.test("a Server without credentials takes no machines, and a join says so", async () => {
  await using server = startHosted("server.ts", ["--port", "0"]);
  const { code, stderr } = await runHosted("computer.ts", ["join", await server.listening()]);
  assertEquals(code, 1);
  assertStringIncludes(stderr, "takes no machines by code");
  const unreachable = await runHosted("computer.ts", ["join", "http://127.0.0.1:1"]);
  assertEquals(unreachable.code, 3);
  const forClients = await runHosted("computer.ts", ["join", `${await server.listening()}/mcp/o/lab`]);
  assertEquals(forClients.code, 3);
  assertStringIncludes(forClients.stderr, `for MCP clients: members use "${await server.listening()}"`);
});
