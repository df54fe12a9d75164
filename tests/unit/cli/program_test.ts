import { assertEquals } from "@std/assert";
import { commandLineOf, shareOptions, withoutSharedOptions } from "../../../src/cli/program.ts";
import { Command, Option } from "commander";

Deno.test("commandLineOf() names the doors where a door was run", () => {
  assertEquals(commandLineOf("agent", "file:///home/ada/a2c-smcp/agent.ts"), "deno run -A agent.ts");
  assertEquals(commandLineOf("computer", "file:///home/ada/a2c-smcp/agent.ts"), "deno run -A computer.ts");
});

Deno.test("commandLineOf() names a2c-smcp where that was run, from wherever", () => {
  assertEquals(commandLineOf("agent", "file:///usr/lib/node_modules/a2c-smcp/cli.ts"), "a2c-smcp agent");
  assertEquals(commandLineOf("computer", "https://jsr.io/@a2c-smcp/sdk/0.1.0/cli.ts"), "a2c-smcp computer");
});

/** A program with options, and commands of which one has an option of the same name. */
function build(): Command {
  const program = new Command("computer").exitOverride();
  program.option("--json", "", false).option("--token <token>").option("--no-watch", "");
  program.addOption(new Option("--size <n>").argParser(Number));
  const server = program.command("server");
  server.command("start <name>").action(() => {});
  server.command("add <name> <words...>").action(() => {});
  program.command("connect [url]").option("--token <token>").action(() => {});
  shareOptions(program);
  return program;
}

async function run(...args: string[]) {
  const program = build();
  await program.parseAsync(args, { from: "user" });
  return program.opts();
}

Deno.test("shareOptions() lets options of the program stand before and behind its commands", async () => {
  for (
    const args of [["--json", "server", "start", "a"], ["server", "start", "a", "--json"], [
      "server",
      "--json",
      "start",
      "a",
    ]]
  ) {
    assertEquals((await run(...args))["json"], true, args.join(" "));
  }
  assertEquals((await run("server", "start", "a"))["json"], false);
});

Deno.test("shareOptions() reads values behind a command as it does before, and turns off what is negated", async () => {
  const { size, watch } = await run("server", "start", "a", "--size", "3", "--no-watch");
  assertEquals([size, watch], [3, false]);
  assertEquals((await run("server", "start", "a"))["watch"], true);
});

Deno.test("shareOptions() leaves a command the option of the same name that is its own", async () => {
  const program = build();
  await program.parseAsync(["--token", "outer", "connect", "--token", "inner"], { from: "user" });
  assertEquals(program.opts()["token"], "outer");
  assertEquals(program.commands.find((each) => each.name() === "connect")?.opts()["token"], "inner");
});

Deno.test("withoutSharedOptions() leaves the words of the command alone", () => {
  const words = (...args: string[]) => withoutSharedOptions(build(), args);
  assertEquals(words("--json", "server", "start", "a"), ["server", "start", "a"]);
  assertEquals(words("--token", "x", "server", "start", "a", "--size", "3"), ["server", "start", "a"]);
  assertEquals(words("--token=x", "connect", "--token", "y"), ["connect", "--token", "y"]);
  assertEquals(words("server", "add", "a", "--json", "--", "cmd", "--json"), [
    "server",
    "add",
    "a",
    "--",
    "cmd",
    "--json",
  ]);
});
