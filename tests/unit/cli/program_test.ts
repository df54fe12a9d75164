import { assertEquals } from "@std/assert";
import { commandLineOf } from "../../../src/cli/program.ts";

Deno.test("commandLineOf() names the doors where a door was run", () => {
  assertEquals(commandLineOf("agent", "file:///home/ada/a2c-smcp/agent.ts"), "deno run -A agent.ts");
  assertEquals(commandLineOf("computer", "file:///home/ada/a2c-smcp/agent.ts"), "deno run -A computer.ts");
});

Deno.test("commandLineOf() names a2c-smcp where that was run, from wherever", () => {
  assertEquals(commandLineOf("agent", "file:///usr/lib/node_modules/a2c-smcp/cli.ts"), "a2c-smcp agent");
  assertEquals(commandLineOf("computer", "https://jsr.io/@a2c-smcp/sdk/0.1.0/cli.ts"), "a2c-smcp computer");
});
