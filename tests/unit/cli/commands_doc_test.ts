import { assertEquals } from "@std/assert";
import { createAgentProgram } from "../../../src/cli/agent/main.ts";
import { createComputerProgram } from "../../../src/cli/computer/main.ts";
import { everyCommand } from "../../../src/cli/program.ts";
import { createHubProgram } from "../../../src/cli/hub/main.ts";
import { createServerProgram } from "../../../src/cli/server/main.ts";
import { SERVER_OPTION_PAGES } from "../../../tools/server_options.ts";

Deno.test("docs/commands.md names every command and every option, except those of identity providers and of the Server", async () => {
  const pages = ["commands.md", "mcp-access.md", ...SERVER_OPTION_PAGES].map((page) =>
    Deno.readTextFile(new URL(`../../../docs/${page}`, import.meta.url))
  );
  const text = (await Promise.all(pages)).join("\n");
  const { signal } = new AbortController();
  const programs = [createServerProgram, createComputerProgram, createAgentProgram, createHubProgram].map((
    create,
  ) => create(signal));
  const commands = programs.flatMap((program) =>
    [...everyCommand(program)].filter((each) => each !== program)
  );
  const options = [...programs, ...commands].flatMap(({ options }) => options.map(({ long }) => long ?? ""));
  const names = commands.filter((command) => command.commands.length === 0).map((command) =>
    programs.includes(command.parent ?? command)
      ? command.name()
      : `${command.parent?.name()} ${command.name()}`
  );
  assertEquals(options.filter((flag) => !new RegExp(`\`${flag}\\b`).test(text)), []);
  assertEquals(names.filter((name) => !new RegExp(`\`${name}\\b`).test(text)), []);
});
