import { assertEquals, assertMatch } from "@std/assert";
import { instructionsText } from "../../../src/cli/agent/instructions.ts";
import { createAgentProgram } from "../../../src/cli/agent/main.ts";

Deno.test("the instructions name commands and options that there are", () => {
  const program = createAgentProgram(new AbortController().signal);
  const lines = instructionsText("PROGRAM").split("\n").filter((line) => line.startsWith("PROGRAM "));
  assertEquals(lines.length > 10, true);
  for (const line of lines) {
    const [, command = ""] = /^PROGRAM (\w+)/.exec(line) ?? [];
    const found = program.commands.find((each) => each.name() === command);
    assertEquals(found?.name(), command);
    const options = [...program.options, ...found?.options ?? []].map(({ long }) => long);
    for (const [option] of line.replace(/ # .*/, "").matchAll(/--[a-z-]+/g)) {
      assertEquals(options.includes(option), true, `${command} ${option}`);
    }
  }
});

Deno.test("the instructions begin as a skill", () => {
  assertMatch(instructionsText("PROGRAM"), /^---\nname: a2c-office\ndescription: .{50,1024}\n---\n/);
});
